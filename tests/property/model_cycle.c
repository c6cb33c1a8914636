/* SPDX-License-Identifier: MIT */
/* The model: waits that can never end. */
#include "tests/property/model_parts.h"

/* Tasks that get on. */
struct lively {
	bool tasks[MODEL_TASKS];
};

static bool wait_ends(const struct model *m, const struct lively *lively, uint32_t waiter)
{
	const struct model_waiter *s = &m->waiters[waiter];
	uint32_t edges = 0, over = 0;

	for (uint32_t e = 0; e < m->edge_slots; e++) {
		if (m->edges[e].waiter != waiter)
			continue;
		edges++;
		over += m->edges[e].told || lively->tasks[m->edges[e].task];
	}
	return s->interest != TQI_INTEREST_TASKS || (s->any ? over > 0 : over == edges);
}

static bool gets_on(const struct model *m, const struct lively *lively, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];
	bool waits = false;

	if (t->state == TQ_BLOCKED)
		return lively->tasks[model_holder(m, t->queue, t->unique)];
	for (uint32_t s = 1; s < m->waiter_slots; s++) {
		if (m->waiters[s].state == TQI_WAITER_FREE || m->waiters[s].behalf != task)
			continue;
		if (wait_ends(m, lively, s))
			return true;
		waits = true;
	}
	return !waits;
}

bool model_closes_cycle(const struct model *m, uint32_t waiter)
{
	struct lively lively = { { false } };

	if (!m->waiters[waiter].behalf)
		return false;
	for (bool found = true; found;) {
		found = false;
		for (uint32_t t = 1; t < m->task_slots; t++)
			if (m->tasks[t].state != TQ_FREE && !lively.tasks[t] &&
			    t != m->waiters[waiter].behalf && gets_on(m, &lively, t))
				lively.tasks[t] = found = true;
	}
	return !wait_ends(m, &lively, waiter);
}
