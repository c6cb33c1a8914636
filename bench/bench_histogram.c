/* SPDX-License-Identifier: MIT */
/* Histograms. */
#include "bench_histogram.h"

/* The first HISTOGRAM_STEPS are exact, then come those of 16 to 31, of 32 to 63 ... */
static uint32_t bucket_of(uint64_t ns)
{
	if (ns < HISTOGRAM_STEPS)
		return (uint32_t)ns;
	const uint32_t shift = 59u - (uint32_t)__builtin_clzll(ns);

	return (shift + 1) * HISTOGRAM_STEPS + (uint32_t)((ns >> shift) - HISTOGRAM_STEPS);
}

static uint64_t least_of(uint32_t bucket)
{
	const uint32_t power = bucket / HISTOGRAM_STEPS;
	const uint64_t step = bucket % HISTOGRAM_STEPS;

	return power == 0 ? step : (HISTOGRAM_STEPS + step) << (power - 1);
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	h->counts[bucket_of(ns)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
	for (uint32_t b = 0; b < HISTOGRAM_BUCKETS; b++)
		h->counts[b] += other->counts[b];
}

uint64_t histogram_quantile(const struct histogram *h, double share)
{
	uint64_t all = 0, below = 0;

	for (uint32_t b = 0; b < HISTOGRAM_BUCKETS; b++)
		all += h->counts[b];
	for (uint32_t b = 0; b < HISTOGRAM_BUCKETS && all; b++) {
		below += h->counts[b];
		if ((double)below >= share * (double)all)
			return least_of(b);
	}
	return 0;
}
