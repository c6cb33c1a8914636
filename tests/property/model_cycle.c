/* SPDX-License-Identifier: MIT */
/* The model: waits that can never end. */
#include "tests/property/model_parts.h"

/* Tasks that get on; a group that somebody joins who does not, perhaps. */
struct lively {
	bool tasks[MODEL_TASKS];
	uint32_t stuck_group;
};

/* A wait for all ends, or for one more: an open group may get members that end. */
static bool group_wait_ends(const struct model *m, const struct lively *lively,
			    const struct model_waiter *s)
{
	bool all = true, some = m->groups[s->subject].state != TQI_GROUP_SEALED;

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];

		if (t->group != s->subject || t->counted)
			continue;
		all &= lively->tasks[i];
		some |= lively->tasks[i];
	}
	return s->told == TQI_GROUP_LAST ? all && s->subject != lively->stuck_group : some;
}

static bool wait_ends(const struct model *m, const struct lively *lively, uint32_t waiter)
{
	const struct model_waiter *s = &m->waiters[waiter];
	uint32_t edges = 0, over = 0;

	if (s->interest == TQI_INTEREST_GROUP)
		return group_wait_ends(m, lively, s);
	for (uint32_t e = 0; e < m->edge_slots; e++) {
		if (m->edges[e].waiter != waiter)
			continue;
		edges++;
		over += m->edges[e].told || lively->tasks[m->edges[e].task];
	}
	return s->interest != TQI_INTEREST_TASKS || (s->any ? over > 0 : over == edges);
}

/* All whose end is to be counted. */
static bool members_get_on(const struct model *m, const struct lively *lively, uint32_t group)
{
	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].group == group && !m->tasks[i].counted && !lively->tasks[i])
			return false;
	return group != lively->stuck_group;
}

/* Whatever end they come to, each decides something. */
static bool parents_get_on(const struct model *m, const struct lively *lively, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];

	if (model_has_leader(t) && !lively->tasks[model_holder(m, t->queue, t->unique)])
		return false;
	if (t->completes && !members_get_on(m, lively, t->completes))
		return false;
	for (uint32_t i = 1; i < m->dependency_slots; i++) {
		const struct model_dependency *d = &m->dependencies[i];

		if (d->task == task && d->told == TQI_EDGE_OPEN && !lively->tasks[d->on])
			return false;
	}
	return true;
}

static bool gets_on(const struct model *m, const struct lively *lively, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];
	bool waits = false;

	if (t->state == TQ_BLOCKED)
		return parents_get_on(m, lively, task);
	for (uint32_t s = 1; s < m->waiter_slots; s++) {
		if (m->waiters[s].state == TQI_WAITER_FREE || m->waiters[s].behalf != task)
			continue;
		if (wait_ends(m, lively, s))
			return true;
		waits = true;
	}
	return !waits;
}

/* All that get on though this one does not. */
static void find_lively(const struct model *m, struct lively *lively, uint32_t but)
{
	for (bool found = true; found;) {
		found = false;
		for (uint32_t t = 1; t < m->task_slots; t++)
			if (m->tasks[t].state != TQ_FREE && !lively->tasks[t] && t != but &&
			    gets_on(m, lively, t))
				lively->tasks[t] = found = true;
	}
}

bool model_closes_cycle(const struct model *m, uint32_t waiter)
{
	struct lively lively = { .stuck_group = MODEL_GROUPS };

	if (!m->waiters[waiter].behalf)
		return false;
	find_lively(m, &lively, m->waiters[waiter].behalf);
	return !wait_ends(m, &lively, waiter);
}

bool model_blocks_for_ever(const struct model *m, uint32_t task, const struct tq_dependency *after,
			   uint32_t count, uint32_t group)
{
	struct lively lively = { .stuck_group = group ? group : MODEL_GROUPS };

	find_lively(m, &lively, task);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t on = model_find(m, after[i].id);

		if (on && !lively.tasks[on])
			return true;
	}
	return task && !parents_get_on(m, &lively, task);
}

bool model_graph_waits_for_ever(const struct model *m, uint32_t graph, uint32_t group)
{
	struct lively lively = { .stuck_group = group };

	find_lively(m, &lively, 0);
	return !members_get_on(m, &lively, graph);
}
