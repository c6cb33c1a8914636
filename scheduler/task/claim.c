/* SPDX-License-Identifier: MIT */
/* Starting attempts. */
#include "scheduler/task/claim.h"

#include <errno.h>

#include "scheduler/order/assign.h"
#include "scheduler/worker/command.h"
#include "scheduler/time/due.h"
#include "scheduler/order/fair.h"
#include "scheduler/graph/key.h"
#include "scheduler/order/lane.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/pass.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/record/stream.h"
#include "scheduler/limit/server.h"
#include "scheduler/task/task.h"

/* A free record: plain stores (TX-3), and its words start anew. */
static inline void fill_attempt(struct tqi_tx *tx, struct tqi_attempt *attempt, uint32_t index,
				const struct tqi_task *task, uint32_t w,
				const struct tqi_worker *worker, bool rare)
{
	TQI_INIT(attempt->task, index);
	TQI_INIT(attempt->id, tqi_id_make(index, task->generation));
	TQI_INIT(attempt->epoch, task->epoch + 1);
	TQI_INIT(attempt->worker, w);
	TQI_INIT(attempt->prev, 0);
	TQI_INIT(attempt->next, worker->attempts);
	TQI_INIT(attempt->serial, (uint32_t)worker->tasks + 1);
	TQI_INIT(attempt->started_ns, tx->now_ns);
	TQI_INIT(attempt->phase, TQI_PHASE_NONE);
	TQI_INIT(attempt->phase_ns, 0);
	TQI_INIT(attempt->stop_cause, TQ_CAUSE_NONE);
	TQI_INIT(attempt->checkpoint, 0);
	TQI_INIT(attempt->inherited, rare ? task->kept : 0);
	if (rare)
		TQI_INIT(attempt->inherited_bytes, task->kept_bytes);
	TQI_INIT(attempt->charged_us, 0);
	TQI_INIT(attempt->waits, 0);
	TQI_INIT(attempt->payload, 0);
	tqi_store_relaxed64(&attempt->pgid_start, 0);
	tqi_store_relaxed32(&attempt->pgid, 0);
	tqi_store_relaxed32(&attempt->progress_index, 0);
	tqi_store_relaxed64(&attempt->saved, 0);
}

static bool is_watched(const struct tqi_task *task)
{
	return (task->timeout_ns & task->timeout_total_ns & task->progress_timeout_ns) !=
	       UINT64_MAX;
}

/* Whether its start is about nothing but itself, its queue's counters and its worker. */
static bool is_plain(const struct tqi_task *task, const struct tqi_queue *queue)
{
	return !(task->flags & TQI_TASK_EXTRA) && !(task->kept | task->edges) &&
	       !is_watched(task) && !(queue->flags & (TQI_QUEUE_SERVED | TQI_QUEUE_SHARED));
}

/* LM-10: it lacks places, which come together from now on. */
static bool gathers(struct tqi_tx *tx, const struct tqi_task *task)
{
	const uint32_t *limits = tqi_limits_of(tx, task);

	return limits && tqi_limits_gather(tx, limits);
}

/* H2: whether a limit or its queue's servers were full since it became ready (LM-9, SV-9). */
static bool was_throttled(struct tqi_tx *tx, const struct tqi_task *task,
			  const struct tqi_queue *queue)
{
	const uint32_t *limits = tqi_limits_of(tx, task);

	return tqi_queue_was_full(tx, queue, task->ready_ns) ||
	       (limits && tqi_limits_were_full(tx, limits, task->ready_ns));
}

TQI_TWICE void start(struct tqi_tx *tx, uint32_t w, struct tqi_worker *worker, uint32_t a,
		     struct tqi_attempt *attempt, struct tqi_attempt *newest, uint32_t index,
		     struct tqi_task *task, struct tqi_queue *queue, struct tqi_lane *lane,
		     struct tqi_class *class, bool rare)
{
	struct tqi_stream *stream = tqi_stream_of(tx, task);
	const struct tqi_pass starts = { TQ_READY, TQ_RUNNING, TQ_RUNNING, w, 0, 0 };

