/* SPDX-License-Identifier: MIT */
/* Families of metrics and their samples as text, in one of the two formats. */
#ifndef TASKQ_TOOL_METRICS_TEXT_H
#define TASKQ_TOOL_METRICS_TEXT_H

#include <stdint.h>

#include "metrics.h"

enum metric_type {
	METRIC_GAUGE,
	METRIC_COUNTER,
	METRIC_HISTOGRAM,
	METRIC_INFO
};

/* A family; its samples follow it. */
struct metric {
	const char *name; /* as OpenMetrics has it: without _total, _info */
	enum metric_type type;
	const char *unit; /* the end of the name, "seconds"; NULL none */
	const char *help; /* without a full stop */
};

struct metric_label {
	const char *name; /* NULL behind the last one */
	const char *value;
};

struct metrics_to {
	FILE *out;
	enum metrics_form form;
};

/* Begins a family. */
void metric_begin(const struct metrics_to *to, const struct metric *metric);

/* One sample of it.  @labels may be NULL. */
void metric_value(const struct metrics_to *to, const struct metric *metric,
		  const struct metric_label *labels, uint64_t value);
/* The same of a metric in seconds. */
void metric_ns(const struct metrics_to *to, const struct metric *metric,
	       const struct metric_label *labels, uint64_t ns);

/* A family with one sample. */
void metric_only(const struct metrics_to *to, const struct metric *metric, uint64_t value);

/* Bounds of histograms: powers of two of a nanosecond, where buckets of the segment's
 * histograms end, so that each count is exact. */
enum {
	METRIC_BOUNDS = 29
};

struct metric_histogram {
	uint64_t up_to[METRIC_BOUNDS]; /* samples that are not above the bound */
	uint64_t count;
	uint64_t sum_ns;
};

void metric_histogram_fill(struct metric_histogram *to, const struct tq_histogram *from);
void metric_histogram(const struct metrics_to *to, const struct metric *metric,
		      const struct metric_label *labels, const struct metric_histogram *histogram);

/* Ends it all. */
void metrics_end(const struct metrics_to *to);

#endif
