/* SPDX-License-Identifier: MIT */
/* Inheritance (IN-1 to IN-5): what is not stale is right. */
#include "scheduler/check/check_state.h"
#include "scheduler/graph/inherit.h"

/* As it stands; a task without rare settings is never stale. */
static uint32_t stale_of(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);

	return extra ? extra->stale : 0;
}

static struct tqi_worth worth_of(struct tqi_check *c, const struct tqi_task *t)
{
	return tqi_worth_in(t, tqi_check_extra(c, t));
}

/* The cursor is an edge of the first one: to it, when counting. */
static bool is_walked(struct tqi_check *c, const struct tqi_root *root)
{
	const struct tqi_edge *edge = tqi_check_record_in_use(c, TQI_EDGES, root->stale.cursor);

	return edge && (root->stale.stage != TQI_STAGE_COUNT ||
			(edge->task == root->stale.first && edge->told != TQI_EDGE_TOLD));
}

/* The list; every task that says so is on it. */
static void check_list(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_TASKS, tqi_extra, stale_prev, stale_next),
				       .in_extra = true, .mark = TQI_SEEN_STALE,
				       .name = "stale tasks", .next = root->stale.first };
	const struct tqi_task *t;

	while ((t = tqi_check_next(c, &list))) {
		uint32_t stale = stale_of(c, t);

		if (!(stale & TQI_STALE_LISTED) ||
		    (tqi_state_is_final(t->state) && (stale & ~TQI_STALE_ENDED)))
			tqi_check_break(c, &list);
	}
	tqi_check_list_end(c, &list, "last task", root->stale.last);
	if (root->stale.stage > TQI_STAGE_PUSH || (root->stale.stage && !root->stale.first) ||
	    (root->stale.cursor && !is_walked(c, root)))
		tqi_check_fault(c, "root: stale_stage is %u, at edge %u", root->stale.stage,
				root->stale.cursor);
}

/* What waits on the other side of an edge; NULL a client, or one whose attempt has ended. */
static const struct tqi_task *donor_of(struct tqi_check *c, const struct tqi_edge *edge)
{
	if (edge->kind)
		return tqi_check_record_in_use(c, TQI_TASKS, edge->waiter);
	const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, edge->waiter);
	const struct tqi_attempt *a = s ? tqi_check_record_in_use(c, TQI_ATTEMPTS, s->attempt)
					: NULL;

	return a && a->waits_life == s->attempt_life
		       ? tqi_check_record_in_use(c, TQI_TASKS, a->task)
		       : NULL;
}

/* What an edge lends; false: that will be another worth. */
static bool is_settled(struct tqi_check *c, const struct tqi_edge *edge,
		       struct tqi_worth *ret_worth)
{
	const struct tqi_task *donor = donor_of(c, edge);
	const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, edge->waiter);

	*ret_worth = TQI_WORTH_NOTHING;
	if (donor && stale_of(c, donor))
		return false;
	if (edge->quiet || edge->told == TQI_EDGE_REFUSED ||
	    (donor && tqi_state_is_final(donor->state)))
		return true;
	if (edge->kind && donor)
		*ret_worth = tqi_worth_passed_on(worth_of(c, donor));
	else if (!edge->kind && s)
		*ret_worth = tqi_worth_passed_on(tqi_worth_lent(s));
	return true;
}

/* Over all edges to it, at most as many as there are; false: some are about to change. */
static bool best_of(struct tqi_check *c, const struct tqi_task *t, struct tqi_worth *ret_best)
{
	uint32_t e = t->edges;

	*ret_best = tqi_worth_in(t, NULL);
	ret_best->deadline_ns = tqi_check_deadline(c, t);
	for (uint32_t n = 0; e && n < c->count[TQI_EDGES]; n++) {
		const struct tqi_edge *edge = tqi_check_record_in_use(c, TQI_EDGES, e);
		struct tqi_worth w;

		if (!edge || edge->quiet > 1 || !is_settled(c, edge, &w))
			return false;
		*ret_best = tqi_worth_best(*ret_best, &w);
		e = edge->next;
	}
	return true;
}

static void check_task(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	const struct tqi_worth worth = worth_of(c, t);
	uint32_t stale = stale_of(c, t);
	struct tqi_worth best;

	if (!(stale & TQI_STALE_LISTED) != !(c->marks[TQI_TASKS][index] & TQI_SEEN_STALE))
		tqi_check_fault(c, "task %u: stale, but not on the list", index);
	if (stale & ~TQI_STALE_ALL || (stale && !(stale & TQI_STALE_LISTED)))
		tqi_check_fault(c, "task %u: stale is %u", index, stale);
	/* While dependants are being revived, there are two lists of edges (ED-3). */
	if (tqi_state_is_final(t->state) || (stale & TQI_STALE_COUNT) ||
	    (t->flags & TQI_TASK_TELLING) || !best_of(c, t, &best) || tqi_worth_is(&best, &worth))
		return;
	tqi_check_fault(
		c, "task %u: worth %d over %u, %llu over %u, should be %d over %u, %llu over %u",
		index, worth.priority, worth.hops, (unsigned long long)worth.deadline_ns,
		worth.deadline_hops, best.priority, best.hops, (unsigned long long)best.deadline_ns,
		best.deadline_hops);
}

/* A wait on a task's behalf lends what that is worth. */
static void check_lent(struct tqi_check *c, uint32_t w)
{
	const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, w);

	if (!s || !s->edges)
		return;
	const struct tqi_task *donor = donor_of(c, &(struct tqi_edge){ .waiter = w });
	const struct tqi_worth lent = tqi_worth_lent(s),
			       worth = donor ? worth_of(c, donor) : TQI_WORTH_NOTHING;

	if (donor && !stale_of(c, donor) && !tqi_worth_is(&lent, &worth))
		tqi_check_fault(c, "sleeper %u: lends %d over %u, should lend %d over %u", w,
				lent.priority, lent.hops, worth.priority, worth.hops);
}

static void check_quiet(struct tqi_check *c, uint32_t e)
{
	const struct tqi_edge *edge = tqi_check_record_in_use(c, TQI_EDGES, e);

	if (edge && edge->quiet > 1)
		tqi_check_fault(c, "edge %u: quiet is %u", e, edge->quiet);
}

void tqi_check_inherit(struct tqi_check *c)
{
	check_list(c);
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, i);

		if (t && t->state != TQ_FREE)
			check_task(c, i, t);
	}
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++)
		check_lent(c, w);
	for (uint32_t e = 1; e < c->count[TQI_EDGES]; e++)
		check_quiet(c, e);
}