	tqi_task_touch(tx, task);
	tqi_ready_leave_lane(tx, index, task, lane, class);
	fill_attempt(tx, attempt, index, task, w, worker, rare);
	TQI_INIT(attempt->server, rare ? tqi_server_take(tx, task->queue) : 0);
	if (TQI_PLANTED(plain_claim) && !rare)
		task->attempt = a; /* its entry has the new value */
	TQI_SETS_IF(tx, (true, task, epoch, task->epoch + 1),
		    (true, task, attempts, task->attempts + 1),
		    (true, task, started_ns, tx->now_ns),
		    (!task->first_started_ns, task, first_started_ns, tx->now_ns),
		    (true, task, attempt, a), (true, task, worker_pid, worker->owner.pid),
		    (rare && task->kept, task, kept, 0), /* the attempt's now */
		    (newest != NULL, newest, prev, a), (true, worker, attempts, a),
		    (true, worker, attempt_count, worker->attempt_count + 1),
		    (true, worker, tasks, worker->tasks + 1));
	if (rare)
		tqi_task_move(tx, index, TQ_RUNNING);
	else
		tqi_pass(tx, index, task, queue, stream, NULL, &starts, false);
	if (rare && (is_watched(task) || (task->flags & TQI_TASK_EXTRA)))
		tqi_due_set(tx, index, tqi_due_of(tx, task));
	if (rare && was_throttled(tx, task, queue))
		TQI_ADD(tx, stream->throttled, 1);
	if (rare && (task->flags & TQI_TASK_EXTRA)) {
		tqi_key_started(tx, index);
		tqi_slots_take(tx, tqi_task_extra(tx, task)->limits);
	}
	if (rare && class->tenant)
		TQI_INIT(attempt->charged_us, tqi_fair_begin(tx, class));
	tqi_stream_time(tx, stream, TQI_TIMED_WAIT, task->ready_ns);
}

/* False: it cannot start now, and the attempt's record has been given back. */
static __attribute__((noinline)) bool start_rare(struct tqi_tx *tx, uint32_t w, uint32_t a,
						 struct tqi_attempt *newest, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_lane *lane = tqi_lane_at(tx, task->lane);

	if (gathers(tx, task)) {
		tqi_table_give(tx, TQI_ATTEMPTS, a);
		return false;
	}
	start(tx, w, tqi_worker_at(tx, w), a, tqi_attempt_at(tx, a), newest, index, task,
	      tqi_queue_at(tx, task->queue), lane, tqi_class_at(tx, lane->class_), true);
	return true;
}

/* What is assigned to it; else the best there is; else what it can steal; 0 none. */
static uint32_t next(struct tqi_tx *tx, uint32_t w, const struct tqi_worker *worker,
		     struct tqi_turn *ret_turn)
{
	uint32_t index = worker->assigned ? tqi_assigned_next(tx, w) : 0;

	if (index) {
		*ret_turn = (struct tqi_turn){ .queue = 0 };
		return index;
	}
	index = tqi_ready_choose(tx, worker, ret_turn);
	if (!index && !ret_turn->is_unsettled && tqi_root(tx)->assigned)
		index = tqi_steal(tx, w);
	return index;
}

/* The best task that may start. */
static inline int choose(struct tqi_tx *tx, uint32_t w, const struct tqi_worker *worker,
			 uint32_t *ret_index, struct tqi_task **ret_task, struct tqi_turn *ret_turn)
{
	for (uint32_t i = 0; i < TQI_CLAIM_OVER; i++) {
		uint32_t index = next(tx, w, worker, ret_turn);

		*ret_index = index;
		if (!index)
			return ret_turn->is_unsettled ? -EALREADY : -EAGAIN;
		*ret_task = tqi_task_at(tx, index);
		if (!tqi_task_is_over(tx, *ret_task))
			return 0;
		if (tqi_tx_is_filling(tx))
			break;
		tqi_task_end_over(tx, index);
	}
	return -EINPROGRESS;
}

