/* SPDX-License-Identifier: MIT */
/* Groups: their chains, what their members add up to, their lists (GR-1 to GR-8). */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/graph/group.h"
#include "scheduler/record/task_record.h"

const char *tqi_check_group_fault(const struct tqi_group *g)
{
	if (g->generation == 0 || g->generation >= TQI_GENERATION_MAX)
		return "has no generation";
	if (g->condition < TQ_GROUP_ANY || g->condition > TQ_GROUP_FAIL || g->cancelled > 1 ||
	    g->work > TQI_GROUP_UNDOING)
		return "makes no sense";
	if (strnlen(g->label, sizeof(g->label)) == sizeof(g->label))
		return "has a label without end";
	return NULL;
}

/* A task's own side: what it is in its group, and whose completion it is. */
void tqi_check_task_group(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);

	if (!extra)
		return;
	const struct tqi_group *g = tqi_check_record_in_use(c, TQI_GROUPS, extra->group);
	const struct tqi_group *whole = tqi_check_record_in_use(c, TQI_GROUPS, extra->completes);
	bool final = tqi_state_is_final(t->state);

	if (extra->completes && (!whole || whole->completion != index || t->state != TQ_BLOCKED))
		tqi_check_fault(c, "task %u: is not the completion of group %u", index,
				extra->completes);
	c->pins[index] += extra->pinned;
	c->unmet[index] += (uint32_t)extra->shut + (extra->completes != 0);
	if (extra->pinned > 1 || extra->shut > 1 || (extra->shut && t->state != TQ_BLOCKED) ||
	    (extra->counted && !tqi_state_is_final(extra->counted)) ||
	    extra->counted >= TQ_STATE_COUNT)
		tqi_check_fault(c, "task %u: its membership makes no sense", index);
	if (extra->group && !g)
		tqi_check_fault(c, "task %u: group %u", index, extra->group);
	if (!g) {
		if (extra->pinned || extra->shut)
			tqi_check_fault(c, "task %u: shut or pinned by no group", index);
		return;
	}
	struct tqi_check_group *sum = &c->groups[extra->group];

	if (final && !extra->counted)
		tqi_check_fault(c, "task %u: its end is not counted", index);
	sum->members++;
	sum->uncounted += !extra->counted;
	sum->pinned += extra->pinned;
	sum->states[extra->counted && extra->counted < TQ_STATE_COUNT ? extra->counted
		    : extra->shut				      ? TQ_FREE
								      : t->state]++;
}

/* GR-1: counted ones in the order of their ends, then the others. */
static void check_chain(struct tqi_check *c, uint32_t index, const struct tqi_group *g)
{
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_TASKS, tqi_extra, group_prev, group_next),
				       .in_extra = true,
				       .mark = TQI_SEEN_GROUP,
				       .name = "members of group",
				       .owner = index,
				       .next = g->first };
	uint32_t order = 0, ended_last = 0;
	bool others = false, walk = !g->walk;
	const struct tqi_task *t;

	while ((t = tqi_check_next(c, &list))) {
		const struct tqi_extra *extra = tqi_check_extra(c, t);

		if (extra->group != index || (others && extra->counted) ||
		    (extra->counted && extra->group_order <= order))
			tqi_check_break(c, &list);
		walk |= g->walk == list.at;
		others |= !extra->counted;
		if (extra->counted) {
			order = extra->group_order;
			ended_last = list.at;
		}
	}
	if (list.broken)
		return;
	tqi_check_list_end(c, &list, "last", g->last);
	tqi_check_equal(c, "group", index, "ended_last", g->ended_last, ended_last);
	tqi_check_equal(c, "group", index, "length of the chain", list.count,
			c->groups[index].members);
	if (order > g->ends || !walk)
		tqi_check_fault(c, "group %u: %u ends, the last one is number %u; walk is %u",
				index, g->ends, order, g->walk);
}

static void check_state(struct tqi_check *c, uint32_t index, uint32_t state, uint32_t is,
			uint32_t should_be)
{
	if (is != should_be)
		tqi_check_fault(c, "group %u: has %u in state %u, should have %u", index, is, state,
				should_be);
}

/* GR-2, GR-3. */
static void check_counts(struct tqi_check *c, uint32_t index, const struct tqi_group *g)
{
	const struct tqi_check_group *sum = &c->groups[index];
	uint32_t ends = 0, all = 0;

	for (uint32_t s = 0; s < TQ_STATE_COUNT; s++) {
		if (g->state != TQI_GROUP_COMPLETE || !tqi_state_is_final(s))
			check_state(c, index, s, g->states[s], sum->states[s]);
		ends += tqi_state_is_final(s) ? g->states[s] : 0;
		all += g->states[s];
	}
	tqi_check_equal(c, "group", index, "unfinished", g->unfinished, sum->uncounted);
	tqi_check_equal(c, "group", index, "ends", g->ends, ends);
	tqi_check_equal(c, "group", index, "members", g->members, all);
	if (g->state != TQI_GROUP_COMPLETE)
		tqi_check_equal(c, "group", index, "pinned", sum->pinned, g->members);
	if (g->state == TQI_GROUP_COMPLETE && g->work == TQI_GROUP_IDLE)
		tqi_check_equal(c, "group", index, "pinned", sum->pinned, 0);
	tqi_check_equal(c, "group", index, "waiters", g->waiters, sum->waiters);
}

