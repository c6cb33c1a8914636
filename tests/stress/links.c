/* SPDX-License-Identifier: MIT */
/* The ledger: what waits for what (LG-6). */
#include "ledger.h"

#include "taskq/taskq.h"
#include "who.h"

uint32_t ledger_group_offer(struct ledger *l, uint32_t condition, bool is_graph, uint64_t maker)
{
	uint32_t group = atomic_fetch_add(&l->groups, 1);

	if (group >= LEDGER_GROUPS_MAX) {
		l->groups = LEDGER_GROUPS_MAX;
		return UINT32_MAX;
	}
	l->group[group].condition = condition ? condition : TQ_GROUP_ANY;
	l->group[group].is_graph = is_graph;
	l->group[group].maker = maker;
	l->group[group].state = LEDGER_OFFERED;
	return group;
}

void ledger_group_answered(struct ledger *l, uint32_t group, int r, uint64_t id)
{
	if (r >= 0)
		l->group[group].id = id;
	l->group[group].state = r < 0 ? LEDGER_REFUSED : LEDGER_ACCEPTED;
}

void ledger_join(struct ledger *l, uint32_t slot, uint32_t group)
{
	struct ledger_group *g = &l->group[group];
	uint32_t first = g->first;

	l->task[slot].group = group + 1;
	do
		l->task[slot].group_next = first;
	while (!atomic_compare_exchange_weak(&g->first, &first, slot + 1));
	atomic_fetch_add(&g->members, 1);
}

void ledger_completes(struct ledger *l, uint32_t slot, uint32_t group)
{
	l->task[slot].completes = group + 1;
	l->group[group].completion = slot + 1;
}

struct ledger_after *ledger_after(struct ledger *l, uint32_t slot, uint32_t on, uint32_t kind,
				  bool sure)
{
	uint32_t i = atomic_fetch_add(&l->task[slot].after_count, 1);
	struct ledger_after *a = &l->task[slot].after[i < LEDGER_AFTER_MAX ? i : 0];

	if (i >= LEDGER_AFTER_MAX)
		return NULL;
	a->on = on;
	a->sure = sure;
	a->kind = kind;
	l->task[on].is_parent = 1;
	return a;
}

/* No attempt of it is under way, and none may begin. */
static void check_over(struct ledger *l, uint32_t slot, uint32_t on)
{
	struct ledger_task *t = &l->task[on];
	uint64_t owner = t->owner;

	t->over = 1;
	if (owner && !who_is_gone(owner))
		ledger_fault(l, FAULT_EARLY, slot, "process %d runs task %u still",
			     (int)who_pid(owner), on);
}

/* The kinds say how it must have ended; that nobody said `done` is known before a verdict. */
static void check_after(struct ledger *l, uint32_t slot, const struct ledger_after *a)
{
	const struct ledger_task *on = &l->task[a->on];

	check_over(l, slot, a->on);
	if (a->kind == TQ_AFTER_OK && !(on->said & SAID_DONE))
		ledger_fault(l, FAULT_EARLY, slot, "task %u did not say that it was done", a->on);
	if (a->kind == TQ_AFTER_FAIL && (on->heard & SAID_DONE))
		ledger_fault(l, FAULT_EARLY, slot, "task %u was done", a->on);
}

/* One that may have been refused, as its submitter knows only after this, says nothing. */
static bool is_member(const struct ledger_task *t)
{
	return t->id && t->state != LEDGER_REFUSED;
}

static void check_group(struct ledger *l, uint32_t slot, uint32_t group)
{
	const struct ledger_group *g = &l->group[group];
	uint32_t done = 0, all = 0, unknown = 0;

	for (uint32_t next = g->first; next; next = l->task[next - 1].group_next) {
		const struct ledger_task *t = &l->task[next - 1];

		check_over(l, slot, next - 1);
		unknown += t->state == LEDGER_OFFERED;
		all += is_member(t);
		done += is_member(t) && (t->said & SAID_DONE);
	}
	if (g->condition == TQ_GROUP_OK && done < all)
		ledger_fault(l, FAULT_EARLY, slot, "%u members of group %u did not say `done`",
			     all - done, group);
	done = 0;
	for (uint32_t next = g->first; next; next = l->task[next - 1].group_next)
		done += is_member(&l->task[next - 1]) && (l->task[next - 1].heard & SAID_DONE);
	if (g->condition == TQ_GROUP_FAIL && !unknown && done == all)
		ledger_fault(l, FAULT_EARLY, slot, "all members of group %u were done", group);
}

void ledger_check_links(struct ledger *l, uint32_t slot)
{
	const struct ledger_task *t = &l->task[slot];

	for (uint32_t i = 0; i < LEDGER_AFTER_MAX; i++)
		if (t->after[i].kind && t->after[i].sure)
			check_after(l, slot, &t->after[i]);
	if (t->completes)
		check_group(l, slot, t->completes - 1);
}