/* Of another tenant, if any. */
static __attribute__((noinline)) const struct tqi_class *next_tenants(struct tqi_tx *tx,
								      const struct tqi_class *class)
{
	uint32_t other = tqi_tag_index(
		tqi_heap_second(tx, &tqi_stream_by(tx, class->queue, class->kind)->tenants));

	return other ? tqi_class_at(tx, other) : class;
}

/* The class that is claimed from next, if nothing else happens: in a fair queue another tenant's. */
static const struct tqi_class *next_class(struct tqi_tx *tx, const struct tqi_class *class)
{
	return class->tenant ? next_tenants(tx, class) : class;
}

/*
 * What is likely to be claimed next is in no cache, among many: it is loaded while this
 * one runs.
 */
static void fetch_next(struct tqi_tx *tx, const struct tqi_class *of)
{
	const struct tqi_class *class = next_class(tx, of);

	if (!class->open.length)
		return;
	const uint32_t l = tqi_tag_index(class->open.root.tag);
	struct tqi_lane *lane = tqi_lane_at(tx, l);

	if (class->tenant)
		tqi_table_fetch(tx->seg, TQI_TENANTS, class->tenant);
	if (lane->behind && lane->tasks.length == 1)
		return; /* its first was behind another one: tqi_run_next() */
	tqi_table_fetch(tx->seg, TQI_TASKS, tqi_lane_first(tx, l, TQI_BY_KEY));
	tqi_heap_fetch(tx, &lane->tasks);
}

int tqi_claim(struct tqi_tx *tx, uint32_t w, struct tqi_claimed *ret_claimed)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);
	struct tqi_task *task;
	struct tqi_turn turn;
	uint32_t index;
	bool full;

	if (tqi_command_may_wait(tqi_root(tx), worker) && tqi_command_take(tx, w))
		return TQ_ECOMMAND;
	if (worker->attempt_count >= TQ_CLAIMS_MAX)
		return TQ_EFULL;
	int r = choose(tx, w, worker, &index, &task, &turn);

	if (r < 0)
		return r;
	/* Mostly the record that was taken last: looked up before the next one is. */
	struct tqi_attempt *newest = worker->attempts ? tqi_attempt_at(tx, worker->attempts) : NULL;
	uint32_t a = tqi_table_take(tx, TQI_ATTEMPTS, &full);

	if (!a)
		return full ? TQ_EFULL : -ENOMEM;
	struct tqi_attempt *attempt = tqi_attempt_at(tx, a);
	struct tqi_queue *queue = tqi_queue_at(tx, task->queue);
	struct tqi_lane *lane = tqi_lane_at(tx, task->lane);
	struct tqi_class *class = tqi_class_at(tx, lane->class_);

	if (is_plain(task, queue))
		start(tx, w, worker, a, attempt, newest, index, task, queue, lane, class, false);
	else if (!start_rare(tx, w, a, newest, index))
		return -EINPROGRESS; /* others may start meanwhile */
	if (turn.queue)
		tqi_ready_take_turn(tx, &turn);
	if (queue->batch > 1 && !worker->assigned)
		tqi_assign(tx, w, task->queue);
	uint64_t timeout = task->flags & TQI_TASK_DUE ? tqi_due_of_attempt(tx, task) : UINT64_MAX;

	fetch_next(tx, class);
	*ret_claimed = (struct tqi_claimed){
		.attempt = a,
		.task = index,
		.id = tqi_id_make(index, task->generation),
		.timeout_at_ns = timeout > INT64_MAX ? 0 : timeout,
		.of = task,
		.as = attempt,
	};
	return 0;
}
