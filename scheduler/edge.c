/* SPDX-License-Identifier: MIT */
/* Edges between waiters and tasks. */
#include "scheduler/edge.h"

#include "scheduler/task.h"

#define TELL_SLICE 32 /* waiters woken in one hold */

bool tqi_edge_add(struct tqi_tx *tx, uint32_t waiter, uint32_t task)
{
	bool full;
	uint32_t e = tqi_table_take(tx, TQI_EDGES, &full);

	if (!e)
		return false;
	struct tqi_edge *edge = tqi_edge_at(tx, e);
	struct tqi_task *t = tqi_task_at(tx, task);
	struct tqi_waiter *w = tqi_waiter_at(tx, waiter);

	TQI_INIT(edge->waiter, waiter);
	TQI_INIT(edge->task, task);
	TQI_INIT(edge->told, tqi_state_is_final(t->state) ? 1 : 0);
	TQI_INIT(edge->prev, 0);
	TQI_INIT(edge->next, edge->told ? 0 : t->edges);
	TQI_INIT(edge->next_of_waiter, w->edges);
	if (!edge->told) {
		if (t->edges)
			TQI_SET(tx, tqi_edge_at(tx, t->edges)->prev, e);
		TQI_SET(tx, t->edges, e);
	}
	TQI_SET(tx, w->edges, e);
	TQI_ADD(tx, w->told, edge->told);
	tqi_task_touch(tx, t);
	TQI_ADD(tx, t->pins, 1);
	tqi_task_unlist(tx, task);
	return true;
}

static void unlink_from_task(struct tqi_tx *tx, uint32_t e)
{
	const struct tqi_edge *edge = tqi_edge_at(tx, e);

	if (edge->prev)
		TQI_SET(tx, tqi_edge_at(tx, edge->prev)->next, edge->next);
	else
		TQI_SET(tx, tqi_task_at(tx, edge->task)->edges, edge->next);
	if (edge->next)
		TQI_SET(tx, tqi_edge_at(tx, edge->next)->prev, edge->prev);
}

bool tqi_edge_drop(struct tqi_tx *tx, uint32_t waiter, uint32_t count)
{
	struct tqi_waiter *w = tqi_waiter_at(tx, waiter);

	while (w->edges && count-- > 0 && !tx->corrupt && !tqi_tx_is_filling(tx)) {
		uint32_t e = w->edges;
		const struct tqi_edge *edge = tqi_edge_at(tx, e);
		struct tqi_task *t = tqi_task_at(tx, edge->task);

		if (!edge->told)
			unlink_from_task(tx, e);
		TQI_SET(tx, w->edges, edge->next_of_waiter);
		tqi_task_touch(tx, t);
		TQI_ADD(tx, t->pins, -1);
		if (tqi_state_is_final(t->state))
			tqi_task_settle(tx, edge->task);
		tqi_table_give(tx, TQI_EDGES, e);
	}
	return w->edges == 0;
}

/* True when some are left. */
static bool tell_some(struct tqi_tx *tx, struct tqi_task *t)
{
	for (uint32_t i = 0; i < TELL_SLICE && t->edges && !tx->corrupt; i++) {
		uint32_t e = t->edges;
		struct tqi_edge *edge = tqi_edge_at(tx, e);

		unlink_from_task(tx, e);
		TQI_SET(tx, edge->told, 1u);
		TQI_ADD(tx, tqi_waiter_at(tx, edge->waiter)->told, 1);
		tqi_tx_wake(tx, edge->waiter);
	}
	return t->edges != 0;
}

void tqi_edge_notify(struct tqi_tx *tx, uint32_t task, uint32_t state)
{
	uint32_t e = tqi_task_at(tx, task)->edges;

	for (uint32_t i = 0; i < TELL_SLICE && e && !tx->corrupt; i++) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);

		if (tqi_waiter_at(tx, edge->waiter)->subject >> state & 1)
			tqi_tx_wake(tx, edge->waiter);
		e = edge->next;
	}
}

void tqi_edge_tell(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_task *t = tqi_task_at(tx, task);
	struct tqi_root *root = tqi_root(tx);

	if (!t->edges || !tell_some(tx, t))
		return;
	TQI_SET(tx, t->flags, (uint16_t)(t->flags | TQI_TASK_TELLING));
	TQI_SET(tx, t->next, root->telling);
	TQI_SET(tx, root->telling, task);
}

bool tqi_edge_tell_slice(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t task = root->telling;

	if (!task)
		return false;
	struct tqi_task *t = tqi_task_at(tx, task);

	if (!tell_some(tx, t)) {
		TQI_SET(tx, root->telling, t->next);
		TQI_SET(tx, t->flags, (uint16_t)(t->flags & ~TQI_TASK_TELLING));
		tqi_task_settle(tx, task);
	}
	return root->telling != 0;
}
