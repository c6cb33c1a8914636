/* SPDX-License-Identifier: MIT */
/* Edges between waiters and tasks. */
#include "scheduler/graph/edge.h"

#include <errno.h>

#include "scheduler/graph/after.h"
#include "scheduler/graph/blocked.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/worker/step.h"
#include "scheduler/task/task.h"
#include "scheduler/worker/wake.h"

#define TELL_SLICE 32	/* edges gone through in one hold */
#define REVIVE_SLICE 16 /* of those, revived: each has a commit of its own */
#define NOTIFY_LOOKS 256 /* edges looked at for one change of state */

/* Sleepers are in front of dependants, nearly always: they are told first. */
static void link_to_task(struct tqi_tx *tx, uint32_t e)
{
	struct tqi_edge *edge = tqi_edge_at(tx, e);
	struct tqi_task *t = tqi_task_at(tx, edge->task);
	uint32_t head = t->edges;
	uint32_t prev = head && edge->kind && !tqi_edge_at(tx, head)->kind ? head : 0;
	uint32_t next = prev ? tqi_edge_at(tx, prev)->next : head;

	TQI_SET(tx, edge->prev, prev);
	TQI_SET(tx, edge->next, next);
	if (next)
		TQI_SET(tx, tqi_edge_at(tx, next)->prev, e);
	if (prev)
		TQI_SET(tx, tqi_edge_at(tx, prev)->next, e);
	else
		TQI_SET(tx, t->edges, e);
}

static void unlink_from_task(struct tqi_tx *tx, uint32_t e)
{
	const struct tqi_edge *edge = tqi_edge_at(tx, e);
	struct tqi_task *t = tqi_task_at(tx, edge->task);

	tqi_inherit_unlinked(tx, e);
	if (edge->prev)
		TQI_SET(tx, tqi_edge_at(tx, edge->prev)->next, edge->next);
	else if (t->edges == e)
		TQI_SET(tx, t->edges, edge->next);
	else
		TQI_SET(tx, t->prev, edge->next); /* E3 */
	if (edge->next)
		TQI_SET(tx, tqi_edge_at(tx, edge->next)->prev, edge->prev);
}

static uint32_t make(struct tqi_tx *tx, const struct tqi_edge *like, bool *ret_full)
{
	bool quiet = tqi_inherit_is_quiet(tx, like);

	*ret_full = false;
	if (!quiet && tqi_inherit_reserve(tx, like) < 0)
		return 0;
	uint32_t e = tqi_table_take(tx, TQI_EDGES, ret_full);

	if (!e)
		return 0;
	struct tqi_edge *edge = tqi_edge_at(tx, e);
	struct tqi_task *t = tqi_task_at(tx, like->task);

	TQI_INIT(edge->waiter, like->waiter);
	TQI_INIT(edge->task, like->task);
	TQI_INIT(edge->told, like->told);
	TQI_INIT(edge->prev, 0);
	TQI_INIT(edge->next, 0);
	TQI_INIT(edge->next_of_waiter, like->next_of_waiter);
	TQI_INIT(edge->kind, like->kind);
	TQI_INIT(edge->quiet, quiet);
	if (edge->told != TQI_EDGE_TOLD)
		link_to_task(tx, e);
	tqi_task_touch(tx, t);
	TQI_ADD(tx, t->pins, 1);
	tqi_task_unlist(tx, like->task);
	tqi_inherit_begin(tx, edge);
	return e;
}

bool tqi_edge_add(struct tqi_tx *tx, uint32_t waiter, uint32_t task)
{
	struct tqi_waiter *w = tqi_waiter_at(tx, waiter);
	bool final = tqi_state_is_final(tqi_task_at(tx, task)->state), full;
	const struct tqi_edge like = { .waiter = waiter,
				       .task = task,
				       .told = final ? TQI_EDGE_TOLD : TQI_EDGE_OPEN,
				       .next_of_waiter = w->edges };
	uint32_t e = make(tx, &like, &full);

	if (!e)
		return false;
	TQI_SET(tx, w->edges, e);
	TQI_ADD(tx, w->told, like.told);
	return true;
}

