/* SPDX-License-Identifier: MIT */
/* New dependencies: of a task that is submitted, or later of one that has not started. */
#include "scheduler/task/depend.h"

#include <errno.h>

#include "scheduler/graph/after.h"
#include "scheduler/graph/blocked.h"
#include "scheduler/graph/cycle.h"
#include "scheduler/graph/edge.h"
#include "scheduler/record/trace.h"
#include "scheduler/task/end.h"
#include "scheduler/task/task.h"

static uint32_t kind_of(const struct tq_dependency *on)
{
	return on->kind ? on->kind : TQ_AFTER_OK;
}

static uint32_t told_of(uint32_t kind, const struct tqi_task *on)
{
	if (!tqi_state_is_final(on->state))
		return TQI_EDGE_OPEN;
	return tqi_after_is_met(kind, on->state) ? TQI_EDGE_TOLD : TQI_EDGE_REFUSED;
}

/* *ret_edge: what it has become; a freed task has ended somehow: 0. */
static int add(struct tqi_tx *tx, uint32_t task, const struct tq_dependency *on, bool refused,
	       uint32_t *ret_edge)
{
	uint32_t kind = kind_of(on), index;
	int r = tqi_task_find(tx, on->id, &index);

	*ret_edge = 0;
	if (r < 0)
		return r == TQ_EGONE && kind == TQ_AFTER_ANY ? 0 : r;
	uint32_t told = told_of(kind, tqi_task_at(tx, index));

	if (told == TQI_EDGE_REFUSED && refused)
		told = TQI_EDGE_TOLD; /* one culprit is enough */
	return tqi_edge_depend(tx, task, index, kind, told, ret_edge);
}

static bool is_repeated(const struct tq_dependency *after, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (after[j].id == after[i].id && kind_of(&after[j]) == kind_of(&after[i]))
			return true;
	return false;
}

int tqi_after_submit(struct tqi_tx *tx, uint32_t task, const struct tq_task_spec *spec,
		     uint64_t *ret_culprit)
{
	uint32_t unmet = 0;

	*ret_culprit = 0;
	for (uint32_t i = 0; i < spec->after_count && !tx->corrupt; i++) {
		uint32_t e;
		int r = is_repeated(spec->after, i)
				? 1
				: add(tx, task, &spec->after[i], *ret_culprit, &e);

		if (r < 0)
			return r;
		if (r || !e)
			continue;
		unmet += tqi_edge_at(tx, e)->told == TQI_EDGE_OPEN;
		if (tqi_edge_at(tx, e)->told == TQI_EDGE_REFUSED)
			*ret_culprit = spec->after[i].id;
	}
	if (unmet)
		TQI_ADD(tx, tqi_task_extra(tx, tqi_task_at(tx, task))->unmet, unmet);
	return 0;
}

void tqi_after_record(struct tqi_tx *tx, uint32_t task)
{
	uint32_t e = tqi_task_extra(tx, tqi_task_at(tx, task))->after, steps = 0;

	while (e && tqi_table_walks(tx, TQI_EDGES, &steps)) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);

		if (edge->told == TQI_EDGE_TOLD)
			tqi_trace_after(tx, task, edge->task);
		e = edge->next_of_waiter;
	}
}

static int find_dependant(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	int r = tqi_task_find(tx, id, ret_index);

	if (r < 0)
		return r;
	const struct tqi_task *task = tqi_task_at(tx, *ret_index);

	return task->state == TQ_RUNNING || tqi_state_is_final(task->state) ||
			       task->first_started_ns || tqi_task_is_condemned(tx, task)
		       ? TQ_ESTATE
		       : 0;
}

static bool depends_already(struct tqi_tx *tx, const struct tqi_extra *extra, uint32_t on,
			    uint32_t kind)
{
	uint32_t steps = 0;

	for (uint32_t e = extra->after; e && tqi_table_walks(tx, TQI_EDGES, &steps);
	     e = tqi_edge_at(tx, e)->next_of_waiter)
		if (tqi_edge_at(tx, e)->task == on && tqi_edge_at(tx, e)->kind == kind)
			return true;
	return false;
}

int tqi_after_add(struct tqi_tx *tx, uint64_t id, uint64_t on, uint32_t kind)
{
	const struct tq_dependency dependency = { .id = on, .kind = kind };
	uint32_t task, other, e;
	int r = find_dependant(tx, id, &task);

	if (r < 0)
		return r;
	r = tqi_task_find(tx, on, &other);
	if (r < 0)
		return r == TQ_EGONE && kind == TQ_AFTER_ANY ? 0 : r;
	struct tqi_task *t = tqi_task_at(tx, task);

	if (tqi_task_at(tx, other)->sequence >= t->sequence)
		return TQ_ECYCLE;
	r = tqi_task_extra_make(tx, t);
	if (r < 0)
		return r;
	const struct tqi_extra *extra = tqi_task_extra(tx, t);

	if (depends_already(tx, extra, other, kind))
		return 0;
	if (extra->after_count >= TQ_DEPENDENCIES_MAX)
		return -E2BIG;
	tqi_task_touch(tx, t);
	r = add(tx, task, &dependency, false, &e);
	if (r < 0)
		return r;
	if (tqi_edge_at(tx, e)->told == TQI_EDGE_OPEN) {
		tqi_task_block(tx, task);
		if (tqi_cycle_blocks(tx, task))
			return TQ_ECYCLE;
	} else if (tqi_edge_at(tx, e)->told == TQI_EDGE_REFUSED) {
		tqi_after_refuse(tx, task, on, false);
	} else {
		tqi_trace_after(tx, task, other);
	}
	return 0;
}
