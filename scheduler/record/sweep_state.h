/* SPDX-License-Identifier: MIT */
/* What there is to be swept (scheduler/task/sweep.h), as the root says. */
#ifndef TQI_SCHEDULER_RECORD_SWEEP_STATE_H
#define TQI_SCHEDULER_RECORD_SWEEP_STATE_H

#include "scheduler/record/records.h"

/* Begin a full round over all task records, from wherever the sweep stands. */
static inline void tqi_sweep_start(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);

	TQI_SET(tx, root->sweep.left, tx->core->tables[TQI_TASKS].count);
	TQI_SET(tx, root->sweep.count, tx->core->tables[TQI_TASKS].count);
}

/* But for what somebody inherits: that may be waiting for memory (scheduler/graph/inherit.h). */
static inline bool tqi_sweep_has_work(const struct tqi_root *root)
{
	return (root->sweep.left | root->telling.first | root->carrying.count | root->group.busy |
		root->group.closing | root->moving.at) != 0;
}
/* The same, or something waits for memory: a keeper is to look. */
static inline bool tqi_sweep_needs_looks(const struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	return tqi_sweep_has_work(root) || root->stale.first;
}

#endif
