/* SPDX-License-Identifier: MIT */
/* The end of an attempt: by its owner's verdict, or by the proof of its owner's death. */
#include <string.h>

#include "scheduler/graph/behalf.h"
#include "scheduler/task/claim.h"
#include "scheduler/time/due.h"
#include "scheduler/order/fair.h"
#include "scheduler/graph/group.h"
#include "scheduler/record/history.h"
#include "scheduler/task/kept.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/limit/server.h"
#include "scheduler/task/task.h"
#include "scheduler/record/stream.h"
#include "scheduler/record/trace.h"
#include "shm/inflight.h"
#include "shm/pool.h"
#include "shm/span.h"

/* An ended attempt, before its record goes. */
struct ended {
	uint32_t task;
	uint32_t number;
	uint32_t worker;
	uint64_t started_ns;
	uint32_t cause;
	int32_t cause_arg;
};

/* SV-7: which one it was can be told until the task is ready again. */
static void leave_server(struct tqi_tx *tx, struct tqi_task *task, uint32_t server)
{
	TQI_SET(tx, task->key, tqi_server_mark(tqi_server_at(tx, server), server));
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_SERVED));
	tqi_server_give(tx, server);
}

static void settle_blocks(struct tqi_tx *tx, struct tqi_attempt *attempt, struct tqi_task *task)
{
	if (attempt->payload)
		tqi_block_give(tx, attempt->payload); /* nobody reads it any more */
	tqi_kept_leave(tx, attempt, task);
}

/* Whether its end is about nothing but itself, its task and its worker. */
static inline bool is_plain(const struct tqi_attempt *attempt, const struct tqi_task *task,
			    const struct tqi_worker *worker)
{
	const uint32_t blocks = attempt->checkpoint | attempt->inherited | attempt->payload;

	return !(blocks | attempt->server | attempt->waits) && !attempt->charged_us &&
	       !(task->flags & (TQI_TASK_EXTRA | TQI_TASK_DUE)) &&
	       !(tqi_load_relaxed32(&attempt->progress_index) | worker->output_bytes);
}

/*
 * Unlink and free the attempt's record; the task is on its own then.  `leaves`: it will be
 * freed, too, and nothing is written to it.
 */
TQI_TWICE struct ended detach_as(struct tqi_tx *tx, uint32_t a, struct tqi_attempt *attempt,
				 struct tqi_task *task, struct tqi_worker *worker,
				 struct tqi_stream *stream, uint32_t cause, int32_t cause_arg,
				 bool rare, bool leaves)
{
	const bool first = !attempt->prev, last = !attempt->next;
	struct tqi_attempt *prev = first ? attempt : tqi_attempt_at(tx, attempt->prev);
	struct tqi_attempt *next = last ? attempt : tqi_attempt_at(tx, attempt->next);
	struct ended ended = { attempt->task,	    task->attempts, attempt->worker,
			       attempt->started_ns, cause,	    cause_arg };

	tqi_task_touch(tx, task);
	if (TQI_PLANTED(plain_end) && !rare)
		worker->attempts = attempt->next; /* its entry has the new value */
	TQI_SETS_IF(tx, (first, worker, attempts, attempt->next),
		    (!first, prev, next, attempt->next), (!last, next, prev, attempt->prev),
		    (true, worker, attempt_count, worker->attempt_count - 1),
		    (!leaves, task, attempt, 0), (!leaves, task, cause, cause),
		    (!leaves, task, cause_arg, cause_arg));
	if (rare)
		tqi_behalf_end(tx, a);
	if (rare && worker->output_bytes) /* readers of its output look whether that was the end */
		tx->nudge = &worker->output_word;
	if (rare)
		settle_blocks(tx, attempt, task);
	if (rare && (task->flags & TQI_TASK_EXTRA)) {
		tqi_due_mark_late(tx, task); /* nobody may have looked since */
		tqi_slots_give(tx, tqi_task_extra(tx, task)->limits);
	}
	tqi_stream_time(tx, stream, TQI_TIMED_RUN, attempt->started_ns);
	if (rare && attempt->charged_us)
		tqi_fair_end(tx, task, attempt);
	if (rare && attempt->server)
		leave_server(tx, task, attempt->server);
	if (rare)
		tqi_due_set(tx, ended.task, UINT64_MAX);
	tqi_tx_give(tx, TQI_ATTEMPTS, a, attempt);
	return ended;
}

static struct ended detach(struct tqi_tx *tx, uint32_t a, uint32_t cause, int32_t cause_arg)
{
	struct tqi_attempt *attempt = tqi_attempt_at(tx, a);
	struct tqi_task *task = tqi_task_at(tx, attempt->task);
	struct tqi_worker *worker = tqi_worker_at(tx, attempt->worker);
	struct tqi_stream *stream = tqi_stream_of(tx, task);

