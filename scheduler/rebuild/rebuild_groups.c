/* SPDX-License-Identifier: MIT */
/* Groups: their chains and counts anew, from what their members say. */
#include "scheduler/graph/group.h"
#include "scheduler/graph/group_list.h"
#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/record/task_record.h"

static struct tqi_extra *extra_at(struct tqi_check *c, uint32_t task)
{
	return tqi_task_extra(c->tx, tqi_task_at(c->tx, task));
}

/* Those that make sense stay; what members add up to begins anew. */
void tqi_rebuild_groups_begin(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_GROUPS]; i++) {
		struct tqi_group *g = tqi_check_record(c, TQI_GROUPS, i);

		if (!g)
			continue;
		g->label[TQ_LABEL_MAX] = '\0';
		g->work = g->work > TQI_GROUP_UNDOING ? TQI_GROUP_IDLE : g->work;
		g->cancelled = g->cancelled != 0;
		if (g->state == TQI_GROUP_FREE || g->state > TQI_GROUP_COMPLETE ||
		    tqi_check_group_fault(g)) {
			g->state = TQI_GROUP_FREE;
			continue;
		}
		c->marks[TQI_GROUPS][i] |= TQI_SEEN_LINKED;
	}
}

static struct tqi_group *group_of(struct tqi_check *c, uint32_t index)
{
	return tqi_check_record(c, TQI_GROUPS, index) &&
			       (c->marks[TQI_GROUPS][index] & TQI_SEEN_LINKED)
		       ? tqi_group_at(c->tx, index)
		       : NULL;
}

/* Members of a lost graph that was never published were never there. */
static bool mend_membership(struct tqi_check *c, const struct tqi_task *t, struct tqi_extra *extra)
{
	const struct tqi_group *g = group_of(c, extra->group);

	if (extra->counted &&
	    (extra->counted >= TQ_STATE_COUNT || !tqi_state_is_final(extra->counted)))
		extra->counted = 0;
	if (extra->group && !extra->counted && tqi_state_is_final(t->state))
		extra->counted = t->state;
	extra->shut = extra->shut && t->state == TQ_BLOCKED && g && !extra->counted;
	if (g && g->state == TQI_GROUP_COMPLETE && !extra->counted)
		extra->counted = TQ_DONE; /* it is too late for it */
	if (!g)
		extra->group = 0;
	return g != NULL;
}

void tqi_rebuild_task_group(struct tqi_check *c, uint32_t index, struct tqi_task *t)
{
	struct tqi_extra *extra = tqi_check_extra(c, t);
	struct tqi_group *whole = extra ? group_of(c, extra->completes) : NULL;

	if (!extra)
		return;
	if (!whole || whole->completion || t->state != TQ_BLOCKED) {
		extra->completes = 0;
	} else {
		whole->completion = index;
		whole->completion_id = tqi_id_make(index, t->generation);
	}
	if (mend_membership(c, t, extra))
		tqi_member_join(c->tx, extra->group, index);
	extra->unmet += (uint32_t)extra->shut + (extra->completes != 0);
}

/* Ends in their order; then the others as they came: undoing relies on it (GR-4). */
static bool is_before(struct tqi_check *c, uint32_t a, uint32_t b)
{
	const struct tqi_extra *x = extra_at(c, a), *y = extra_at(c, b);

	if (!x->counted != !y->counted)
		return x->counted;
	return x->counted ? x->group_order < y->group_order
			  : tqi_task_at(c->tx, a)->sequence < tqi_task_at(c->tx, b)->sequence;
}

/* Merge two runs, linked by group_next. */
static uint32_t merge(struct tqi_check *c, uint32_t a, uint32_t b)
{
	uint32_t first = 0, *link = &first;

	while (a && b) {
		uint32_t *first_of = is_before(c, b, a) ? &b : &a;
		struct tqi_extra *next = extra_at(c, *first_of);

		*link = *first_of;
		link = &next->group_next;
		*first_of = next->group_next;
	}
	*link = a ? a : b;
	return first;
}

#define RUNS 32 /* runs of 1, 2, 4 ... members */