/* What must be under way, or cannot be. */
static const char *work_fault(const struct tqi_group *g)
{
	bool building = g->state == TQI_GROUP_BUILDING, complete = g->state == TQI_GROUP_COMPLETE;

	if (complete ? g->unfinished : g->state == TQI_GROUP_SEALED && !g->unfinished)
		return complete ? "is complete, with members" : "should be complete"; /* GR-5 */
	if (complete && g->completion && g->work != TQI_GROUP_RELEASING)
		return "has not decided its completion task";
	if (building ? g->work && g->work != TQI_GROUP_UNDOING : g->work == TQI_GROUP_UNDOING)
		return building ? "is walked while it is built" : "is undone";
	if (complete != (g->work == TQI_GROUP_RELEASING) && (g->work == TQI_GROUP_RELEASING))
		return "releases its members too early";
	if (!building && !g->work && g->states[TQ_FREE])
		return "leaves members shut"; /* GR-4 */
	if (g->cancelled && !g->work &&
	    (g->states[TQ_BLOCKED] || g->states[TQ_DELAYED] || g->states[TQ_READY]))
		return "leaves members that are cancelled"; /* GR-6 */
	return NULL;
}

static bool is_owned(const struct tqi_group *g)
{
	return g->owner.pid && (g->state == TQI_GROUP_OPEN || g->state == TQI_GROUP_BUILDING);
}

static void check_group(struct tqi_check *c, uint32_t index)
{
	const struct tqi_group *g = tqi_check_record(c, TQI_GROUPS, index);
	uint32_t mark = c->marks[TQI_GROUPS][index];

	if (!g)
		return;
	if ((!!(mark & TQI_SEEN_FREE) != (g->state == TQI_GROUP_FREE) &&
	     g->generation < TQI_GENERATION_MAX) ||
	    g->state > TQI_GROUP_COMPLETE) {
		tqi_check_fault(c, "group %u: state %u, %s the free list", index, g->state,
				mark & TQI_SEEN_FREE ? "on" : "not on");
		return;
	}
	if (g->state == TQI_GROUP_FREE)
		return;
	bool ended = g->state == TQI_GROUP_COMPLETE && !g->work;
	const char *fault = tqi_check_group_fault(g);

	if (!fault)
		fault = work_fault(g);
	if (!fault && (is_owned(g) || ended) != !!(mark & TQI_SEEN_LINKED))
		fault = mark & TQI_SEEN_LINKED ? "is listed" : "is on no list"; /* GR-7 */
	if (!fault && !g->work != !(mark & TQI_SEEN_BUSY))
		fault = g->work ? "is not among the busy ones"
				: "is among the busy ones"; /* GR-8 */
	if (fault)
		tqi_check_fault(c, "group %u: %s", index, fault);
	const struct tqi_task *t =
		g->completion ? tqi_check_record_in_use(c, TQI_TASKS, g->completion) : NULL;
	const struct tqi_extra *extra = t ? tqi_check_extra(c, t) : NULL;

	if (g->completion && (!extra || extra->completes != index))
		tqi_check_fault(c, "group %u: task %u is not its completion", index, g->completion);
	check_chain(c, index, g);
	check_counts(c, index, g);
}

static void check_list(struct tqi_check *c, const char *name, const struct tqi_group_ends *ends,
		       bool owned)
{
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_GROUPS, tqi_group, prev, next),
				       .mark = TQI_SEEN_LINKED, .name = name, .next = ends->first };
	const struct tqi_group *g;

	while ((g = tqi_check_next(c, &list)))
		if (owned != is_owned(g))
			tqi_check_break(c, &list);
	tqi_check_list_end(c, &list, "last group", ends->last);
}

static void check_busy(struct tqi_check *c)
{
	struct tqi_check_list list = { TQI_CHECK_CHAIN(TQI_GROUPS, tqi_group, busy_next),
				       .mark = TQI_SEEN_BUSY, .name = "busy groups",
				       .next = tqi_root(c->tx)->group.busy };

	while (tqi_check_next(c, &list))
		;
	if (list.at)
		tqi_check_list_end(c, &list, "last group", tqi_root(c->tx)->group.busy_last);
}

void tqi_check_groups(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);

	check_list(c, "owned groups", &root->group.owned, true);
	check_list(c, "ended groups", &root->group.ended, false);
	check_busy(c);
	tqi_check_equal(c, "root", 0, "group_waiters", root->group.waiters, c->group_waiters);
	if (root->group.closing &&
	    (!(root->flags & TQI_ROOT_SHUTDOWN) || root->group.closing >= c->count[TQI_GROUPS]))
		tqi_check_fault(c, "root: group.closing is %u", root->group.closing); /* GR-9 */
	for (uint32_t i = 1; i < c->count[TQI_GROUPS]; i++)
		check_group(c, i);
	if (root->group.cursor) {
		const struct tqi_group *g =
			tqi_check_record_in_use(c, TQI_GROUPS, root->group.cursor);

		if (!g || !is_owned(g))
			tqi_check_fault(c, "root: groups_cursor is %u", root->group.cursor);
	}
}
