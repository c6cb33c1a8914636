/* SPDX-License-Identifier: MIT */
/* Tasks in the order of their submission. */
#ifndef TASKQ_TOOL_SUBMITTED_H
#define TASKQ_TOOL_SUBMITTED_H

#include <taskq/taskq.h>

#include "picks.h"

struct submitted {
	struct tq *tq;
	const struct tq_task_filter *filter; /* but for .after */
	bool newest_first;
	uint64_t behind; /* only those behind this sequence in that order; 0 all */
	uint64_t until;	 /* in: no sequence above this, 0 any; out: the highest there was */
};

/* Offers to @picks all tasks that match, by a tenth of a microsecond for each there is.  0, or
 * an error. */
int submitted_pick(struct submitted *which, struct picks *picks);

/* The sequence of one that was picked so. */
uint64_t submitted_sequence(const struct submitted *which, const struct pick *pick);

bool submitted_matches(const struct tq_task_filter *filter, uint32_t state, const char *queue,
		       const char *kind, const char *label);

#endif