static uint32_t sort(struct tqi_check *c, uint32_t task)
{
	uint32_t runs[RUNS] = { 0 }, sorted = 0;

	while (task) {
		struct tqi_extra *extra = extra_at(c, task);
		uint32_t run = task, i = 0;

		task = extra->group_next;
		extra->group_next = 0;
		for (; i < RUNS - 1 && runs[i]; i++) {
			run = merge(c, runs[i], run);
			runs[i] = 0;
		}
		runs[i] = run;
	}
	for (uint32_t i = 0; i < RUNS; i++)
		sorted = merge(c, runs[i], sorted);
	return sorted;
}

/*
 * What is counted of one; of a complete group, freed members stay counted, and the numbers
 * of their ends are nobody's.
 */
static void count(struct tqi_check *c, struct tqi_group *g)
{
	uint32_t states[TQ_STATE_COUNT] = { 0 }, prev = 0, order = 0;

	g->unfinished = 0;
	for (uint32_t task = g->first; task; prev = task, task = extra_at(c, task)->group_next) {
		struct tqi_extra *extra = extra_at(c, task);

		extra->group_prev = prev;
		states[extra->counted ? extra->counted
		       : extra->shut  ? TQ_FREE
				      : tqi_task_at(c->tx, task)->state]++;
		g->unfinished += !extra->counted;
		if (!extra->counted)
			continue;
		order = g->state == TQI_GROUP_COMPLETE && extra->group_order > order
				? extra->group_order
				: order + 1;
		extra->group_order = order;
		g->ended_last = task;
	}
	g->last = prev;
	uint32_t ends = 0;

	for (uint32_t s = 0; s < TQ_STATE_COUNT; s++) {
		bool gone = g->state == TQI_GROUP_COMPLETE && tqi_state_is_final(s);

		g->states[s] = gone && g->states[s] > states[s] ? g->states[s] : states[s];
		ends += tqi_state_is_final(s) ? g->states[s] : 0;
	}
	g->ends = ends > order ? ends : order;
	g->states[TQ_DONE] += g->ends - ends; /* numbers of ends that no member has */
	g->members = g->unfinished + g->ends;
}

/* All walks begin anew; they do nothing twice. */
static void put_to_work(struct tqi_check *c, uint32_t index, struct tqi_group *g)
{
	struct tqi_tx *tx = c->tx;
	bool undoing = g->state == TQI_GROUP_BUILDING && g->work == TQI_GROUP_UNDOING;

	g->work = TQI_GROUP_IDLE;
	if ((g->state == TQI_GROUP_BUILDING || g->state == TQI_GROUP_OPEN) && g->owner.pid)
		tqi_group_list(tx, index, &tqi_root(tx)->group.owned);
	if (undoing || (g->state == TQI_GROUP_BUILDING && !g->owner.pid))
		tqi_group_work(tx, index, TQI_GROUP_UNDOING);
	else if (g->state == TQI_GROUP_COMPLETE)
		tqi_group_work(tx, index, TQI_GROUP_RELEASING);
	else if (g->state == TQI_GROUP_SEALED && !g->unfinished)
		tqi_group_completes(tx, index);
	else if (g->cancelled)
		tqi_group_work(tx, index, TQI_GROUP_CANCELLING);
	else if (g->state != TQI_GROUP_BUILDING && g->states[TQ_FREE])
		tqi_group_work(tx, index, TQI_GROUP_OPENING);
}

void tqi_rebuild_groups(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_GROUPS]; i++) {
		struct tqi_group *g = group_of(c, i);

		if (!g)
			continue;
		g->first = sort(c, g->first);
		count(c, g);
		put_to_work(c, i, g);
	}
}

/* One whose group is lost waits for another one's ends: it finds that its own is gone. */
void tqi_rebuild_group_waiter(struct tqi_check *c, struct tqi_waiter *s)
{
	if (s->interest == TQI_INTEREST_GROUP && !group_of(c, s->subject)) {
		s->interest = TQI_INTEREST_TASKS;
		s->subject = s->told = 0;
	}
}
