/* SPDX-License-Identifier: MIT */
/* What metrics are made of: all of a segment that is exported, read at once. */
#ifndef TASKQ_TOOL_METRICS_DATA_H
#define TASKQ_TOOL_METRICS_DATA_H

#include "metrics_text.h"

enum {
	METRIC_LIMITS_MAX = 65536, /* limit keys that are looked at */
	METRIC_WORKER_STATES = 7,
	METRIC_GROUP_STATES = 3
};

extern const char *const metric_worker_states[METRIC_WORKER_STATES];

/* A queue, or one kind in it. */
struct metric_row {
	struct tq_queue_info info;
	struct metric_histogram wait, run, life;
};

/* Limit keys of one class: those that have slots, a rate, both, or nothing. */
enum metric_limits {
	METRIC_LIMITS_SLOTS,
	METRIC_LIMITS_RATE,
	METRIC_LIMITS_BOTH,
	METRIC_LIMITS_NONE,
	METRIC_LIMITS_CLASSES
};

struct metric_limit_sum {
	uint64_t keys, full, slots, used, waiting;
};

struct metrics_data {
	struct tq_segment_info segment;
	struct tq_lock_holder lock;
	struct tq_queue_info *queues;
	uint64_t *unserved; /* of each queue, ready tasks of kinds that no worker of it runs */
	struct metric_row *rows; /* as many as queues, or more, by kind */
	uint32_t queue_count, row_count;
	bool by_kind;
	uint64_t workers[METRIC_WORKER_STATES];
	uint64_t groups[METRIC_GROUP_STATES]; /* from TQ_GROUP_OPEN */
	struct metric_limit_sum limits[METRIC_LIMITS_CLASSES];
};

/* 0 or an error; to be freed in either case. */
int metrics_read(struct metrics_data *data, struct tq *tq, bool by_kind);
void metrics_free(struct metrics_data *data);

/* metrics_families.c */
void metrics_put(const struct metrics_to *to, const struct metrics_data *data);
void metrics_put_up(const struct metrics_to *to, bool is_up);

#endif
