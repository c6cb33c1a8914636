/* SPDX-License-Identifier: MIT */
/* Reading histograms, and what they say. */
#include <errno.h>
#include <string.h>

#include "client/core/handle.h"
#include "client/core/options.h"
#include "client/observe/snapshot.h"
#include "shm/histogram.h"

_Static_assert(TQ_HISTOGRAM_BUCKETS == TQI_HISTOGRAM_BUCKETS, "public and stored ones");

static void add_histogram(const struct tqi_histogram *from, struct tq_histogram *to)
{
	to->sum_ns += from->sum_ns;
	if (from->longest_ns > to->longest_ns)
		to->longest_ns = from->longest_ns;
	for (uint32_t i = 0; i < TQ_HISTOGRAM_BUCKETS; i++) {
		to->buckets[i] += from->buckets[i];
		to->count += from->buckets[i];
	}
}

/* Its words are whole, whatever is added meanwhile: no need for one moment's copy. */
static int add_times(struct tq *tq, uint32_t t, struct tq_times *to)
{
	uint64_t offset = tqi_record_offset(&tq->seg, TQI_TIMES, t);
	struct tqi_times times;
	int r = offset ? tqi_peek(&tq->seg, offset, &times, sizeof(times)) : TQ_ECORRUPT;

	if (r < 0)
		return r;
	add_histogram(&times.of[TQI_TIMED_WAIT], &to->wait);
	add_histogram(&times.of[TQI_TIMED_RUN], &to->run);
	add_histogram(&times.of[TQI_TIMED_LIFE], &to->life);
	return 0;
}

/* Whether a stream's kind is the one that is wanted. */
static bool is_of_kind(struct tq *tq, const struct tqi_stream *stream, const char *kind)
{
	char name[TQ_NAME_MAX + 1];

	if (!kind)
		return true;
	tqi_peek_kind_name(&tq->seg, stream->kind, name);
	return strcmp(name, kind) == 0;
}

static int add_queue(struct tq *tq, uint32_t q, const char *kind, struct tq_times *to)
{
	struct tqi_queue queue;
	struct tqi_stream stream;
	uint32_t limit; /* the chain may be a ring */
	bool found = !kind;
	int r = tqi_peek_count(&tq->seg, TQI_STREAMS, &limit);

	if (r == 0)
		r = tqi_peek_record(&tq->seg, TQI_QUEUES, q, &queue);
	for (uint32_t s = r < 0 ? 0 : queue.streams; s && limit-- > 0 && r == 0; s = stream.next) {
		if (tqi_peek_record(&tq->seg, TQI_STREAMS, s, &stream) < 0)
			return TQ_ECORRUPT;
		if (stream.queue != q)
			return -ENOENT; /* it has been given back */
		if (!is_of_kind(tq, &stream, kind))
			continue;
		found = true;
		if (stream.times)
			r = add_times(tq, stream.times, to);
	}
	return r < 0 ? r : found ? 0 : -ENOENT;
}

int tq_times_read(struct tq *tq, const char *queue, const char *kind, struct tq_times *ret_times)
{
	if (!tq || !queue)
		return -EINVAL;
	struct tq_times times = { .size = sizeof(times) };
	uint32_t hint = tqi_load_relaxed32(&tq->times_queue) + 1;
	uint32_t q = tqi_peek_queue_find_from(&tq->seg, hint, queue);
	uint64_t room;
	int r = tqi_snapshot_room(ret_times, &room);

	if (q)
		tqi_store_relaxed32(&tq->times_queue, q);
	if (r == 0)
		r = q ? add_queue(tq, q, kind, &times) : -ENOENT;
	if (r == 0)
		tqi_snapshot_out(ret_times, room, &times, sizeof(times));
	return r;
}

/* Where a bucket ends: what is in it is shorter; the last one has no end. */
static uint64_t end_of(uint32_t bucket)
{
	return bucket + 1 < TQ_HISTOGRAM_BUCKETS ? tqi_histogram_least(bucket + 1) : UINT64_MAX;
}

static uint64_t at_most(uint64_t ns, uint64_t most)
{
	return ns < most ? ns : most;
}

uint64_t tq_histogram_at(const struct tq_histogram *histogram, uint32_t permille)
{
	if (!histogram)
		return 0;
	const uint64_t count = histogram->count, share = at_most(permille, 1000);
	const uint64_t wanted = count / 1000 * share + (count % 1000 * share + 999) / 1000;
	uint64_t seen = 0;

	for (uint32_t i = 0; i < TQ_HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (histogram->buckets[i] && seen >= wanted)
			return permille >= 1000 ? histogram->longest_ns
						: at_most(end_of(i), histogram->longest_ns);
	}
	return 0;
}

void tq_histogram_since(struct tq_histogram *histogram, const struct tq_histogram *before)
{
	if (!histogram || !before)
		return;
	uint32_t last = 0;

	histogram->count = 0;
	histogram->sum_ns -= at_most(before->sum_ns, histogram->sum_ns);
	for (uint32_t i = 0; i < TQ_HISTOGRAM_BUCKETS; i++) {
		uint64_t *bucket = &histogram->buckets[i];

		*bucket -= at_most(before->buckets[i], *bucket);
		histogram->count += *bucket;
		last = *bucket ? i : last;
	}
	if (histogram->longest_ns == before->longest_ns)
		histogram->longest_ns =
			histogram->count ? at_most(end_of(last), histogram->longest_ns) : 0;
}

uint64_t tq_histogram_bound(uint32_t bucket)
{
	return bucket < TQ_HISTOGRAM_BUCKETS ? tqi_histogram_least(bucket) : UINT64_MAX;
}
