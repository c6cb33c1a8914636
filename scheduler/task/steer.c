/* SPDX-License-Identifier: MIT */
/* Cancel, hold, retry, forget, update, shut down. */
#include "scheduler/task/steer.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/after.h"
#include "scheduler/time/due.h"
#include "scheduler/record/extra.h"
#include "scheduler/graph/edge.h"
#include "scheduler/order/fair.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/graph/key.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/record/stream.h"
#include "scheduler/worker/stop.h"
#include "scheduler/task/revive.h"
#include "scheduler/task/sweep.h"
#include "scheduler/task/task.h"
#include "scheduler/wake/wake.h"
#include "scheduler/time/wall.h"

static int find_unfinished(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	int r = tqi_task_find(tx, id, ret_index);

	return r == 0 && tqi_state_is_final(tqi_task_at(tx, *ret_index)->state) ? TQ_ESTATE : r;
}

static int cancel_task(struct tqi_tx *tx, uint32_t index, bool dooms)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	if (dooms)
		tqi_task_set_flag(tx, task, TQI_TASK_DOOMS, true); /* its end does the rest */
	if (task->state != TQ_RUNNING) {
		tqi_task_cancel_waiting(tx, index);
		return 0;
	}
	/* Durable: it holds whoever dies meanwhile. */
	tqi_task_set_flag(tx, task, TQI_TASK_CANCEL, true);
	tqi_stop_ask(tx, task->attempt, TQ_CAUSE_CANCELLED);
	return 1;
}

static int cancel(struct tqi_tx *tx, uint64_t id, bool dooms)
{
	uint32_t index;
	int r = find_unfinished(tx, id, &index);

	return r < 0 ? r : cancel_task(tx, index, dooms);
}

int tqi_steer_cancel_task(struct tqi_tx *tx, uint32_t index)
{
	return cancel_task(tx, index, false);
}

int tqi_steer_cancel(struct tqi_tx *tx, uint64_t id)
{
	return cancel(tx, id, false);
}

int tqi_steer_cancel_dependants(struct tqi_tx *tx, uint64_t id)
{
	return cancel(tx, id, true);
}

int tqi_steer_hold(struct tqi_tx *tx, uint64_t id, bool hold)
{
	uint32_t index;
	int r = find_unfinished(tx, id, &index);

	if (r < 0)
		return r;
	struct tqi_task *task = tqi_task_at(tx, index);

	if (!!(task->flags & TQI_TASK_HELD) == hold)
		return 0;
	if (task->state == TQ_READY)
		tqi_ready_leave(tx, index); /* reads the flag: before it changes */
	tqi_task_set_flag(tx, task, TQI_TASK_HELD, hold);
	if (task->state == TQ_READY && hold)
		tqi_ready_reenter(tx, index);
	else if (task->state == TQ_READY)
		tqi_ready_enter(tx, index, false);
	if (hold)
		tqi_wake_empty(tx);
	return 0;
}

/* Finds one for a new life. */
static int find_ended(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	int r = tqi_task_find(tx, id, ret_index);

	if (r < 0)
		return r;
	const struct tqi_task *task = tqi_task_at(tx, *ret_index);

	/* Nor while its end is still being told. */
	return !tqi_state_is_final(task->state) || (task->flags & TQI_TASK_TELLING) ? TQ_ESTATE : 0;
}

int tqi_steer_retry(struct tqi_tx *tx, uint64_t id)
{
	uint32_t index;
	int r = find_ended(tx, id, &index);

	if (r < 0)
		return r;
	return tqi_steer_renew(tx, index, tqi_after_retry(tx, tqi_task_at(tx, index)));
}

/*
 * It is blocked itself until its dependants, whom its list names, are.  Of one that was done
 * these are for its failure, or have been doomed: they stay as they are (DP-5).
 */
