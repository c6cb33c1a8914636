/* SPDX-License-Identifier: MIT */
/* Streams: made, with their histograms, and linked. */
#include "scheduler/record/stream.h"

#include <errno.h>
#include <string.h>

#include "scheduler/record/queue_set.h"
#include "shm/pool.h"

_Static_assert((TQI_KINDS_MAX & (TQI_KINDS_MAX + 1)) == 0, "kinds are masked with it");

uint32_t tqi_times_make(struct tqi_tx *tx, uint32_t q, uint32_t k, bool *ret_lacks)
{
	bool full;
	uint32_t t = tqi_table_take(tx, TQI_TIMES, &full);

	*ret_lacks = !t && !full && !(tqi_root(tx)->flags & TQI_ROOT_REPAIR);
	if (!t)
		return 0;
	struct tqi_times *times = tqi_times_at(tx, t);

	tqi_table_clear(times, sizeof(*times));
	TQI_INIT(times->queue, (uint16_t)q);
	TQI_INIT(times->kind, (uint16_t)k);
	return t;
}

/* The index of a queue's streams, made with the first one; NULL no memory. */
static struct tqi_by_kind *by_kind(struct tqi_tx *tx, struct tqi_queue *queue)
{
	if (queue->by_kind)
		return tqi_unit(tx, queue->by_kind);
	uint32_t block = tqi_block_take(tx, sizeof(struct tqi_by_kind));

	if (!block)
		return NULL;
	memset(tqi_unit(tx, block), 0, sizeof(struct tqi_by_kind));
	TQI_SET(tx, queue->by_kind, block);
	return tqi_unit(tx, block);
}

int tqi_stream_link(struct tqi_tx *tx, uint32_t s)
{
	struct tqi_stream *stream = tqi_stream_at(tx, s);
	struct tqi_queue *queue = tqi_queue_at(tx, stream->queue);
	struct tqi_by_kind *all = by_kind(tx, queue);

	if (!all)
		return -ENOMEM;
	TQI_INIT(stream->next, queue->streams);
	TQI_SET(tx, queue->streams, s);
	TQI_SET(tx, all->streams[stream->kind & TQI_KINDS_MAX], s);
	TQI_ADD(tx, tqi_kind_at(tx, stream->kind)->streams, 1);
	return 0;
}

struct tqi_stream *tqi_stream_resolve(struct tqi_tx *tx, uint32_t queue, uint32_t kind)
{
	return tqi_stream_at(tx, tqi_stream_find(tx, tqi_queue_at(tx, queue), kind));
}

/* Not everybody undoes it all (PO-4): it must not be taken for a queue's (tqi_stream_last()). */
static void stream_give(struct tqi_tx *tx, uint32_t s)
{
	struct tqi_stream *stream = tqi_stream_at(tx, s);

	TQI_INIT(stream->queue, 0);
	if (stream->times)
		tqi_table_give(tx, TQI_TIMES, stream->times);
	tqi_table_give(tx, TQI_STREAMS, s);
}

bool tqi_stream_make(struct tqi_tx *tx, uint32_t q, uint32_t k)
{
	bool full, lacks;
	uint32_t s = tqi_stream_find(tx, tqi_queue_at(tx, q), k);

	if (s)
		return true;
	s = tqi_table_take(tx, TQI_STREAMS, &full);
	if (!s)
		return false;
	struct tqi_stream *stream = tqi_stream_at(tx, s);

	tqi_table_clear(stream, sizeof(*stream));
	TQI_INIT(stream->queue, (uint16_t)q);
	TQI_INIT(stream->kind, (uint16_t)k);
	TQI_INIT(stream->times, tqi_times_make(tx, q, k, &lacks));
	if (!lacks && tqi_stream_link(tx, s) == 0)
		return true;
	stream_give(tx, s);
	return false;
}

static void set_busy(struct tqi_tx *tx, struct tqi_stream *stream, bool busy)
{
	struct tqi_queue *queue = tqi_queue_at(tx, stream->queue);
	uint64_t *bits = &queue->busy[stream->kind / 64 & 3];
	const bool was_busy = tqi_streams_are_busy(queue);

	TQI_SET(tx, stream->busy, (uint32_t)busy);
	TQI_SET(tx, *bits, *bits ^ 1ull << stream->kind % 64);
	if (tqi_streams_are_busy(queue) != was_busy)
		tqi_queue_set_flip(tx, &tqi_root(tx)->busy_queues, stream->queue);
}

void tqi_stream_begin(struct tqi_tx *tx, struct tqi_stream *stream)
{
	if (!stream->busy)
		set_busy(tx, stream, true);
}

static bool has_tasks(const struct tqi_stream *stream)
{
	return stream->depth[TQ_FREE] | stream->depth[TQ_RUNNING] | stream->depth[TQ_BLOCKED] |
	       stream->depth[TQ_DELAYED] | stream->depth[TQ_READY];
}

void tqi_stream_rest(struct tqi_tx *tx, struct tqi_stream *stream)
{
	if (stream->busy && !has_tasks(stream) && !tqi_tx_is_filling(tx))
		set_busy(tx, stream, false);
}

void tqi_streams_rest(struct tqi_tx *tx, const struct tqi_queue *queue)
{
	for (uint32_t i = 0; i < 4; i++)
		for (uint64_t kinds = queue->busy[i]; kinds && !tx->corrupt; kinds &= kinds - 1) {
			const uint32_t kind = 64 * i + (uint32_t)__builtin_ctzll(kinds);

			tqi_stream_rest(tx, tqi_stream_at(tx, tqi_stream_find(tx, queue, kind)));
		}
}

/* Out of its queue's chain, in which it is. */
static void unlink_stream(struct tqi_tx *tx, struct tqi_queue *queue, uint32_t s)
{
	uint32_t *link = &queue->streams, steps = 0;

	while (*link != s && tqi_table_walks(tx, TQI_STREAMS, &steps))
		link = &tqi_stream_at(tx, *link)->next;
	TQI_SET(tx, *link, tqi_stream_at(tx, s)->next);
}

void tqi_stream_drop(struct tqi_tx *tx, uint32_t s)
{
	struct tqi_stream *stream = tqi_stream_at(tx, s);
	struct tqi_queue *queue = tqi_queue_at(tx, stream->queue);
	struct tqi_by_kind *all = tqi_unit(tx, queue->by_kind);

	unlink_stream(tx, queue, s);
	if (stream->busy)
		set_busy(tx, stream, false);
	TQI_SET(tx, all->streams[stream->kind & TQI_KINDS_MAX], 0u);
	if (queue->contest) {
		struct tqi_tournament *t = tqi_unit(tx, queue->contest);

		TQI_SET(tx, t->of[stream->kind % TQI_TOURNAMENT_KINDS], 0u);
	}
	tqi_heap_free(tx, &stream->tenants);
	TQI_ADD(tx, tqi_kind_at(tx, stream->kind)->streams, -1);
	TQI_SET(tx, stream->queue, 0);
	if (stream->times)
		tqi_table_give(tx, TQI_TIMES, stream->times);
	tqi_table_give(tx, TQI_STREAMS, s);
}
