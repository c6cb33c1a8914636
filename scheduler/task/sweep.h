/* SPDX-License-Identifier: MIT */
/*
 * Large decisions (purge, shutdown, another policy) are made in one word; this walks over all
 * task records, or groups, a slice in each hold, and carries them out.
 */
#ifndef TQI_SCHEDULER_TASK_SWEEP_H
#define TQI_SCHEDULER_TASK_SWEEP_H

#include "scheduler/record/records.h"

/* Begin a full round from wherever the sweep stands. */
void tqi_sweep_start(struct tqi_tx *tx);
/* One slice; true when something is left. */
bool tqi_sweep_slice(struct tqi_tx *tx);
/* But for what somebody inherits: that may be waiting for memory (scheduler/graph/inherit.h). */
static inline bool tqi_sweep_has_work(const struct tqi_root *root)
{
	return (root->sweep_left | root->telling | root->carrying | root->groups_busy |
		root->groups_closing) != 0;
}
bool tqi_sweep_pending(struct tqi_tx *tx);
/* The same, or something waits for memory: a keeper is to look. */
static inline bool tqi_sweep_needs_looks(const struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	return tqi_sweep_has_work(root) || root->stale_first;
}

#endif