int tqi_steer_revive(struct tqi_tx *tx, uint64_t id)
{
	uint32_t index;
	int r = find_ended(tx, id, &index);

	if (r < 0)
		return r;
	struct tqi_task *task = tqi_task_at(tx, index);
	bool gate = task->edges && task->state != TQ_DONE;

	if (gate)
		r = tqi_task_extra_make(tx, task);
	if (r == 0)
		r = tqi_steer_renew(tx, index, tqi_after_retry(tx, task) + gate);
	if (r == 0 && gate)
		tqi_edge_enlist(tx, index);
	return r;
}

int tqi_steer_forget(struct tqi_tx *tx, uint64_t id)
{
	uint32_t index;
	int r = tqi_task_find(tx, id, &index);

	if (r < 0)
		return r;
	struct tqi_task *task = tqi_task_at(tx, index);

	if (!tqi_state_is_final(task->state))
		return TQ_ESTATE;
	tqi_task_unlist(tx, index);
	tqi_task_set_flag(tx, task, TQI_TASK_FORGET, true);
	tqi_task_set_flag(tx, task, TQI_TASK_KEEP, false);
	tqi_task_settle(tx, index); /* at once, or when the last waiter has read it */
	return 0;
}

/* With room reserved as at submission. */
static int change_lane(struct tqi_tx *tx, struct tqi_task *task, const struct tqi_place *place)
{
	uint32_t lane = tqi_lane_join(tx, place);

	if (!lane)
		return -ENOMEM;
	tqi_lane_leave(tx, task->lane);
	TQI_SET(tx, task->lane, lane);
	return 0;
}

/* Another queue or priority: perhaps another lane. */
static int move_lane(struct tqi_tx *tx, struct tqi_task *task, uint32_t q, int32_t priority)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, q);
	const struct tqi_class *class = tqi_class_of(tx, task);

	if (class->queue == q && class->era == queue->era &&
	    class->band == tqi_policy_band(queue, priority))
		return 0;
	struct tqi_place place = tqi_place_of(tx, task);

	place.queue = q;
	place.priority = priority;
	return change_lane(tx, task, &place);
}

/* A task goes from one queue to another: it is counted there from now on, and ends there. */
static void leave_stream(struct tqi_tx *tx, const struct tqi_task *task)
{
	struct tqi_stream *stream = tqi_stream_of(tx, task);

	TQI_ADD(tx, stream->depth[tqi_task_gauge(tx, task)], -1);
	TQI_ADD(tx, stream->moved, 1);
}

static void enter_stream(struct tqi_tx *tx, const struct tqi_task *task)
{
	struct tqi_stream *stream = tqi_stream_of(tx, task);

	TQI_ADD(tx, stream->depth[tqi_task_gauge(tx, task)], 1);
	TQI_ADD(tx, stream->submitted, 1);
	tqi_stream_begin(tx, stream);
}

static int move_queue(struct tqi_tx *tx, struct tqi_task *task, const char *name, int32_t priority)
{
	uint32_t q = tqi_queue_find(tx, name);

	if (!q)
		return -ENOENT;
	if (q == task->queue)
		return 0;
	const uint32_t f = task->queue;
	struct tqi_queue *from = tqi_queue_at(tx, f), *to = tqi_queue_at(tx, q);

	if (to->flags & TQI_QUEUE_DRAINING)
		return TQ_EDRAINING;
	if (to->waiting >= to->depth_max)
		return TQ_EFULL;
	int r = tqi_key_move(tx, task, q);
	uint32_t tenant = tqi_tenant_of(tx, task);

	if (r == 0)
		r = tqi_tenant_move(tx, task, q);
	if (r == 0 && !tqi_stream_join(tx, q, task->kind))
		r = -ENOMEM;
	if (r < 0)
		return r;
	if (move_lane(tx, task, q, priority) < 0)
		return -ENOMEM;
	tqi_tenant_leave(tx, tenant);
	if (task->wait_sequence >= from->purge_before)
		TQI_ADD(tx, from->waiting, -1);
	TQI_ADD(tx, to->waiting, 1);
	leave_stream(tx, task);
	TQI_SET(tx, task->queue, (uint16_t)q);
	enter_stream(tx, task);
	TQI_SET(tx, task->wait_sequence, tqi_root(tx)->sequence);
	tqi_wake_room_in(tx, f);
	tqi_wake_empty(tx);
	return 0;
}

