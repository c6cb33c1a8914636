/* SPDX-License-Identifier: MIT */
/* Workers that leave when nothing is left: whether that is so, and that they are told. */
#include "scheduler/record/serves.h"
#include "scheduler/record/stream.h"
#include "scheduler/wake/sleepers.h"
#include "scheduler/wake/wake.h"

#define POPS_SLICE 16  /* sleepers popped in one hold: journal space */
#define LOOKS_SLICE 32 /* of them looked at in one hold: some 3 us where each serves little */

/* Whether a stream has work; `stuck`: but for what runs, nothing of it can start. */
static bool has_work(const struct tqi_root *root, const struct tqi_stream *stream, bool stuck)
{
	/* What is blocked comes to be startable only by the end of something that runs or can. */
	bool more_to_end = root->running || root->ready;

	return stream->depth[TQ_RUNNING] || (stream->depth[TQ_BLOCKED] && more_to_end) ||
	       (!stuck && (stream->depth[TQ_DELAYED] || stream->depth[TQ_READY] > stream->held));
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

/*
 * The one that a slot is of, if it lives, leaves when nothing is left, and nothing is.  In a
 * shutdown all do, but one may have been taken back since the round began.
 */
static bool may_leave(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_worker *worker = tqi_sleepers_worker(tx, tqi_waiter_at(tx, w));

	return worker &&
	       ((tqi_root(tx)->flags & TQI_ROOT_SHUTDOWN) || (worker->flags & TQI_WORKER_EMPTY)) &&
	       tqi_worker_is_idle(tx, worker);
}

/* LV-1: a slice of the round. */
static void go_on(struct tqi_tx *tx, uint32_t at, bool again)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t pops = 0;

	for (uint32_t i = 0; at && i < LOOKS_SLICE && pops < POPS_SLICE && !tx->corrupt; i++) {
		uint32_t w = at;

		if (pops && tqi_tx_is_filling(tx))
			break;
		at = tqi_leaving_next(tx, w);
		if (may_leave(tx, w)) {
			tqi_sleep_pop(tx, w);
			pops++;
		}
		if (!at && again) {
			at = tqi_leaving_first(tx);
			again = false;
		}
	}
	again = at && again;
	if (at != root->leaving_at || again != root->leaving_again)
		TQI_SETS(tx, root, (leaving_at, at), (leaving_again, again));
}

void tqi_wake_empty(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	if (!root->empty_workers && !(root->flags & TQI_ROOT_SHUTDOWN))
		return;
	if (root->leaving_at)
		go_on(tx, root->leaving_at, true);
	else
		go_on(tx, tqi_leaving_first(tx), false);
}

void tqi_wake_empty_more(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	if (root->leaving_at)
		go_on(tx, root->leaving_at, root->leaving_again);
}
