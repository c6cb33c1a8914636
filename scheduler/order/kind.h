/* SPDX-License-Identifier: MIT */
/*
 * Defaults of kinds (E6): what a task has that says nothing itself is its kind's, else its
 * queue's, else the segment's.  They are in the kind's record, and the root's flag
 * TQI_ROOT_KINDS says whether any kind has some: while none has, no submit asks.
 */
#ifndef TQI_SCHEDULER_ORDER_KIND_H
#define TQI_SCHEDULER_ORDER_KIND_H

#include "scheduler/record/records.h"

static inline bool tqi_kind_has_defaults(const struct tqi_kind *kind)
{
	const struct tqi_kind_defaults *d = &kind->defaults;

	return (d->timeout_ns | d->timeout_total_ns | d->backoff_ns | d->backoff_cap_ns |
		d->attempts_max) != 0;
}

/* Change those that are not 0. */
void tqi_kind_set(struct tqi_tx *tx, uint32_t kind, const struct tqi_kind_defaults *change);
/* Take all away: -ENOENT it has none. */
int tqi_kind_clear(struct tqi_tx *tx, uint32_t kind);

/* What a new task's spec leaves open; its record is not in use yet (TX-3). */
void tqi_kind_fill(struct tqi_tx *tx, struct tqi_task *task, const struct tq_task_spec *spec);

#endif
