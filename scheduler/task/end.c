/* SPDX-License-Identifier: MIT */
/* Ends of tasks, and who is told of them. */
#include "scheduler/task/end.h"

#include "scheduler/graph/after.h"
#include "scheduler/graph/blocked.h"
#include "scheduler/graph/edge.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/graph/key.h"
#include "scheduler/graph/settle.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/pass.h"
#include "scheduler/record/stream.h"
#include "scheduler/record/trace.h"
#include "scheduler/record/task_record.h"
#include "scheduler/task/revive.h"
#include "scheduler/time/due.h"
#include "scheduler/time/schedule.h"
#include "scheduler/time/wall.h"
#include "scheduler/worker/step.h"
#include "scheduler/wake/wake.h"

#define TELL_SLICE 32	/* edges gone through in one hold */
#define REVIVE_SLICE 16 /* of those, revived: each has a commit of its own */

/* An edge, off its list, of a task that is final; true: it is refused, and stays. */
static bool decide(struct tqi_tx *tx, uint32_t e)
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
		tqi_member_refused(tx, edge->waiter, tqi_task_id(tx, edge->task), dooms);
	else
		tqi_after_refuse(tx, edge->waiter, tqi_task_id(tx, edge->task), dooms);
	return true;
}

/* ED-3: one that stays. */
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

	tqi_edge_unlink(tx, e);
	if (edge->kind) {
		if (decide(tx, e))
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
	tqi_edge_unlink(tx, e);
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
		tqi_task_touch(tx, t);
		TQI_SET(tx, t->edges, t->prev);
		TQI_SET(tx, t->prev, 0u);
	}
	return true;
}

/* The task is final: tell those who wait for it, as far as there is room; the rest in slices. */
static void tell(struct tqi_tx *tx, uint32_t task)
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
		tqi_edge_append(tx, task);
}

/* The first of the telling list; true when it has left it. */
static bool tell_task(struct tqi_tx *tx, uint32_t *revived)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t task = root->telling.first;
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
	TQI_SET(tx, root->telling.first, t->next);
	if (!t->next)
		TQI_SET(tx, root->telling.last, 0u);
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

	while (root->telling.first && !tx->corrupt && !tqi_tx_is_filling(tx))
		if (!tell_task(tx, &revived))
			break;
	if (!root->telling.first)
		tqi_wake_empty(tx);
	return root->telling.first != 0;
}

/* Whether its end is told to nobody, and there is nothing of it but its block. */
static bool is_plain(const struct tqi_task *task)
{
	return !(task->flags & (TQI_TASK_EXTRA | TQI_TASK_DUE | TQI_TASK_TELLING)) && !task->edges;
}

/* `leaves`: it runs, is done, and goes at once: nothing is written to its record. */
TQI_TWICE void finish(struct tqi_tx *tx, uint32_t index, struct tqi_task *task,
		      struct tqi_stream *stream, uint32_t state, uint32_t cause, int32_t cause_arg,
		      bool rare, bool leaves)
{
	if (rare && tqi_task_is_shut(tx, task))
		tqi_member_show(tx, index);
	if (rare)
		tqi_due_set(tx, index, UINT64_MAX);
	const bool goes = leaves || tqi_task_goes_at_once(task);
	const struct tqi_pass pass = { .from = leaves ? TQ_RUNNING : task->state,
				       .through = state,
				       .to = goes ? TQ_FREE : state,
				       .cause = cause,
				       .cause_arg = cause_arg };
	struct tqi_lane *lane = tqi_lane_at(tx, task->lane);

	if (leaves)
		tqi_pass(tx, index, task, tqi_queue_at(tx, task->queue), stream, lane, &pass,
			 false);
	else
		tqi_task_pass(tx, index, &pass);
	if (tx->corrupt)
		return;
	if (!goes) {
		tqi_task_set_cause(tx, task, cause, cause_arg);
		TQI_SET(tx, task->ended_ns, tx->now_ns);
	}
	if (state == TQ_DONE || state == TQ_FAILED)
		tqi_stream_time(tx, stream, TQI_TIMED_LIFE, task->submitted_ns);
	if (leaves)
		tqi_lane_left(tx, task->lane, lane);
	else
		tqi_lane_leave(tx, task->lane);
	if (!tqi_root(tx)->unfinished && !tqi_root(tx)->untidy)
		TQI_SET(tx, tqi_root(tx)->untidy, 1u);
	if (rare && (task->flags & TQI_TASK_EXTRA)) {
		tqi_wall_ended(tx, task);
		tqi_key_ended(tx, index);
		tqi_schedule_ended(tx, index);
		tqi_inherit_finished(tx, index);
		tqi_blocked_ended(tx, task);
		tqi_member_ended(tx, index);
	}
	if (rare)
		tell(tx, index);
	/* Who serves what runs here has no less to wait for, and others have as much. */
	if ((tqi_root(tx)->empty_workers | (tqi_root(tx)->flags & TQI_ROOT_SHUTDOWN)) &&
	    !stream->depth[TQ_RUNNING])
		tqi_wake_empty(tx);
	if (tqi_root(tx)->room_waiters)
		tqi_wake_room(tx);
	if (leaves)
		tqi_task_give(tx, index, task);
	else
		tqi_task_settle(tx, index);
}

static __attribute__((noinline)) void finish_rare(struct tqi_tx *tx, uint32_t index,
						  struct tqi_task *task, uint32_t state,
						  uint32_t cause, int32_t cause_arg)
{
	finish(tx, index, task, tqi_stream_of(tx, task), state, cause, cause_arg, true, false);
}

void tqi_task_finish(struct tqi_tx *tx, uint32_t index, uint32_t state, uint32_t cause,
		     int32_t cause_arg)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	if (is_plain(task))
		finish(tx, index, task, tqi_stream_of(tx, task), state, cause, cause_arg, false,
		       false);
	else
		finish_rare(tx, index, task, state, cause, cause_arg);
}

void tqi_task_leave(struct tqi_tx *tx, uint32_t index, struct tqi_task *task,
		    struct tqi_stream *stream, uint32_t cause, int32_t cause_arg)
{
	finish(tx, index, task, stream, TQ_DONE, cause, cause_arg, false, true);
}

void tqi_task_cancel_waiting(struct tqi_tx *tx, uint32_t index)
{
	tqi_task_unqueue(tx, index);
	tqi_task_finish(tx, index, TQ_CANCELLED, TQ_CAUSE_CANCELLED, 0);
}

void tqi_task_end_over(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (tqi_task_is_condemned(tx, task)) {
		tqi_task_cancel_waiting(tx, index);
		return;
	}
	tqi_task_unqueue(tx, index);
	if (tqi_task_total_end(task) < tqi_task_deadline(tx, task))
		tqi_task_finish(tx, index, TQ_FAILED, TQ_CAUSE_TIMEOUT, 0);
	else
		tqi_task_finish(tx, index, TQ_EXPIRED, TQ_CAUSE_DEADLINE, 0);
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

void tqi_member_open(struct tqi_tx *tx, uint32_t task)
{
	const struct tqi_task *t = tqi_task_at(tx, task);
	const struct tqi_extra *extra = tqi_task_extra(tx, t);

	tqi_member_show(tx, task);
	if (extra->culprit)
		tqi_after_refuse(tx, task, extra->culprit, t->flags & TQI_TASK_DOOMS);
	else if (tqi_task_is_over(tx, t))
		tqi_task_end_over(tx, task);
	else
		tqi_task_unblock(tx, task);
}
