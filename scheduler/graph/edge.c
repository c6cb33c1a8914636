/* SPDX-License-Identifier: MIT */
/* Edges between waiters and tasks. */
#include "scheduler/graph/edge.h"

#include <errno.h>

#include "scheduler/graph/inherit.h"
#include "scheduler/graph/settle.h"
#include "scheduler/record/task_record.h"
#include "shm/list.h"

TQI_LINKS(links_of, tqi_edge_at, tqi_edge, prev, next)

static inline struct tqi_list list_from(uint32_t *first)
{
	return (struct tqi_list){ links_of, first, NULL };
}

/* Sleepers are in front of dependants, nearly always: they are told first. */
void tqi_edge_link(struct tqi_tx *tx, uint32_t e)
{
	struct tqi_edge *edge = tqi_edge_at(tx, e);
	struct tqi_task *t = tqi_task_at(tx, edge->task);
	uint32_t head = t->edges;
	uint32_t prev = head && edge->kind && !tqi_edge_at(tx, head)->kind ? head : 0;
	uint32_t next = prev ? tqi_edge_at(tx, prev)->next : head;

	tqi_task_touch(tx, t);
	tqi_list_put(tx, list_from(&t->edges), e, prev, next);
}

void tqi_edge_unlink(struct tqi_tx *tx, uint32_t e)
{
	const struct tqi_edge *edge = tqi_edge_at(tx, e);
	struct tqi_task *t = tqi_task_at(tx, edge->task);

	tqi_inherit_unlinked(tx, e);
	tqi_task_touch(tx, t);
	tqi_list_remove(tx, list_from(t->edges == e ? &t->edges : &t->prev), e); /* ED-3 */
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
		tqi_edge_link(tx, e);
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
		tqi_edge_unlink(tx, e);
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
		tqi_edge_link(tx, e);
	else if (was != TQI_EDGE_TOLD && told == TQI_EDGE_TOLD)
		tqi_edge_unlink(tx, e);
}