/* Queue first: with the priority that it is to have there. */
static int set_place(struct tqi_tx *tx, struct tqi_task *task, const struct tq_task_update *update)
{
	bool has_priority = update->fields & TQ_UPDATE_PRIORITY;
	uint32_t queue = task->queue;

	if (has_priority)
		TQI_SET(tx, task->priority, update->priority);
	int32_t priority = tqi_worth_of(tx, task).priority;
	int r = update->fields & TQ_UPDATE_QUEUE ? move_queue(tx, task, update->queue, priority)
						 : 0;

	if (r == 0 && has_priority && task->queue == queue)
		r = move_lane(tx, task, queue, priority);
	return r;
}

/*
 * It stands in no heap, so it goes from lane to lane as it does to another queue.  Those that
 * it named are left last: parkings of its lane name them until then.
 */
static int set_limits(struct tqi_tx *tx, struct tqi_task *task, const struct tq_task_update *update)
{
	uint32_t joined[TQ_LIMITS_MAX], left[TQ_LIMITS_MAX];
	int r = update->limit_count ? tqi_task_extra_make(tx, task) : 0;

	if (r < 0 || !(task->flags & TQI_TASK_EXTRA))
		return r; /* without them it had no limits */
	uint32_t *limits = tqi_task_extra(tx, task)->limits;

	r = tqi_limits_join(tx, update->limits, update->limit_weights, update->limit_count, joined);
	if (r < 0)
		return r;
	memcpy(left, limits, sizeof(left));
	for (uint32_t i = 0; i < TQ_LIMITS_MAX; i++)
		if (limits[i] != joined[i])
			TQI_SET(tx, limits[i], joined[i]);
	const struct tqi_place place = tqi_place_of(tx, task);

	r = change_lane(tx, task, &place);
	if (r == 0)
		tqi_limits_leave(tx, left);
	return r;
}

static void set_delay(struct tqi_tx *tx, struct tqi_task *task, uint32_t index, uint64_t delay_ns)
{
	TQI_SET(tx, task->due_ns, tqi_due_after(tx, delay_ns));
	tqi_wall_cancel(tx, task); /* from now, instead of an appointment */
	if (task->state == TQ_READY) /* a blocked one stays so, and is delayed then */
		tqi_task_move(tx, index, TQ_DELAYED);
}

/* A time that has passed is no hindrance; one that is ahead is for a blocked one's turn, too. */
static int set_appointment(struct tqi_tx *tx, struct tqi_task *task, uint32_t index, uint64_t at_ns)
{
	struct tqi_extra *extra = tqi_task_extra(tx, task);

	if (!extra->at_ns && tqi_wall_reserve(tx) < 0)
		return -ENOMEM;
	TQI_SET(tx, extra->at_ns, at_ns);
	bool ahead = tqi_wall_is_ahead(tx, task);

	TQI_SET(tx, task->due_ns, ahead ? UINT64_MAX : 0);
	if (ahead && task->state == TQ_READY)
		tqi_task_move(tx, index, TQ_DELAYED);
	else if (!ahead && task->state == TQ_DELAYED)
		tqi_task_move(tx, index, TQ_READY);
	return 0;
}

static void set_deadline(struct tqi_tx *tx, struct tqi_task *task, uint64_t deadline_ns)
{
	TQI_SET(tx, tqi_task_extra(tx, task)->deadline_ns,
		deadline_ns == TQ_UNLIMITED ? UINT64_MAX : tqi_due_after(tx, deadline_ns));
	if (task->flags & TQI_TASK_LATE)
		tqi_task_set_flag(tx, task, TQI_TASK_LATE, false); /* for the one before */
}

