/* SPDX-License-Identifier: MIT */
/* A task lives again, and those that its end has cancelled. */
#include "scheduler/task/revive.h"

#include <errno.h>

#include "scheduler/graph/after.h"
#include "scheduler/graph/edge.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/graph/key.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/order/state.h"
#include "scheduler/record/history.h"
#include "scheduler/record/task_record.h"
#include "scheduler/time/due.h"
#include "scheduler/time/wall.h"
#include "scheduler/worker/step.h"

/* The only attempt of a life that ended with it is in no history yet. */
static void remember_only(struct tqi_tx *tx, struct tqi_task *task)
{
	const struct tq_attempt_info info = {
		.started_ns = task->started_ns,
		.ended_ns = task->ended_ns,
		.number = task->attempts,
		.worker_pid = task->worker_pid,
		.cause = task->cause,
		.cause_arg = task->cause_arg,
	};

	if (task->attempts && !task->history)
		tqi_history_add(tx, task, &info);
}

/* What is done begins at its beginning again; else a new life goes on from the checkpoint. */
static void renew_kept(struct tqi_tx *tx, struct tqi_task *task)
{
	if (task->state == TQ_DONE)
		tqi_task_give_block(tx, &task->kept);
}

static void zero_budgets(struct tqi_tx *tx, struct tqi_task *task)
{
	TQI_SET(tx, task->failures, 0);
	TQI_SET(tx, task->crashes, 0);
	TQI_SET(tx, task->losses, 0);
	TQI_SET(tx, task->first_started_ns, 0u);
	TQI_SET(tx, task->ended_ns, 0u);
	tqi_task_set_flag(tx, task,
			  TQI_TASK_CANCEL | TQI_TASK_STALLED | TQI_TASK_LATE | TQI_TASK_DOOMS,
			  false);
}

/* A new life keeps a deadline that is still ahead; one that has passed went with the old one. */
static void renew_deadline(struct tqi_tx *tx, struct tqi_task *task)
{
	uint64_t deadline = tqi_task_deadline(tx, task);

	if (deadline <= tx->now_ns)
		TQI_SET(tx, tqi_task_extra(tx, task)->deadline_ns, UINT64_MAX);
}

int tqi_steer_renew(struct tqi_tx *tx, uint32_t index, uint32_t unmet)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_task *task = tqi_task_at(tx, index);

	if (!tqi_transition_is_legal(task->state, TQ_READY) || !tqi_state_is_final(task->state))
		return TQ_ESTATE;
	if (root->flags & TQI_ROOT_SHUTDOWN)
		return TQ_ESHUTDOWN;
	if (tqi_queue_at(tx, task->queue)->waiting >= tqi_queue_at(tx, task->queue)->depth_max)
		return TQ_EFULL;
	tqi_inherit_renew(tx, index);
	const struct tqi_place place = tqi_place_of(tx, task);
	uint32_t lane = tqi_lane_join(tx, &place);

	if (!lane || tqi_heap_reserve(tx, &root->time.due, root->unfinished + 1) < 0)
		return -ENOMEM;
	int r = tqi_key_retake(tx, index);

	if (r < 0)
		return r;
	TQI_SET(tx, task->lane, lane); /* the policy may be another one by now */
	tqi_task_unlist(tx, index);
	remember_only(tx, task);
	renew_kept(tx, task);
	zero_budgets(tx, task);
	renew_deadline(tx, task);
	tqi_wall_renew(tx, task);
	if (task->due_ns)
		TQI_SET(tx, task->due_ns, 0u); /* it waits for no time */
	if (unmet)
		TQI_SET(tx, tqi_task_extra(tx, task)->unmet, unmet);
	tqi_task_move(tx, index, unmet ? TQ_BLOCKED : TQ_READY);
	tqi_due_set(tx, index, tqi_due_of(tx, task));
	if (!unmet)
		tqi_ready_enter(tx, index, false);
	tqi_inherit_renewed(tx, index);
	return 0;
}

/*
 * DP-4, DP-5.  What a task that has ended was not told is open again if it can be met still,
 * and all that it has on the one that lives again, 0 none, but nothing on the one with the id
 * `past`, 0 none; what cannot be met is *ret_culprit.
 */
static void reconsider(struct tqi_tx *tx, const struct tqi_extra *extra, uint32_t again,
		       uint64_t past, uint32_t *ret_culprit)
{
	uint32_t steps = 0;

	for (uint32_t e = extra->after; e && tqi_table_walks(tx, TQI_EDGES, &steps);) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);
		uint32_t state = tqi_task_at(tx, edge->task)->state;
		bool final = tqi_state_is_final(state), told = edge->told == TQI_EDGE_TOLD;

		if (told && final && !tqi_after_is_met(edge->kind, state))
			*ret_culprit = e;
		/* Also one that was met: what it came after is being done once more. */
		if (told && !final && (edge->kind == TQ_AFTER_OK || edge->task == again) &&
		    tqi_task_id(tx, edge->task) != past)
			tqi_edge_set(tx, e, TQI_EDGE_OPEN);
		e = edge->next_of_waiter;
		if (tqi_tx_is_filling(tx))
			tqi_step(tx); /* each of them is right by itself */
	}
}

uint32_t tqi_after_retry(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint32_t ignored = 0;

	if (tqi_after_has_any(tx, task)) {
		const struct tqi_extra *extra = tqi_task_extra(tx, task);

		reconsider(tx, extra, 0, extra->culprit, &ignored);
	}
	return tqi_after_reopen(tx, task);
}

int tqi_after_revive(struct tqi_tx *tx, uint32_t e)
{
	struct tqi_edge *edge = tqi_edge_at(tx, e);
	uint32_t index = edge->waiter, culprit = 0;
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_extra *extra = tqi_task_extra(tx, task);

	reconsider(tx, extra, edge->task, 0, &culprit);
	tqi_task_touch(tx, task);
	TQI_SET(tx, edge->told, TQI_EDGE_OPEN); /* it stays on the list that it is on */
	if (culprit) {
		tqi_edge_set(tx, culprit, TQI_EDGE_REFUSED);
		TQI_SET(tx, extra->culprit, tqi_task_id(tx, tqi_edge_at(tx, culprit)->task));
		return 0;
	}
	bool gate = task->edges || (task->flags & TQI_TASK_TELLING);
	int r = tqi_steer_renew(tx, index, tqi_after_reopen(tx, task) + gate);

	if (r == 0 && gate)
		tqi_edge_enlist(tx, index);
	return r;
}
