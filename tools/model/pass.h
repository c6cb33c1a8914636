/* SPDX-License-Identifier: MIT */
/*
 * Tasks in an order, of any number, in flat memory and without a pause: a pass looks at
 * the records a few milliseconds at a time, and keeps the first PICKS_MAX of those that
 * match.  When it is through it begins anew; what it found stays until the next one is.
 */
#ifndef TASKQ_MODEL_PASS_H
#define TASKQ_MODEL_PASS_H

#include <taskq/taskq.h>

#include "picks.h"

enum {
	PICKS_MAX = 10000
};

typedef struct rank pass_rank_fn(const struct tq_task_brief *brief);

struct pass {
	pass_rank_fn *rank;
	bool reverse;
	char filter[FILTER_MAX];
	struct picks found; /* under way */
	uint64_t cursor, looked, left, matched;
	struct pick *picks; /* in order */
	uint32_t pick_count;
	uint64_t matches; /* of which these are the first */
	bool is_complete; /* they are of a pass that is through */
	struct tq_task_brief *briefs;
};

/* Sets the order; begins anew when it is another one.  False: no memory. */
bool pass_set(struct pass *pass, pass_rank_fn *rank, bool reverse, const char *filter);
/* Forgets all that was found: another segment. */
void pass_forget(struct pass *pass);
void pass_free(struct pass *pass);

/* Looks for about this long; TQ_FOREVER_NS until it is through.  0 or an error. */
int pass_step(struct pass *pass, struct tq *tq, uint64_t budget_ns);

/* How much of the pass under way is done, in percent. */
unsigned pass_percent(const struct pass *pass);

/* Where a task stands among the picks; pick_count: it does not. */
uint32_t pass_find(const struct pass *pass, uint64_t id);

#endif