/* When it is to start, and to end.  -ENOMEM. */
static int set_times(struct tqi_tx *tx, struct tqi_task *task, uint32_t index,
		     const struct tq_task_update *update)
{
	int r = 0;

	if (update->fields & TQ_UPDATE_DELAY)
		set_delay(tx, task, index, update->delay_ns);
	if (update->fields & (TQ_UPDATE_AT | TQ_UPDATE_DEADLINE))
		r = tqi_task_extra_make(tx, task);
	if (r == 0 && (update->fields & TQ_UPDATE_DEADLINE))
		set_deadline(tx, task, update->deadline_ns);
	if (r == 0 && (update->fields & TQ_UPDATE_AT))
		r = set_appointment(tx, task, index, update->at_ns);
	return r;
}

/* What is taken into account when it has started, and its label. */
static int set_settings(struct tqi_tx *tx, struct tqi_task *task,
			const struct tq_task_update *update)
{
	if (update->fields & TQ_UPDATE_ATTEMPTS)
		TQI_SET(tx, task->attempts_max, (uint16_t)update->attempts_max);
	if (update->fields & TQ_UPDATE_TIMEOUT)
		TQI_SET(tx, task->timeout_ns, update->timeout_ns);
	if (update->fields & TQ_UPDATE_TIMEOUT_TOTAL)
		TQI_SET(tx, task->timeout_total_ns, update->timeout_total_ns);
	if (!(update->fields & TQ_UPDATE_LABEL))
		return 0;
	const char *label = update->label ? update->label : "";

	return tqi_task_relabel(tx, task, label, (uint8_t)strnlen(label, TQ_LABEL_MAX));
}

int tqi_steer_update(struct tqi_tx *tx, uint64_t id, const struct tq_task_update *update)
{
	uint32_t index;
	int r = tqi_task_find(tx, id, &index);

	if (r < 0)
		return r;
	struct tqi_task *task = tqi_task_at(tx, index);

	if (task->state == TQ_RUNNING || tqi_state_is_final(task->state) ||
	    tqi_task_is_condemned(tx, task))
		return TQ_ESTATE;
	const struct tqi_worth before = tqi_worth_of(tx, task);
	bool keeps_place = task->state == TQ_READY && !(update->fields & TQ_UPDATE_PRIORITY);

	tqi_task_touch(tx, task);
	tqi_task_unqueue(tx, index);
	r = set_settings(tx, task, update);
	if (r == 0)
		r = set_place(tx, task, update);
	if (r == 0 && (update->fields & TQ_UPDATE_LIMITS))
		r = set_limits(tx, task, update);
	if (r == 0)
		r = set_times(tx, task, index, update);
	if (r == 0 && (update->fields & (TQ_UPDATE_PRIORITY | TQ_UPDATE_DEADLINE)))
		r = tqi_inherit_changed(tx, index, &before);
	if (r < 0)
		return r;
	tqi_due_set(tx, index, tqi_due_of(tx, task));
	if (task->state == TQ_DELAYED && task->due_ns == UINT64_MAX)
		tqi_wall_enter(tx, index);
	if (task->state == TQ_READY)
		tqi_ready_enter(tx, index, keeps_place);
	return 0;
}

void tqi_steer_shutdown(struct tqi_tx *tx, uint32_t flags)
{
	struct tqi_root *root = tqi_root(tx);

	if (flags & TQ_SHUTDOWN_UNDO) {
		TQI_SET(tx, root->flags, root->flags & ~(TQI_ROOT_SHUTDOWN | TQI_ROOT_CANCEL));
		tqi_group_close_none(tx);
		return;
	}
	TQI_SET(tx, root->flags, root->flags | TQI_ROOT_SHUTDOWN);
	tqi_group_close_all(tx);
	if (flags & TQ_SHUTDOWN_CANCEL) {
		TQI_SET(tx, root->flags, root->flags | TQI_ROOT_CANCEL);
		TQI_ADD(tx, root->sequence, 1);
		TQI_SET(tx, root->sweep.cancel_before, root->sequence);
		tqi_sweep_start(tx);
	}
	tqi_wake_empty(tx);
}

void tqi_steer_destroy(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);

	TQI_SET(tx, root->flags, root->flags | TQI_ROOT_SHUTDOWN | TQI_ROOT_DESTROYED);
}
