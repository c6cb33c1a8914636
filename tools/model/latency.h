/* SPDX-License-Identifier: MIT */
/*
 * How long tasks waited, ran and lived, since the segment's creation: of each queue, and
 * of all.  A histogram has a thousand figures, so only those of queues in which something
 * has happened are read again.
 */
#ifndef TASKQ_MODEL_LATENCY_H
#define TASKQ_MODEL_LATENCY_H

#include <stdbool.h>

#include <taskq/taskq.h>

#include "percentiles.h"

struct sample;

enum latency_kind {
	LATENCY_WAIT,
	LATENCY_RUN,
	LATENCY_LIFE,
	LATENCY_KINDS
};

struct latency {
	uint64_t ns[LATENCY_KINDS][PERCENTILE_COUNT]; /* 0: there are no samples */
};

/* The histograms of a queue, and what its counters were when they were read. */
struct queue_times {
	char name[TQ_NAME_MAX + 1]; /* whose they are */
	uint64_t events;
	bool is_settled; /* they were read again after the last event: none is missing */
	struct tq_times times;
	struct latency latency;
};

struct latencies {
	struct queue_times *queues; /* in the order of the sample's */
	uint32_t count;
	struct latency all;
	uint64_t next_ns; /* not to be read again before */
};

/* Reads what has changed, unless that was done less than @every_ns ago, and sets
 * .latency of the sample's queues. */
void latencies_update(struct latencies *latencies, struct tq *tq, struct sample *sample,
		      uint64_t every_ns);
/* Another segment. */
void latencies_forget(struct latencies *latencies);

#endif
