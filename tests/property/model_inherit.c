/* SPDX-License-Identifier: MIT */
/* The model: what tasks inherit, computed anew over all waits whenever the core has settled. */
#include "tests/property/model_parts.h"

static const struct model_worth nothing = { INT32_MIN, 0, NEVER, 0 };

static bool is_higher(const struct model_worth *a, const struct model_worth *b)
{
	return a->priority != b->priority ? a->priority > b->priority : a->hops < b->hops;
}

static bool is_earlier(const struct model_worth *a, const struct model_worth *b)
{
	return a->deadline_ns != b->deadline_ns ? a->deadline_ns < b->deadline_ns
						: a->deadline_hops < b->deadline_hops;
}

/* True when `to` is better now. */
static bool improve(struct model_worth *to, const struct model_worth *by)
{
	bool higher = is_higher(by, to), earlier = is_earlier(by, to);

	if (higher) {
		to->priority = by->priority;
		to->hops = by->hops;
	}
	if (earlier) {
		to->deadline_ns = by->deadline_ns;
		to->deadline_hops = by->deadline_hops;
	}
	return higher || earlier;
}

struct model_worth model_worth(const struct model_task *t)
{
	struct model_worth w = { t->priority, 0, t->deadline_ns, 0 };

	improve(&w, &t->inherited);
	return w;
}

static struct model_worth one_further(struct model_worth w)
{
	if (w.priority == INT32_MIN || w.hops == UINT16_MAX) {
		w.priority = INT32_MIN;
		w.hops = 0;
	} else {
		w.hops++;
	}
	if (w.deadline_ns == NEVER || w.deadline_hops == UINT16_MAX) {
		w.deadline_ns = NEVER;
		w.deadline_hops = 0;
	} else {
		w.deadline_hops++;
	}
	return w;
}

bool model_is_waited_for(const struct model *m, uint32_t task)
{
	for (uint32_t e = 0; e < m->edge_slots; e++)
		if (m->edges[e].waiter && m->edges[e].task == task && !m->edges[e].told)
			return true;
	for (uint32_t d = 1; d < m->dependency_slots; d++)
		if (m->dependencies[d].task && m->dependencies[d].on == task &&
		    m->dependencies[d].told != TQI_EDGE_TOLD)
			return true;
	return false;
}

void model_lend(struct model *m, uint32_t waiter, int32_t priority)
{
	struct model_waiter *s = &m->waiters[waiter];

	s->lent = nothing;
	s->lent.priority = priority;
	if (s->behalf)
		s->lent = model_worth(&m->tasks[s->behalf]);
}

/* True when it has more by that. */
static bool inherit(struct model_task *heir, struct model_worth donor)
{
	const struct model_worth w = one_further(donor);
	struct model_worth more = model_worth(heir);

	if (model_state_is_final(heir->state) || !improve(&more, &w))
		return false;
	improve(&heir->inherited, &w);
	heir->extra = true;
	return true;
}

static bool spread_to_waited_for(struct model *m)
{
	bool changed = false;

	for (uint32_t e = 0; e < m->edge_slots; e++) {
		const struct model_edge *edge = &m->edges[e];
		const struct model_waiter *s = &m->waiters[edge->waiter];

		if (edge->waiter && !edge->told && !edge->quiet)
			changed |= inherit(&m->tasks[edge->task],
					   s->behalf ? model_worth(&m->tasks[s->behalf]) : s->lent);
	}
	return changed;
}

static bool spread_to_parents(struct model *m)
{
	bool changed = false;

	for (uint32_t i = 1; i < m->dependency_slots; i++) {
		const struct model_dependency *d = &m->dependencies[i];
		const struct model_task *donor = &m->tasks[d->task];

		if (d->task && d->told == TQI_EDGE_OPEN && !d->quiet &&
		    !model_state_is_final(donor->state))
			changed |= inherit(&m->tasks[d->on], model_worth(donor));
	}
	return changed;
}

/* One wait after the other, until none changes anything. */
static void spread(struct model *m)
{
	bool changed = true;

	while (changed) {
		changed = spread_to_waited_for(m);
		changed |= spread_to_parents(m);
	}
}

/* Out of a worker's list, if it is on one; to the class that it belongs to. */
static void place(struct model *m, struct model_task *t)
{
	bool assigned = t->assigned;

	t->assigned = 0;
	if (t->era == m->queues[t->queue].era)
		model_home(m, t);
	if (assigned)
		model_wake_for(m, t->queue, t->kind);
}

void model_inherit(struct model *m)
{
	static int64_t keys[MODEL_TASKS];
	static uint32_t bands[MODEL_TASKS];

	for (uint32_t i = 1; i < m->task_slots; i++) {
		struct model_task *t = &m->tasks[i];

		keys[i] = model_key(t);
		bands[i] = t->band;
		t->inherited = nothing;
	}
	spread(m);
	for (uint32_t i = 1; i < m->task_slots; i++) {
		struct model_task *t = &m->tasks[i];

		if (t->state == TQ_FREE || model_state_is_final(t->state))
			continue;
		if (t->era == m->queues[t->queue].era ? model_band(m, t) != bands[i] : false)
			place(m, t);
		else if (t->state == TQ_READY && model_key(t) != keys[i])
			place(m, t);
	}
	for (uint32_t s = 1; s < m->waiter_slots; s++)
		if (m->waiters[s].behalf)
			m->waiters[s].lent = model_worth(&m->tasks[m->waiters[s].behalf]);
}