int tqi_edge_depend(struct tqi_tx *tx, uint32_t dependant, uint32_t on, uint32_t kind,
		    uint32_t told, uint32_t *ret_edge)
{
	struct tqi_extra *extra = tqi_task_extra(tx, tqi_task_at(tx, dependant));
	const struct tqi_edge like = { .waiter = dependant,
				       .task = on,
				       .told = told,
				       .next_of_waiter = extra->after,
				       .kind = (uint16_t)kind };
	bool full;

	*ret_edge = make(tx, &like, &full);
	if (!*ret_edge)
		return full ? TQ_EFULL : -ENOMEM;
	TQI_SET(tx, extra->after, *ret_edge);
	TQI_ADD(tx, extra->after_count, 1);
	return 0;
}

void tqi_edge_free(struct tqi_tx *tx, uint32_t e)
{
	const struct tqi_edge *edge = tqi_edge_at(tx, e);
	struct tqi_task *t = tqi_task_at(tx, edge->task);

	tqi_inherit_end(tx, e);
	if (edge->told != TQI_EDGE_TOLD)
		unlink_from_task(tx, e);
	tqi_task_touch(tx, t);
	TQI_ADD(tx, t->pins, -1);
	if (tqi_state_is_final(t->state))
		tqi_task_settle(tx, edge->task);
	tqi_table_give(tx, TQI_EDGES, e);
}

bool tqi_edge_drop(struct tqi_tx *tx, uint32_t waiter, uint32_t count)
{
	struct tqi_waiter *w = tqi_waiter_at(tx, waiter);

	while (w->edges && count-- > 0 && !tx->corrupt && !tqi_tx_is_filling(tx)) {
		uint32_t e = w->edges;

		TQI_SET(tx, w->edges, tqi_edge_at(tx, e)->next_of_waiter);
		tqi_edge_free(tx, e);
	}
	return w->edges == 0;
}

void tqi_edge_set(struct tqi_tx *tx, uint32_t e, uint32_t told)
{
	struct tqi_edge *edge = tqi_edge_at(tx, e);
	uint32_t was = edge->told;

	TQI_SET(tx, edge->told, told);
	if (was == TQI_EDGE_TOLD && told != TQI_EDGE_TOLD)
		link_to_task(tx, e);
	else if (was != TQI_EDGE_TOLD && told == TQI_EDGE_TOLD)
		unlink_from_task(tx, e);
}

void tqi_edge_notify(struct tqi_tx *tx, uint32_t task, uint32_t state)
{
	uint32_t e = tqi_task_at(tx, task)->edges, woken = 0;

	for (uint32_t i = 0; i < NOTIFY_LOOKS && woken < TELL_SLICE && e && !tx->corrupt; i++) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);

		if (!edge->kind && (tqi_waiter_at(tx, edge->waiter)->subject >> state & 1)) {
			tqi_tx_wake(tx, edge->waiter);
			woken++;
		}
		e = edge->next;
	}
}

/* E3: one that stays. */
static void keep(struct tqi_tx *tx, struct tqi_task *t, uint32_t e)
{
	struct tqi_edge *edge = tqi_edge_at(tx, e);

	TQI_SET(tx, edge->prev, 0u);
	TQI_SET(tx, edge->next, t->prev);
	if (t->prev)
		TQI_SET(tx, tqi_edge_at(tx, t->prev)->prev, e);
	TQI_SET(tx, t->prev, e);
}

/* The first edge of a final task. */
static void tell_first(struct tqi_tx *tx, struct tqi_task *t)
{
	uint32_t e = t->edges;
	struct tqi_edge *edge = tqi_edge_at(tx, e);

	unlink_from_task(tx, e);
	if (edge->kind) {
		if (tqi_after_decide(tx, e))
			keep(tx, t, e);
		return;
	}
	TQI_SET(tx, edge->told, TQI_EDGE_TOLD);
	TQI_ADD(tx, tqi_waiter_at(tx, edge->waiter)->told, 1);
	tqi_tx_wake(tx, edge->waiter);
}

