/* SPDX-License-Identifier: MIT */
/* What an attempt leaves to the next one: its last report of progress, and its checkpoint. */
#ifndef TQI_SCHEDULER_TASK_KEPT_H
#define TQI_SCHEDULER_TASK_KEPT_H

#include "scheduler/record/records.h"

/* As it is in the segment, or, without a block, nothing. */
struct tqi_kept_view {
	const struct tqi_kept *kept; /* NULL none */
	const void *checkpoint;	     /* NULL none */
	uint32_t checkpoint_bytes;
};

struct tqi_kept_view tqi_kept_at(struct tqi_tx *tx, uint32_t block, uint32_t bytes);

/* The same of an attempt under way: what it has said and saved, or else what it inherited. */
struct tqi_kept_view tqi_kept_of(struct tqi_tx *tx, const struct tqi_attempt *attempt,
				 struct tqi_kept *ret_kept);

/*
 * The attempt ends: what it has said and saved, or else what it inherited, is its task's; its
 * blocks are given back.  When memory is short, what it inherited: older, but whole.
 */
void tqi_kept_leave(struct tqi_tx *tx, struct tqi_attempt *attempt, struct tqi_task *task);

#endif
