/* SPDX-License-Identifier: MIT */
/* How long many operations took, within a sixteenth, in memory that does not grow. */
#ifndef TASKQ_BENCH_HISTOGRAM_H
#define TASKQ_BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEPS 16u /* of each power of two */
#define HISTOGRAM_BUCKETS (61u * HISTOGRAM_STEPS)

struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t ns);
void histogram_merge(struct histogram *h, const struct histogram *other);
/* The least value of the bucket that a share of the samples reaches into; 0 there are none. */
uint64_t histogram_quantile(const struct histogram *h, double share);

#endif