	return is_plain(attempt, task, worker) ? detach_as(tx, a, attempt, task, worker, stream,
							   cause, cause_arg, false, false)
					       : detach_as(tx, a, attempt, task, worker, stream,
							   cause, cause_arg, true, false);
}

static void remember(struct tqi_tx *tx, struct tqi_task *task, const struct ended *ended)
{
	const struct tq_attempt_info info = {
		.started_ns = ended->started_ns,
		.ended_ns = tx->now_ns,
		.number = ended->number,
		.worker = ended->worker,
		.worker_pid = tqi_worker_at(tx, ended->worker)->owner.pid,
		.cause = ended->cause,
		.cause_arg = ended->cause_arg,
	};

	tqi_history_add(tx, task, &info);
}

/* In the place of what an earlier attempt has left (HY-1); `block` 0 none. */
static void put_output(struct tqi_tx *tx, struct tqi_task *task, uint32_t block, uint32_t bytes,
		       uint64_t output_bytes, bool is_cut)
{
	tqi_history_take_result(tx, task);
	TQI_SET(tx, task->result, block);
	TQI_SET(tx, task->result_bytes, bytes);
	TQI_SET(tx, task->output_bytes, output_bytes);
	TQI_SET(tx, task->flags,
		(uint16_t)(is_cut ? task->flags | TQI_TASK_CUT : task->flags & ~TQI_TASK_CUT));
}

static void set_result(struct tqi_tx *tx, struct tqi_task *task, const struct tqi_verdict *v)
{
	uint32_t bytes = v->result_bytes, block = 0, cut = 0;
	struct tqi_inflight *entry = v->result_token ? tqi_inflight_get(tx, v->result_token) : NULL;

	if (entry) {
		block = entry->first;
		tqi_inflight_drop(tx, entry);
	} else {
		/* Finishing never fails for want of memory: then less of the tail is kept. */
		tx->spares = TQI_SPARES_HALF;
		while (bytes && !(block = tqi_block_take(tx, bytes))) {
			cut += bytes - bytes / 2;
			bytes /= 2;
		}
		tx->spares = TQI_SPARES_NOTHING;
		if (block)
			memcpy(tqi_unit(tx, block), (const unsigned char *)v->result + cut, bytes);
	}
	put_output(tx, task, block, bytes, v->output_bytes, cut || v->output_bytes > bytes);
}

static void set_outcome(struct tqi_tx *tx, struct tqi_task *task, const struct tqi_verdict *v)
{
	if (v->result_bytes || v->output_bytes || task->result || task->output_bytes ||
	    (task->flags & TQI_TASK_CUT))
		set_result(tx, task, v); /* also to clear what an earlier attempt left */
	if (v->max_rss_bytes)
		TQI_SET(tx, task->max_rss_bytes, v->max_rss_bytes);
	if (v->cpu_ns)
		TQI_SET(tx, task->cpu_ns, v->cpu_ns);
	if (v->text || task->error)
		tqi_task_set_error(tx, task, v->text);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30; /* splitmix64 */
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* E5: uniform in d..2d with d = min(cap, base x 2^(failures-1)). */
static uint64_t backoff(struct tqi_tx *tx, const struct tqi_task *task, uint32_t index)
{
	uint32_t doublings = task->failures ? task->failures - 1u : 0;
	uint64_t d = task->backoff_ns, cap = tqi_task_backoff_cap(task);

	while (doublings-- > 0 && d < cap)
		d *= 2;
	if (d > cap)
		d = cap;
	uint64_t random = mix(tqi_root(tx)->seed ^ mix(tqi_id_make(index, task->generation)) ^
			      task->attempts);

	return d ? d + random % d : 0;
}

/*
 * Back to the queue.  Only here the deadline decides: who succeeded late, or has used
 * up a budget, ends as any other.
 */
static void go_again(struct tqi_tx *tx, const struct ended *ended, uint64_t delay_ns,
		     bool keep_place)
{
	struct tqi_task *task = tqi_task_at(tx, ended->task);

	remember(tx, task, ended);
	if (task->flags & TQI_TASK_LATE) { /* no attempt starts after the deadline */
		tqi_task_finish(tx, ended->task, TQ_EXPIRED, TQ_CAUSE_DEADLINE, 0);
		return;
	}
	TQI_ADD(tx, tqi_stream_of(tx, task)->retried, ended->cause == TQ_CAUSE_RELEASED ? 0 : 1);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags & ~TQI_TASK_STALLED));
	if (delay_ns == 0) {
		tqi_task_move(tx, ended->task, TQ_READY);
		tqi_ready_enter(tx, ended->task, keep_place);
	} else {
		tqi_task_move(tx, ended->task, TQ_DELAYED);
		TQI_SET(tx, task->due_ns, tqi_due_after(tx, delay_ns));
	}
	tqi_due_set(tx, ended->task, tqi_due_of(tx, task));
}

