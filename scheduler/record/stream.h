/* SPDX-License-Identifier: MIT */
/* Streams: what is counted of the tasks of a queue and kind (RC-13), found and made. */
#ifndef TQI_SCHEDULER_RECORD_STREAM_H
#define TQI_SCHEDULER_RECORD_STREAM_H

#include "scheduler/record/records.h"

/* Of a queue and kind; 0 they have had no task. */
static inline uint32_t tqi_stream_find(struct tqi_tx *tx, const struct tqi_queue *queue,
				       uint32_t kind)
{
	if (!queue->by_kind)
		return 0;
	const struct tqi_by_kind *all = tqi_unit(tx, queue->by_kind);

	return all->streams[kind & TQI_KINDS_MAX];
}

/* The one that was asked for last, if it is of this queue and kind: it mostly is; NULL it is not. */
static inline struct tqi_stream *tqi_stream_last(const struct tqi_tx *tx, uint32_t queue,
						 uint32_t kind)
{
	struct tqi_stream *last = tqi_table_last(tx, TQI_STREAMS);

	return __builtin_expect(last && last->queue == queue && last->kind == kind, 1) ? last
										       : NULL;
}

/* By its queue's index. */
struct tqi_stream *tqi_stream_resolve(struct tqi_tx *tx, uint32_t queue, uint32_t kind);

/* Of a queue and kind that have one. */
static inline struct tqi_stream *tqi_stream_by(struct tqi_tx *tx, uint32_t queue, uint32_t kind)
{
	struct tqi_stream *last = tqi_stream_last(tx, queue, kind);

	return last ? last : tqi_stream_resolve(tx, queue, kind);
}

/* Of a task. */
static inline struct tqi_stream *tqi_stream_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_stream_by(tx, task->queue, task->kind);
}

/* Found, or made; false (NULL): no memory, and nothing half-made is left. */
bool tqi_stream_make(struct tqi_tx *tx, uint32_t queue, uint32_t kind);
static inline struct tqi_stream *tqi_stream_join(struct tqi_tx *tx, uint32_t queue, uint32_t kind)
{
	struct tqi_stream *last = tqi_stream_last(tx, queue, kind);

	if (last)
		return last;
	return tqi_stream_make(tx, queue, kind) ? tqi_stream_by(tx, queue, kind) : NULL;
}
/*
 * Histograms for a queue and kind; 0 none.  *ret_lacks: for want of memory, which a repair does
 * without.
 */
uint32_t tqi_times_make(struct tqi_tx *tx, uint32_t queue, uint32_t kind, bool *ret_lacks);
/* Put one that is of a queue and kind into its queue's chain and index; -ENOMEM. */
int tqi_stream_link(struct tqi_tx *tx, uint32_t stream);

/* Whether no record of a task, finished or not, is counted in it. */
static inline bool tqi_stream_is_empty(const struct tqi_stream *stream)
{
	uint32_t tasks = 0;

	for (uint32_t state = 0; state < TQ_STATE_COUNT; state++)
		tasks |= stream->depth[state];
	return !tasks;
}
/* An empty one, without classes, goes with all that it has counted. */
void tqi_stream_drop(struct tqi_tx *tx, uint32_t stream);

/*
 * It has unfinished tasks from now on; it is looked at, and rests if it has none.  In between
 * it counts as busy, so that a task that comes and goes costs nothing.  The same of all that
 * are busy in a queue.
 */
void tqi_stream_begin(struct tqi_tx *tx, struct tqi_stream *stream);
void tqi_stream_rest(struct tqi_tx *tx, struct tqi_stream *stream);
void tqi_streams_rest(struct tqi_tx *tx, const struct tqi_queue *queue);

static inline bool tqi_streams_are_busy(const struct tqi_queue *queue)
{
	return queue->busy[0] | queue->busy[1] | queue->busy[2] | queue->busy[3];
}

/* A duration that ends now, to be counted in it (RC-13). */
static inline void tqi_stream_time(struct tqi_tx *tx, const struct tqi_stream *stream,
				   enum tqi_timed what, uint64_t since_ns)
{
	if (stream->times)
		tqi_tx_sample(tx, &tqi_times_at(tx, stream->times)->of[what],
			      tx->now_ns > since_ns ? tx->now_ns - since_ns : 0);
}

#endif
