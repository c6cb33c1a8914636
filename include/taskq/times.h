/* SPDX-License-Identifier: MIT */
/* How long tasks wait, run and live: histograms of a queue, or of one kind in it. */
#ifndef TASKQ_TIMES_H
#define TASKQ_TIMES_H

#include <taskq/segment.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Log-scale: bucket 0 counts durations below 1,024 ns; above, each octave has eight
 * buckets of equal width, up to the last one, which counts all from 11 days on.  What is
 * read from it is therefore never below the true value, and at most an eighth above it;
 * the longest and the sum are exact.
 */
#define TQ_HISTOGRAM_BUCKETS 320

struct tq_histogram {
	uint64_t count;	     /* samples */
	uint64_t sum_ns;     /* of all of them */
	uint64_t longest_ns;
	uint64_t buckets[TQ_HISTOGRAM_BUCKETS];
};

/*
 * Since the segment's creation.  A process that is killed between a change and its
 * counting leaves that one out: there are at most as many samples as the counters of
 * the queue say, and fewer by one for each such kill.
 */
struct tq_times {
	uint64_t size; /* in: room; out: bytes filled */
	/* Of each attempt: how long the task had been ready; how long it ran, whatever ended it. */
	struct tq_histogram wait;
	struct tq_histogram run;
	/* Of each task that is done or failed: how long since it was submitted, retries included. */
	struct tq_histogram life;
};

/**
 * tq_times_read() - read the histograms of a queue.  Takes no lock.
 *
 * @queue:	its name.
 * @kind:	of one kind in it; NULL = of all.
 * @ret_times:	set .size before the call; untouched on failure.
 *
 * Threads:	safe.
 * Fork:	safe.
 * Blocks:	no.
 * Errors:	-ENOENT no such queue, or it has had no such kind; -EINVAL bad .size;
 *		TQ_ECORRUPT.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_times_read(struct tq *tq, const char *queue, const char *kind,
				      struct tq_times *ret_times);

/**
 * tq_histogram_at() - the duration that so many of a thousand samples do not exceed.
 *
 * @permille:	1 to 1000: 500 is the median, 990 the p99; 1000 gives the longest.
 *
 * Since: 0.1.0
 * Return: nanoseconds, at most an eighth too much; 0 where there are no samples.
 */
TQ_API uint64_t tq_histogram_at(const struct tq_histogram *histogram, uint32_t permille);

/**
 * tq_histogram_since() - what has come to a histogram since it was read before.
 *
 * @histogram:	the later one; the samples of @before are taken out of it.  Its longest
 *		becomes an upper bound: where its last bucket ends, at most the longest of all.
 *
 * Since: 0.1.0
 */
TQ_API void tq_histogram_since(struct tq_histogram *histogram, const struct tq_histogram *before);

/**
 * tq_histogram_bound() - where a bucket begins; for those who export all buckets.
 *
 * Since: 0.1.0
 * Return: the shortest duration that counts in it, in ns; UINT64_MAX beyond the last one.
 */
TQ_API uint64_t tq_histogram_bound(uint32_t bucket);

#ifdef __cplusplus
}
#endif
#endif