/* The first edge of a task that lives again: a commit for each that is revived. */
static void revive_first(struct tqi_tx *tx, struct tqi_task *t, uint32_t *revived)
{
	uint32_t e = t->edges;

	if (tqi_edge_at(tx, e)->told == TQI_EDGE_REFUSED) {
		++*revived;
		tqi_step(tx);
		if (tqi_after_revive(tx, e) < 0) { /* no room for it: it stays as it is */
			tqi_tx_abort(tx);
			tqi_tx_begin(tx, tx->now_ns);
		}
	}
	unlink_from_task(tx, e);
	keep(tx, t, e);
}

/* True when the round is over. */
static bool go_through(struct tqi_tx *tx, struct tqi_task *t, uint32_t *revived)
{
	for (uint32_t i = 0; i < TELL_SLICE && t->edges && !tx->corrupt && !tqi_tx_is_filling(tx) &&
			     *revived < REVIVE_SLICE;
	     i++)
		if (tqi_state_is_final(t->state))
			tell_first(tx, t);
		else
			revive_first(tx, t, revived);
	if (t->edges)
		return false;
	if (t->prev) {
		TQI_SET(tx, t->edges, t->prev);
		TQI_SET(tx, t->prev, 0u);
	}
	return true;
}

/* Off all lists, `next` and `prev` as they are. */
static void append(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_task *t = tqi_task_at(tx, task);
	struct tqi_root *root = tqi_root(tx);

	tqi_task_touch(tx, t);
	TQI_SET(tx, t->flags, (uint16_t)(t->flags | TQI_TASK_TELLING));
	TQI_SET(tx, t->next, 0u);
	if (root->telling)
		TQI_SET(tx, tqi_task_at(tx, root->telling_last)->next, task);
	else
		TQI_SET(tx, root->telling, task);
	TQI_SET(tx, root->telling_last, task);
}

void tqi_edge_enlist(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_task *t = tqi_task_at(tx, task);

	if (t->flags & TQI_TASK_TELLING) {
		TQI_SET(tx, tqi_task_extra(tx, t)->again, 1);
		return;
	}
	TQI_SET(tx, t->prev, 0u);
	append(tx, task);
}

void tqi_edge_tell(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_task *t = tqi_task_at(tx, task);
	bool chained = t->cause == TQ_CAUSE_DEPENDENCY; /* cascades are for the slices */

	bool telling = t->flags & TQI_TASK_TELLING; /* it was reviving its dependants */

	if (!telling && !t->edges && !tqi_after_must_release(tx, t))
		return;
	if (chained || telling) {
		tqi_edge_enlist(tx, task);
		return;
	}
	uint32_t revived = 0;

	if (t->prev)
		TQI_SET(tx, t->prev, 0u);
	if (!go_through(tx, t, &revived) || !tqi_after_release(tx, task))
		append(tx, task);
}

/* The first of the telling list; true when it has left it. */
static bool tell_task(struct tqi_tx *tx, uint32_t *revived)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t task = root->telling;
	struct tqi_task *t = tqi_task_at(tx, task);
	bool final = tqi_state_is_final(t->state);

	if (!go_through(tx, t, revived))
		return false;
	if ((t->flags & TQI_TASK_EXTRA) && tqi_task_extra(tx, t)->again) {
		TQI_SET(tx, tqi_task_extra(tx, t)->again, 0);
		return false;
	}
	if (final && !tqi_after_release(tx, task))
		return false;
	tqi_task_touch(tx, t);
	TQI_SET(tx, root->telling, t->next);
	if (!t->next)
		TQI_SET(tx, root->telling_last, 0u);
	TQI_SET(tx, t->flags, (uint16_t)(t->flags & ~TQI_TASK_TELLING));
	if (final)
		tqi_task_settle(tx, task);
	else
		tqi_task_unblock(tx, task);
	return true;
}

bool tqi_edge_tell_slice(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);
	uint32_t revived = 0;

	while (root->telling && !tx->corrupt && !tqi_tx_is_filling(tx))
		if (!tell_task(tx, &revived))
			break;
	if (!root->telling)
		tqi_wake_empty(tx);
	return root->telling != 0;
}
