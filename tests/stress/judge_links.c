/* SPDX-License-Identifier: MIT */
/* What may have become of a task by what it waits for, and of a graph. */
#include "judge.h"

#define DEPTH_MAX 64 /* chains of the storm are shorter */

/* Not known for certain to have ended as the dependency wants it. */
static bool may_be_unmet(const struct ledger_task *on, uint32_t kind)
{
	if (kind == TQ_AFTER_ANY || !judge_exists(on))
		return kind != TQ_AFTER_ANY;
	if (!on->outcome)
		return kind == TQ_AFTER_OK ? !(on->heard & SAID_DONE) : (on->said & SAID_DONE);
	return (on->outcome == TQ_DONE) != (kind == TQ_AFTER_OK);
}

/* Its end was to cancel all that depend on it, or it was itself cancelled by such an end. */
static bool may_doom(struct ledger *l, uint32_t slot, uint32_t depth)
{
	const struct ledger_task *t = &l->task[slot];

	if (t->asked & ASKED_DOOM)
		return true;
	for (uint32_t i = 0; i < LEDGER_AFTER_MAX && depth < DEPTH_MAX; i++)
		if (t->after[i].kind && may_doom(l, t->after[i].on, depth + 1))
			return true;
	return false;
}

/* The ends of members may be against the condition of their group. */
static bool may_be_against(struct ledger *l, const struct ledger_group *g)
{
	uint32_t not_done = 0, unknown = 0;

	for (uint32_t next = g->first; next; next = l->task[next - 1].group_next) {
		const struct ledger_task *t = &l->task[next - 1];

		unknown += judge_exists(t) && !t->outcome;
		not_done += t->outcome && t->outcome != TQ_DONE;
	}
	if (g->condition == TQ_GROUP_OK)
		return not_done || unknown;
	return g->condition == TQ_GROUP_FAIL && !not_done;
}

bool judge_may_be_refused(struct ledger *l, uint32_t slot)
{
	const struct ledger_task *t = &l->task[slot];

	for (uint32_t i = 0; i < LEDGER_AFTER_MAX; i++) {
		const struct ledger_after *a = &t->after[i];

		if (a->kind && (may_be_unmet(&l->task[a->on], a->kind) || may_doom(l, a->on, 0)))
			return true;
	}
	return t->completes && may_be_against(l, &l->group[t->completes - 1]);
}

/* A group that its maker never sealed is cancelled when that dies. */
bool judge_was_cancelled_with(struct ledger *l, uint32_t slot)
{
	uint32_t group = l->task[slot].group;
	const struct ledger_group *g = &l->group[group ? group - 1 : 0];

	return group && ((g->asked & ASKED_CANCEL) || (!g->is_graph && !g->sealed));
}

void judge_graph(struct ledger *l, uint32_t group)
{
	const struct ledger_group *g = &l->group[group];
	uint32_t there = 0;

	if (!g->is_graph)
		return;
	for (uint32_t next = g->first; next; next = l->task[next - 1].group_next)
		there += judge_exists(&l->task[next - 1]);
	if (there && there < g->members)
		ledger_fault(l, FAULT_TORN, g->first - 1, "%u of %u members of group %u", there,
			     g->members, group);
	if (!there && g->state == LEDGER_ACCEPTED && g->members)
		ledger_fault(l, FAULT_TORN, g->first - 1, "nothing of group %u", group);
}
