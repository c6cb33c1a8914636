/* SPDX-License-Identifier: MIT */
/* Waking. */
#include "scheduler/wake/wake.h"

#include "scheduler/record/serves.h"
#include "scheduler/record/stream.h"
#include "scheduler/wake/asleep.h"
#include "scheduler/wake/sleepers.h"
#include "shm/lock.h"

#define POPS_SLICE 16 /* sleepers popped in one hold: journal space */

static bool is_alive(struct tqi_waiter *s)
{
	return !tqi_mutex_owner_died(&s->mutex);
}

void tqi_wake_for(struct tqi_tx *tx, uint32_t class_)
{
	if (!tx->core->waiter_for_work)
		return;
	const struct tqi_class *class = tqi_class_at(tx, class_);
	uint32_t w = tqi_queue_may_start(tx, tqi_queue_at(tx, class->queue))
			     ? tqi_asleep_for(tx, class)
			     : 0;

	if (w)
		tqi_sleep_pop(tx, w);
}

/* Whether a stream has work; `stuck`: but for what runs, nothing of it can start. */
static bool has_work(const struct tqi_root *root, const struct tqi_stream *stream, bool stuck)
{
	/* What is blocked comes to be startable only by the end of something that runs or can. */
	bool more_to_end = root->running || root->ready;

	return stream->depth[TQ_RUNNING] || (stream->depth[TQ_BLOCKED] && more_to_end) ||
	       (!stuck && (stream->depth[TQ_DELAYED] || stream->depth[TQ_READY] > stream->held));
}

static bool has_tasks(const struct tqi_stream *stream)
{
	return stream->depth[TQ_FREE] | stream->depth[TQ_RUNNING] | stream->depth[TQ_BLOCKED] |
	       stream->depth[TQ_DELAYED] | stream->depth[TQ_READY];
}

/*
 * Of the streams that are busy, and that the worker serves, up to the first one with work.  One
 * without tasks is not looked at again before it gets some: so much walk is paid for.
 */
static bool queue_has_work(struct tqi_tx *tx, const struct tqi_worker *worker,
			   const struct tqi_queue *queue)
{
	for (uint32_t i = 0; i < 4; i++)
		for (uint64_t kinds = queue->busy[i] & worker->kinds[i]; kinds && !tx->corrupt;
		     kinds &= kinds - 1) {
			uint32_t kind = 64 * i + (uint32_t)__builtin_ctzll(kinds);
			struct tqi_stream *stream =
				tqi_stream_at(tx, tqi_stream_find(tx, queue, kind));

			if (has_work(tqi_root(tx), stream, tqi_queue_is_stuck(queue)))
				return true;
			if (!has_tasks(stream) && !tqi_tx_is_filling(tx))
				tqi_stream_rest(tx, stream);
		}
	return false;
}

bool tqi_worker_is_idle(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	const struct tqi_root *root = tqi_root(tx);

	if (root->assigned) /* it may come back, or be stolen */
		return false;
	if (root->telling.first)
		return false;
	/* One may have members that are still shut, or a completion task that is to start. */
	if (root->group.busy || root->group.closing)
		return false;
	for (uint32_t i = 0; i < worker->queue_count && i < TQ_WORKER_QUEUES_MAX; i++)
		if (queue_has_work(tx, worker, tqi_queue_at(tx, worker->queues[i])))
			return false;
	return true;
}

void tqi_wake_empty(struct tqi_tx *tx)
{
	bool shutdown = tqi_root(tx)->flags & TQI_ROOT_SHUTDOWN;
	uint32_t budget = POPS_SLICE; /* each that leaves calls this again */
	struct tqi_sleepers walk;
	uint32_t w;

	if (!tqi_root(tx)->empty_workers && !shutdown)
		return;
	tqi_sleepers_begin(tx, &walk, shutdown ? TQI_SLEEPERS_WORKERS : 1u << TQI_SLEEPERS_EMPTY);
	while (budget && (w = tqi_sleepers_next(tx, &walk))) {
		const struct tqi_worker *worker = tqi_sleepers_worker(tx, tqi_waiter_at(tx, w));

		if (!worker || !tqi_worker_is_idle(tx, worker))
			continue;
		tqi_sleep_pop(tx, w);
		budget = tqi_tx_is_filling(tx) ? 0 : budget - 1;
	}
}

/* A submitter whose queue is full has no use for room elsewhere. */
static bool has_depth(struct tqi_tx *tx, uint32_t q)
{
	return !q || tqi_queue_at(tx, q)->waiting < tqi_queue_at(tx, q)->depth_max;
}

void tqi_wake_room(struct tqi_tx *tx)
{
	uint32_t steps = 0;

	if (!tqi_root(tx)->room_waiters)
		return;
	for (uint32_t w = tx->core->waiter_lists[TQI_INTEREST_ROOM].oldest;
	     w && tqi_table_walks(tx, TQI_WAITERS, &steps);) {
		struct tqi_waiter *s = tqi_waiter_at(tx, w);

		if (is_alive(s) && has_depth(tx, s->subject)) {
			tqi_sleep_pop(tx, w);
			return;
		}
		w = s->list_newer;
	}
}

static void wake_stopper(struct tqi_tx *tx, uint32_t worker)
{
	uint32_t w = tqi_worker_at(tx, worker)->stopper;

	if (w)
		tqi_tx_wake(tx, w);
}

void tqi_wake_master(struct tqi_tx *tx, uint32_t master)
{
	if (master)
		wake_stopper(tx, master);
}

void tqi_wake_worker(struct tqi_tx *tx, uint32_t worker)
{
	uint32_t w = tqi_worker_at(tx, worker)->asleep;

	if (w)
		tqi_tx_wake(tx, w);
}

void tqi_wake_stoppers(struct tqi_tx *tx, uint32_t worker)
{
	wake_stopper(tx, worker);
	tqi_wake_master(tx, tqi_worker_at(tx, worker)->master);
}

static bool is_called(struct tqi_tx *tx, struct tqi_waiter *slot)
{
	(void)tx;
	(void)slot;
	return true;
}

bool tqi_wake_all(struct tqi_tx *tx)
{
	tqi_sleep_call(tx, TQI_SLEEPERS_ALL, POPS_SLICE, is_called);
	return tx->core->waiter_count != 0;
}
