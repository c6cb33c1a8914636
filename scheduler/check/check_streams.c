/* SPDX-License-Identifier: MIT */
/* Streams in their queues' chains and indexes, and their histograms (RC-13). */
#include "scheduler/check/check_state.h"
#include "scheduler/record/queue_set.h"
#include "scheduler/record/stream.h"

static const char *const names[TQI_TIMED_COUNT] = { "waits", "runs", "lives" };

/* A queue's index; NULL: it has none, or one that must not be read. */
static const struct tqi_by_kind *by_kind(struct tqi_check *c, uint32_t q)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

	return queue && (c->marks[TQI_QUEUES][q] & TQI_SEEN_BY_KIND)
		       ? tqi_unit(c->tx, queue->by_kind)
		       : NULL;
}

uint32_t tqi_check_stream_of(struct tqi_check *c, uint32_t queue, uint32_t kind)
{
	const struct tqi_by_kind *all = by_kind(c, queue);
	uint32_t s = all && kind <= TQI_KINDS_MAX ? all->streams[kind] : 0;
	const struct tqi_stream *stream = tqi_check_record_in_use(c, TQI_STREAMS, s);

	return stream && stream->queue == queue && stream->kind == kind ? s : 0;
}

/* Samples that there may be at most. */
static uint64_t counted(const struct tqi_stream *stream, uint32_t what)
{
	return what == TQI_TIMED_LIFE
		       ? stream->ended[TQ_DONE - TQ_DONE] + stream->ended[TQ_FAILED - TQ_DONE]
		       : stream->started;
}

const char *tqi_check_times_fault(const struct tqi_stream *stream, const struct tqi_times *times,
				  uint32_t what)
{
	const struct tqi_histogram *h = &times->of[what];
	const uint64_t most = counted(stream, what);
	uint64_t count = 0;
	uint32_t last = 0;

	for (uint32_t i = 0; i < TQI_HISTOGRAM_BUCKETS; i++) {
		if (h->buckets[i] > most - count)
			return "more samples than were counted";
		count += h->buckets[i];
		last = h->buckets[i] ? i : last;
	}
	return h->longest_ns < tqi_histogram_least(last) ? "the longest is too short" : NULL;
}

static void check_times(struct tqi_check *c, uint32_t s, const struct tqi_stream *stream)
{
	const struct tqi_times *times = tqi_check_record_in_use(c, TQI_TIMES, stream->times);

	if (!stream->times)
		return;
	if (!times || times->queue != stream->queue || times->kind != stream->kind ||
	    (c->marks[TQI_TIMES][stream->times] & TQI_SEEN_LINKED)) {
		tqi_check_fault(c, "stream %u: times %u are not its own", s, stream->times);
		return;
	}
	c->marks[TQI_TIMES][stream->times] |= TQI_SEEN_LINKED;
	for (uint32_t i = 0; i < TQI_TIMED_COUNT; i++) {
		const char *fault = tqi_check_times_fault(stream, times, i);

		if (fault)
			tqi_check_fault(c, "times %u: %s: %s", stream->times, names[i], fault);
	}
}

/* The chain, beside the index: both have the same ones. */
static void check_queue(struct tqi_check *c, uint32_t q, const struct tqi_queue *queue)
{
	struct tqi_check_list list = { TQI_CHECK_CHAIN(TQI_STREAMS, tqi_stream, next),
				       .mark = TQI_SEEN_LINKED, .name = "streams of queue",
				       .owner = q, .next = queue->streams };
	const struct tqi_stream *stream;
	uint32_t indexed = 0;

	if (queue->by_kind && tqi_check_block(c, queue->by_kind, sizeof(struct tqi_by_kind),
					      "queue", q, "streams by kind"))
		c->marks[TQI_QUEUES][q] |= TQI_SEEN_BY_KIND;
	const struct tqi_by_kind *all = by_kind(c, q);

	for (uint32_t k = 0; all && k <= TQI_KINDS_MAX; k++)
		indexed += all->streams[k] != 0;
	while ((stream = tqi_check_next(c, &list))) {
		if (tqi_check_stream_of(c, q, stream->kind) != list.at ||
		    !tqi_check_record_in_use(c, TQI_KINDS, stream->kind)) {
			tqi_check_break(c, &list);
			continue;
		}
		c->kind_streams[stream->kind]++;
		check_times(c, list.at, stream);
	}
	if (list.broken)
		return;
	tqi_check_equal(c, "queue", q, "streams by kind", indexed, list.count);
}

void tqi_check_streams(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (queue)
			check_queue(c, q, queue);
	}
	for (uint32_t s = 1; s < c->count[TQI_STREAMS]; s++)
		if (tqi_check_record_in_use(c, TQI_STREAMS, s) &&
		    !(c->marks[TQI_STREAMS][s] & TQI_SEEN_LINKED))
			tqi_check_fault(c, "stream %u: of no queue", s);
	for (uint32_t t = 1; t < c->count[TQI_TIMES]; t++)
		if (tqi_check_record_in_use(c, TQI_TIMES, t) &&
		    !(c->marks[TQI_TIMES][t] & TQI_SEEN_LINKED))
			tqi_check_fault(c, "times %u: of no stream", t);
}

/* Those with unfinished tasks are among the busy ones of their queue, and may be without. */
static void check_busy(struct tqi_check *c, uint32_t s, const struct tqi_stream *stream)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, stream->queue);
	uint32_t busy = queue && queue->busy[stream->kind / 64 & 3] >> stream->kind % 64 & 1;
	uint32_t unfinished = c->depth[s][TQ_FREE] + c->depth[s][TQ_BLOCKED] +
			      c->depth[s][TQ_DELAYED] + c->depth[s][TQ_READY] +
			      c->depth[s][TQ_RUNNING];

	if (stream->busy != busy || (unfinished && !busy))
		tqi_check_fault(c, "stream %u: busy %u and %u, with %u unfinished tasks", s,
				stream->busy, busy, unfinished);
	tqi_check_equal(c, "stream", s, "held", stream->held, c->contests[s].held);
}

/* Bits of no stream; a queue that has any is in the root's set. */
static void check_bits(struct tqi_check *c, uint32_t q)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);
	const bool busy = queue && tqi_streams_are_busy(queue);

	if (busy != tqi_queue_set_has(&tqi_root(c->tx)->busy_queues, q))
		tqi_check_fault(c, "queue %u: %s the busy ones", q, busy ? "not among" : "among");
	for (uint32_t k = 0; queue && k <= TQI_KINDS_MAX; k++)
		if (queue->busy[k / 64] >> k % 64 & 1 && !tqi_check_stream_of(c, q, k))
			tqi_check_fault(c, "queue %u: no stream of kind %u is busy", q, k);
}

void tqi_check_depths(struct tqi_check *c)
{
	for (uint32_t q = 1; q <= TQI_QUEUES_MAX; q++)
		check_bits(c, q);
	for (uint32_t s = 1; s < c->count[TQI_STREAMS]; s++) {
		const struct tqi_stream *stream = tqi_check_record_in_use(c, TQI_STREAMS, s);

		if (!stream)
			continue;
		for (uint32_t state = 0; state < TQ_STATE_COUNT; state++)
			tqi_check_equal(c, "stream", s, "depth", stream->depth[state],
					c->depth[s][state]);
		check_busy(c, s, stream);
	}
}