static void end_for_good(struct tqi_tx *tx, const struct ended *ended, uint32_t state)
{
	struct tqi_task *task = tqi_task_at(tx, ended->task);

	if (task->history || ended->number > 1)
		remember(tx, task, ended);
	tqi_task_finish(tx, ended->task, state, ended->cause, ended->cause_arg);
}

static bool total_time_is_over(struct tqi_tx *tx, const struct tqi_task *task)
{
	return task->timeout_total_ns != UINT64_MAX &&
	       tx->now_ns - task->first_started_ns >= task->timeout_total_ns;
}

/* Whoever cancelled it: what ends without success is not tried again. */
static bool is_cancelled(struct tqi_tx *tx, const struct tqi_task *task)
{
	return (task->flags & TQI_TASK_CANCEL) ||
	       task->wait_sequence < tqi_root(tx)->sweep.cancel_before ||
	       ((task->flags & TQI_TASK_EXTRA) && tqi_member_is_condemned(tx, task));
}

/* An attempt that failed, in whatever way; `over`: its budget is used up. */
static void end_failed(struct tqi_tx *tx, struct ended *ended, bool over, uint64_t delay_ns)
{
	const struct tqi_task *task = tqi_task_at(tx, ended->task);

	if (is_cancelled(tx, task)) {
		ended->cause = TQ_CAUSE_CANCELLED;
		ended->cause_arg = 0;
		end_for_good(tx, ended, TQ_CANCELLED);
	} else if (over || (task->flags & TQI_TASK_ONCE) || total_time_is_over(tx, task)) {
		end_for_good(tx, ended, TQ_FAILED);
	} else {
		go_again(tx, ended, delay_ns, false);
	}
}

static void end_by_failure(struct tqi_tx *tx, struct ended *ended, bool fatal)
{
	struct tqi_task *task = tqi_task_at(tx, ended->task);

	TQI_ADD(tx, task->failures, 1);
	end_failed(tx, ended, fatal || task->failures >= task->attempts_max,
		   backoff(tx, task, ended->task));
}

static void end_released(struct tqi_tx *tx, struct ended *ended, uint64_t delay_ns)
{
	const struct tqi_task *task = tqi_task_at(tx, ended->task);

	if ((task->flags & TQI_TASK_ONCE) || is_cancelled(tx, task))
		end_failed(tx, ended, true, 0);
	else
		go_again(tx, ended, delay_ns, true);
}

static void end_by_crash(struct tqi_tx *tx, struct ended *ended)
{
	struct tqi_task *task = tqi_task_at(tx, ended->task);

	TQI_ADD(tx, task->crashes, 1);
	TQI_ADD(tx, tqi_stream_of(tx, task)->crashed, 1);
	end_failed(tx, ended, task->crashes >= task->crashes_max, 0);
}

static void end_by_loss(struct tqi_tx *tx, struct ended *ended)
{
	struct tqi_task *task = tqi_task_at(tx, ended->task);

	TQI_ADD(tx, task->losses, 1);
	TQI_ADD(tx, tqi_stream_of(tx, task)->reclaimed, 1);
	end_failed(tx, ended, task->losses >= task->losses_max, 0);
}

/* It ended because it was asked to: the task's flag, or a budget, decides. */
static void end_stopped(struct tqi_tx *tx, struct ended *ended)
{
	if (ended->cause == TQ_CAUSE_LEASE_LOST)
		end_by_loss(tx, ended);
	else if (ended->cause == TQ_CAUSE_TIMEOUT)
		end_by_failure(tx, ended, false);
	else if (ended->cause == TQ_CAUSE_RELEASED)
		end_released(tx, ended, 0); /* its worker was told to end */
	else
		end_failed(tx, ended, true, 0);
}

/* The verdict on an attempt whose task does not go with it. */
static __attribute__((noinline)) void end_attempt(struct tqi_tx *tx, uint32_t a,
						  const struct tqi_attempt *attempt,
						  const struct tqi_verdict *v)
{
	/* A stop that the attempt obeyed is why it ended; a success is a success. */
	uint32_t stop = v->kind == TQ_VERDICT_FAIL || v->kind == TQ_VERDICT_RELEASE
				? attempt->stop_cause
				: TQ_CAUSE_NONE;
	struct ended ended = detach(tx, a, stop ? stop : v->cause, stop ? 0 : v->cause_arg);

	set_outcome(tx, tqi_task_at(tx, ended.task), v);
	if (v->kind == TQ_VERDICT_DONE)
		end_for_good(tx, &ended, TQ_DONE);
	else if (stop)
		end_stopped(tx, &ended);
	else if (v->kind == TQ_VERDICT_RELEASE)
		end_released(tx, &ended, v->delay_ns);
	else
		end_by_failure(tx, &ended, v->kind == TQ_VERDICT_FATAL);
}

