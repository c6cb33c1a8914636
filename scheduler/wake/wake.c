/* SPDX-License-Identifier: MIT */
/* Waking. */
#include "scheduler/wake/wake.h"

#include "scheduler/record/serves.h"
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

/* Whether a kind has work of a queue; `stuck`: but for what runs, nothing of it can start. */
static bool stream_has_work(struct tqi_tx *tx, const struct tqi_worker *worker,
			    const struct tqi_queue *queue, bool stuck)
{
	/* What is blocked comes to be startable only by the end of something that runs or can. */
	bool more_to_end = tqi_root(tx)->running || tqi_root(tx)->ready;
	uint32_t steps = 0;

	for (uint32_t s = queue->streams; s && tqi_table_walks(tx, TQI_STREAMS, &steps);) {
		const struct tqi_stream *stream = tqi_stream_at(tx, s);

		s = stream->next;
		if (tqi_worker_serves_kind(worker, stream->kind) &&
		    (stream->depth[TQ_RUNNING] || (stream->depth[TQ_BLOCKED] && more_to_end) ||
		     (!stuck && (stream->depth[TQ_DELAYED] || stream->tenant_ready))))
			return true;
	}
	return false;
}

/* Whether a task of the queue's own classes is ready, be it held back by a limit. */
static bool class_has_work(struct tqi_tx *tx, const struct tqi_worker *worker,
			   const struct tqi_queue *queue)
{
	for (uint32_t e = 0, steps = 0; e < 2; e++)
		for (uint32_t c = queue->chains[e].first;
		     c && tqi_table_walks(tx, TQI_CLASSES, &steps);) {
			const struct tqi_class *class = tqi_class_at(tx, c);

			c = class->next;
			if (tqi_worker_serves_kind(worker, class->kind) &&
			    (class->open.length || class->parked))
				return true;
		}
	return false;
}

bool tqi_worker_is_idle(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	const struct tqi_root *root = tqi_root(tx);

	if (root->assigned) /* it may come back, or be stolen */
		return false;
	if (root->telling)
		return false;
	/* One may have members that are still shut, or a completion task that is to start. */
	if (root->groups_busy || root->groups_closing)
		return false;
	for (uint32_t i = 0; i < worker->queue_count && i < TQ_WORKER_QUEUES_MAX; i++) {
		const struct tqi_queue *queue = tqi_queue_at(tx, worker->queues[i]);
		bool stuck = tqi_queue_is_stuck(queue);

		if (stream_has_work(tx, worker, queue, stuck) ||
		    (!stuck && class_has_work(tx, worker, queue)))
			return false;
	}
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

void tqi_wake_master(struct tqi_tx *tx, uint32_t master)
{
	struct tqi_sleepers walk;
	uint32_t w;

	if (!master)
		return;
	tqi_sleepers_begin(tx, &walk, TQI_SLEEPERS_OF(TQI_INTEREST_MASTER));
	while ((w = tqi_sleepers_next(tx, &walk)))
		if (tqi_waiter_at(tx, w)->subject == master)
			tqi_tx_wake(tx, w);
}

void tqi_wake_worker(struct tqi_tx *tx, uint32_t worker)
{
	uint32_t w = tqi_worker_at(tx, worker)->asleep;

	if (w)
		tqi_tx_wake(tx, w);
}

void tqi_wake_stoppers(struct tqi_tx *tx, uint32_t worker)
{
	uint32_t w = tqi_worker_at(tx, worker)->stopper;

	if (w)
		tqi_tx_wake(tx, w);
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
