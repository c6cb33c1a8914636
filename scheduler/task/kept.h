/* SPDX-License-Identifier: MIT */
/* What an attempt leaves to the next one: its last report of progress, and its checkpoint. */
#ifndef TQI_SCHEDULER_TASK_KEPT_H
#define TQI_SCHEDULER_TASK_KEPT_H

#include "scheduler/record/records.h"

/*
 * The word `saved` of an attempt: the number of the checkpoint, whose last bit says in which
 * half of the attempt's block it is, over its bytes.  0 it has saved nothing.
 */
static inline uint32_t tqi_saved_offset(uint64_t saved)
{
	return (uint32_t)(saved >> 32 & 1) * TQ_CHECKPOINT_MAX;
}

/* Above TQ_CHECKPOINT_MAX: it is damaged. */
static inline uint32_t tqi_saved_bytes(uint64_t saved)
{
	return (uint32_t)saved;
}

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