/*
 * Whether its task is done with it, and goes, with all that the verdict would have left in it.
 * There is nothing rare about either of them.
 */
static inline bool takes_task_along(const struct tqi_attempt *attempt, const struct tqi_task *task,
				    const struct tqi_worker *worker, const struct tqi_verdict *v)
{
	return v->kind == TQ_VERDICT_DONE && !v->result_token && tqi_task_goes_at_once(task) &&
	       is_plain(attempt, task, worker);
}

int tqi_end(struct tqi_tx *tx, uint32_t w, uint32_t a, uint64_t id, uint64_t epoch,
	    const struct tqi_verdict *v)
{
	struct tqi_attempt *attempt = tqi_attempt_find(tx, w, a, id, epoch);

	if (!attempt)
		return TQ_ELEASE;
	const uint32_t index = attempt->task;
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	if (!takes_task_along(attempt, task, worker, v)) {
		end_attempt(tx, a, attempt, v);
		return 0;
	}
	struct tqi_stream *stream = tqi_stream_of(tx, task);

	detach_as(tx, a, attempt, task, worker, stream, v->cause, v->cause_arg, false, true);
	tqi_task_leave(tx, index, task, stream, v->cause, v->cause_arg);
	return 0;
}

/* Of the output that a dead worker's command had written, how much is whole. */
static uint32_t whole_output(const struct tqi_worker *worker, const struct tqi_attempt *attempt,
			     uint64_t *ret_head)
{
	const uint64_t head = tqi_load_acquire64(&worker->output_head);

	*ret_head = 0;
	if (worker->output_bytes <= TQI_OUTPUT_CHUNK ||
	    tqi_load_acquire32(&worker->output_serial) != attempt->serial)
		return 0;
	/* It was killed at any moment: perhaps while it overwrote the oldest bytes. */
	const uint32_t whole = worker->output_bytes - TQI_OUTPUT_CHUNK;

	*ret_head = head;
	return head < whole ? (uint32_t)head : whole;
}

static void copy_ring(struct tqi_tx *tx, const struct tqi_worker *worker, uint64_t head,
		      uint32_t bytes, unsigned char *to)
{
	const unsigned char *ring = tqi_unit(tx, worker->output);
	const uint32_t from = (uint32_t)((head - bytes) % worker->output_bytes);
	const uint32_t left = worker->output_bytes - from, first = left < bytes ? left : bytes;

	memcpy(to, ring + from, first);
	memcpy(to + first, ring, bytes - first);
}

/* The tail of it; no memory: nothing. */
static void keep_output(struct tqi_tx *tx, const struct tqi_attempt *attempt)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, attempt->worker);
	struct tqi_task *task = tqi_task_at(tx, attempt->task);
	uint64_t head;
	uint32_t bytes = whole_output(worker, attempt, &head), block = 0;

	if (!bytes && !task->result && !task->output_bytes && !(task->flags & TQI_TASK_CUT))
		return;
	if (bytes && !(block = tqi_block_take(tx, bytes)))
		bytes = 0;
	if (block)
		copy_ring(tx, worker, head, bytes, tqi_unit(tx, block));
	tqi_task_touch(tx, task);
	put_output(tx, task, block, bytes, head, head > bytes);
}

void tqi_end_by_death(struct tqi_tx *tx, uint32_t a, const struct tqi_death *death)
{
	const struct tqi_attempt *attempt = tqi_attempt_at(tx, a);
	uint32_t stop = attempt->stop_cause;
	uint32_t cause = stop ? stop : death->cause;

	tqi_trace_attempt(tx, attempt, TQ_TRACE_RECLAIM, cause, stop ? 0 : death->cause_arg);
	keep_output(tx, attempt);
	struct ended ended = detach(tx, a, cause, stop ? 0 : death->cause_arg);
	struct tqi_task *task = tqi_task_at(tx, ended.task);

	if (cause != TQ_CAUSE_RELEASED)
		TQI_ADD(tx, tqi_root(tx)->reclaimed, 1);
	if (death->max_rss_bytes)
		TQI_SET(tx, task->max_rss_bytes, death->max_rss_bytes);
	if (death->cpu_ns)
		TQI_SET(tx, task->cpu_ns, death->cpu_ns);
	if (stop)
		end_stopped(tx, &ended);
	else if (cause == TQ_CAUSE_RELEASED)
		end_released(tx, &ended, 0);
	else
		end_by_crash(tx, &ended);
}
