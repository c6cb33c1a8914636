/* SPDX-License-Identifier: MIT */
/* Dependencies. */
#include "scheduler/graph/after.h"

#include <errno.h>

#include "scheduler/graph/blocked.h"
#include "scheduler/graph/cycle.h"
#include "scheduler/time/due.h"
#include "scheduler/graph/edge.h"
#include "scheduler/graph/group.h"
#include "scheduler/worker/step.h"
#include "scheduler/task/steer.h"
#include "scheduler/task/task.h"
#include "scheduler/record/trace.h"
#include "scheduler/time/wall.h"

static uint64_t id_of(struct tqi_tx *tx, uint32_t index)
{
	return tqi_id_make(index, tqi_task_at(tx, index)->generation);
}

bool tqi_after_is_met(uint32_t kind, uint32_t state)
{
	if (kind == TQ_AFTER_ANY)
		return true;
	return (state == TQ_DONE) == (kind == TQ_AFTER_OK);
}

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
	for (uint32_t e = tqi_task_extra(tx, tqi_task_at(tx, task))->after; e && !tx->corrupt;) {
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
	for (uint32_t e = extra->after; e && !tx->corrupt; e = tqi_edge_at(tx, e)->next_of_waiter)
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

void tqi_after_refuse(struct tqi_tx *tx, uint32_t index, uint64_t culprit, bool dooms)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	tqi_task_touch(tx, task);
	TQI_SET(tx, tqi_task_extra(tx, task)->culprit, culprit);
	if (dooms)
		TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_DOOMS));
	tqi_task_unqueue(tx, index);
	tqi_task_finish(tx, index, TQ_CANCELLED, TQ_CAUSE_DEPENDENCY, 0);
}

bool tqi_after_decide(struct tqi_tx *tx, uint32_t e)
{
	struct tqi_edge *edge = tqi_edge_at(tx, e);
	const struct tqi_task *task = tqi_task_at(tx, edge->task);
	const struct tqi_task *dependant = tqi_task_at(tx, edge->waiter);
	bool dooms = task->flags & TQI_TASK_DOOMS;
	bool is_met = !dooms && tqi_after_is_met(edge->kind, task->state);

	if (edge->told == TQI_EDGE_REFUSED) /* by an earlier end */
		return true;
	if (tqi_state_is_final(dependant->state)) {
		TQI_SET(tx, edge->told, TQI_EDGE_TOLD);
		return false;
	}
	if (is_met || tqi_member_is_refused(tx, dependant)) {
		TQI_SET(tx, edge->told, TQI_EDGE_TOLD);
		if (is_met)
			tqi_trace_after(tx, edge->waiter, edge->task);
		tqi_task_unblock(tx, edge->waiter);
		return false;
	}
	TQI_SET(tx, edge->told, TQI_EDGE_REFUSED);
	if (tqi_member_is_hidden(tx, dependant))
		tqi_member_refused(tx, edge->waiter, id_of(tx, edge->task), dooms);
	else
		tqi_after_refuse(tx, edge->waiter, id_of(tx, edge->task), dooms);
	return true;
}

uint32_t tqi_after_reopen(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint32_t unmet = 0;

	if (!tqi_after_has_any(tx, task))
		return 0;
	for (uint32_t e = tqi_task_extra(tx, task)->after; e && !tx->corrupt;) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);

		unmet += edge->told == TQI_EDGE_OPEN;
		if (edge->told == TQI_EDGE_REFUSED)
			tqi_edge_set(tx, e, TQI_EDGE_TOLD);
		e = edge->next_of_waiter;
	}
	return unmet;
}

/*
 * D5.  What a task that has ended was not told is open again if it can be met still, and all
 * that it has on the one that lives again; what cannot be met is *ret_culprit.
 */
static void reconsider(struct tqi_tx *tx, const struct tqi_extra *extra, uint32_t again,
		       uint32_t *ret_culprit)
{
	for (uint32_t e = extra->after; e && !tx->corrupt;) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);
		uint32_t state = tqi_task_at(tx, edge->task)->state;
		bool final = tqi_state_is_final(state), told = edge->told == TQI_EDGE_TOLD;

		if (told && final && !tqi_after_is_met(edge->kind, state))
			*ret_culprit = e;
		/* Had it been met, that task were done, and had no new life. */
		if (told && !final && (edge->kind == TQ_AFTER_OK || edge->task == again))
			tqi_edge_set(tx, e, TQI_EDGE_OPEN);
		e = edge->next_of_waiter;
		if (tqi_tx_is_filling(tx))
			tqi_step(tx); /* each of them is right by itself */
	}
}

int tqi_after_revive(struct tqi_tx *tx, uint32_t e)
{
	struct tqi_edge *edge = tqi_edge_at(tx, e);
	uint32_t index = edge->waiter, culprit = 0;
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_extra *extra = tqi_task_extra(tx, task);

	reconsider(tx, extra, edge->task, &culprit);
	tqi_task_touch(tx, task);
	TQI_SET(tx, edge->told, TQI_EDGE_OPEN); /* it stays on the list that it is on */
	if (culprit) {
		tqi_edge_set(tx, culprit, TQI_EDGE_REFUSED);
		TQI_SET(tx, extra->culprit, id_of(tx, tqi_edge_at(tx, culprit)->task));
		return 0;
	}
	bool gate = task->edges || (task->flags & TQI_TASK_TELLING);
	int r = tqi_steer_renew(tx, index, tqi_after_reopen(tx, task) + gate);

	if (r == 0 && gate)
		tqi_edge_enlist(tx, index);
	return r;
}

bool tqi_after_has_any(struct tqi_tx *tx, const struct tqi_task *task)
{
	return (task->flags & TQI_TASK_EXTRA) && tqi_task_extra(tx, task)->after;
}

bool tqi_after_must_release(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_after_has_any(tx, task) && ((task->flags & TQI_TASK_FORGET) ||
					       !tqi_after_keeps(task, tqi_task_extra(tx, task)));
}

bool tqi_after_discard(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (!tqi_after_has_any(tx, task))
		return true;
	struct tqi_extra *extra = tqi_task_extra(tx, task);

	while (extra->after && !tx->corrupt && !tqi_tx_is_filling(tx)) {
		uint32_t e = extra->after;

		TQI_SET(tx, extra->after, tqi_edge_at(tx, e)->next_of_waiter);
		TQI_ADD(tx, extra->after_count, -1);
		if (extra->unmet && tqi_edge_at(tx, e)->told == TQI_EDGE_OPEN)
			TQI_ADD(tx, extra->unmet, -1); /* of one that is undone, in slices */
		tqi_edge_free(tx, e);
	}
	return extra->after == 0;
}

bool tqi_after_release(struct tqi_tx *tx, uint32_t index)
{
	return !tqi_after_must_release(tx, tqi_task_at(tx, index)) || tqi_after_discard(tx, index);
}
