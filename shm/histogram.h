/* SPDX-License-Identifier: MIT */
/*
 * Log-scale histograms of durations.
 *
 * HI-1  Bucket 0 counts what is below 1,024 ns; above, each octave has eight buckets of
 *     equal width, so that none is wider than an eighth of where it begins.  The last one
 *     takes all that is longer, from 11 days.
 * HI-2  A sample is noted in the transaction (tqi_tx_sample()) and added after its commit,
 *     under the lock, without a journal: what is rolled back adds nothing, and a process
 *     that is killed in between leaves out what it had not added.  No sample is added
 *     twice: there are never more of them than commits that noted one.
 * HI-3  The longest comes first, then the sum, then the bucket: a bucket that counts
 *     anything begins at or below `longest_ns`, whenever its writer dies.
 */
#ifndef TQI_SHM_HISTOGRAM_H
#define TQI_SHM_HISTOGRAM_H

#include <stdint.h>

#define TQI_HISTOGRAM_BUCKETS 320
#define TQI_HISTOGRAM_FIRST_SHIFT 10 /* log2 of where bucket 1 begins: 1,024 ns */
#define TQI_HISTOGRAM_PARTS_SHIFT 3  /* log2 of the buckets of an octave */

/* In a table's record.  Written as HI-2 says; read by observers, and torn at worst between
 * its words. */
struct tqi_histogram {
	uint64_t longest_ns;
	uint64_t sum_ns;
	uint64_t buckets[TQI_HISTOGRAM_BUCKETS];
};

/* The bucket that a duration counts in. */
static inline uint32_t tqi_histogram_bucket(uint64_t ns)
{
	if (ns >> TQI_HISTOGRAM_FIRST_SHIFT == 0)
		return 0;
	uint32_t octave = 63u - (uint32_t)__builtin_clzll(ns);
	uint32_t part = (uint32_t)(ns >> (octave - TQI_HISTOGRAM_PARTS_SHIFT)) &
			((1u << TQI_HISTOGRAM_PARTS_SHIFT) - 1);
	uint32_t bucket =
		((octave - TQI_HISTOGRAM_FIRST_SHIFT) << TQI_HISTOGRAM_PARTS_SHIFT) + part + 1;

	return bucket < TQI_HISTOGRAM_BUCKETS ? bucket : TQI_HISTOGRAM_BUCKETS - 1;
}

/* The shortest duration that counts in a bucket. */
static inline uint64_t tqi_histogram_least(uint32_t bucket)
{
	if (bucket == 0)
		return 0;
	uint32_t octave = TQI_HISTOGRAM_FIRST_SHIFT + ((bucket - 1) >> TQI_HISTOGRAM_PARTS_SHIFT);
	uint64_t part = (bucket - 1) & ((1u << TQI_HISTOGRAM_PARTS_SHIFT) - 1);

	return ((1ull << TQI_HISTOGRAM_PARTS_SHIFT) + part) << (octave - TQI_HISTOGRAM_PARTS_SHIFT);
}

/* HI-3.  Under the lock. */
static inline void tqi_histogram_add(struct tqi_histogram *h, uint64_t ns)
{
	volatile struct tqi_histogram *to = h;

	if (ns > to->longest_ns)
		to->longest_ns = ns;
	to->sum_ns += ns;
	to->buckets[tqi_histogram_bucket(ns)]++;
}

#endif
