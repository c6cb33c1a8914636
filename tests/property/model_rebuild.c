/* SPDX-License-Identifier: MIT */
/* The model: a repair. */
#include "tests/property/model_parts.h"

#include <string.h>

/* All are listed, by slot; their edges come to the tasks in that order. */
static void rebuild_sleepers(struct model *m)
{
	m->waiter_cursor = 0;
	for (uint32_t s = 1; s < m->waiter_slots; s++) {
		if (m->waiters[s].state == TQI_WAITER_FREE)
			continue;
		m->waiters[s].state = TQI_WAITER_LISTED;
		m->waiters[s].order = m->waiters[s].entered = ++m->order;
		for (uint64_t below = NEVER;;) {
			struct model_edge *newest = NULL;

			for (uint32_t e = 0; e < m->edge_slots; e++)
				if (m->edges[e].waiter == s && m->edges[e].order < below &&
				    (!newest || m->edges[e].order > newest->order))
					newest = &m->edges[e];
			if (!newest)
				break;
			below = newest->order;
			newest->tell_order = ++m->order;
		}
	}
}

/* By when they ended, then by slot. */
static void rebuild_finished(struct model *m)
{
	uint64_t first = m->order + 1, n = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].listed)
			m->tasks[i].listed = UINT64_MAX;
	for (;;) {
		uint32_t oldest = 0;

		for (uint32_t i = 1; i < m->task_slots; i++)
			if (m->tasks[i].listed == UINT64_MAX &&
			    (!oldest || m->tasks[i].ended_ns < m->tasks[oldest].ended_ns))
				oldest = i;
		if (!oldest)
			break;
		m->tasks[oldest].listed = first + n++;
	}
	m->order += n;
}

/* By slot, of each the newest first; they come to the tasks in that order. */
static void rebuild_after(struct model *m)
{
	for (uint32_t task = 1; task < m->task_slots; task++) {
		for (uint64_t below = NEVER;;) {
			struct model_dependency *newest = NULL;

			for (uint32_t i = 1; i < m->dependency_slots; i++) {
				struct model_dependency *d = &m->dependencies[i];

				if (d->task == task && d->taken < below &&
				    (!newest || d->taken > newest->taken))
					newest = d;
			}
			if (!newest)
				break;
			below = newest->taken;
			newest->order = ++m->order;
		}
	}
}

/* Whether somebody is still to be told of its end. */
static bool is_untold(const struct model *m, uint32_t task)
{
	bool untold = false;

	for (uint32_t e = 0; e < m->edge_slots; e++)
		untold |= m->edges[e].waiter && m->edges[e].task == task && !m->edges[e].told;
	for (uint32_t d = 1; d < m->dependency_slots; d++)
		untold |= m->dependencies[d].task && m->dependencies[d].on == task &&
			  m->dependencies[d].told == TQI_EDGE_OPEN;
	return untold;
}

/* By slot; of whom only the settling was left, that comes first: they are finished as others are. */
static void rebuild_telling(struct model *m)
{
	m->telling_count = 0;
	for (uint32_t i = 1; i < m->task_slots; i++) {
		struct model_task *t = &m->tasks[i];

		if (!t->telling)
			continue;
		t->telling = is_untold(m, i);
		if (!t->telling)
			model_settle(m, i);
		else if (model_state_is_final(t->state))
			m->telling[m->telling_count++] = i;
	}
}

void model_rebuild(struct model *m)
{
	rebuild_telling(m);
	rebuild_after(m);
	rebuild_sleepers(m);
	rebuild_finished(m);
	model_rebuild_commands(m);
	model_rebuild_servers(m);
	memset(m->limit_needed, 0, sizeof(m->limit_needed));
	for (uint32_t i = 1; i < m->task_slots; i++) {
		struct model_task *t = &m->tasks[i];

		t->assigned = 0;
		if (t->state != TQ_FREE && !model_state_is_final(t->state))
			model_home(m, t); /* classes are made anew, all of this era */
		if (t->state == TQ_RUNNING) {
			t->attempt.order = ++m->order;
			t->look_ns = t->attempt.phase ? model_deadline(t) : model_look_at(t);
		}
	}
	model_rebuild_groups(m);
	m->rounding = false;
	model_policy_round(m);
	m->sweep_at = 0;
	m->sweep_left = m->sweep_count = m->task_slots;
	model_wake_any(m);
}
