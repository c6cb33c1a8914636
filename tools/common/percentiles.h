/* SPDX-License-Identifier: MIT */
/* What is said of a histogram: how long so many of a thousand took at most. */
#ifndef TASKQ_TOOL_PERCENTILES_H
#define TASKQ_TOOL_PERCENTILES_H

#include <jansson.h>

#include <taskq/taskq.h>

enum {
	PERCENTILE_50,
	PERCENTILE_90,
	PERCENTILE_99,
	PERCENTILE_MAX,
	PERCENTILE_COUNT
};

extern const struct percentile {
	const char *name; /* "p50" */
	uint32_t permille;
} percentiles[PERCENTILE_COUNT];

/* How long tasks took, as members of an object: "wait", "run", "end_to_end". */
void json_add_times(json_t *object, const struct tq_times *times);

#endif
