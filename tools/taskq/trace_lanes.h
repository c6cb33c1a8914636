/* SPDX-License-Identifier: MIT */
/* What a trace viewer wants to know of tasks and workers besides the entry at hand. */
#ifndef TASKQ_TOOL_TRACE_LANES_H
#define TASKQ_TOOL_TRACE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A task that the trace has met. */
struct trace_task {
	uint64_t id; /* 0: this place of the table is free */
	uint64_t started_ns; /* of the attempt under way; 0 none */
	uint64_t last_ns;    /* begin of the attempt before, which an arrow comes from; 0 none */
	uint64_t waited_for; /* task whose end let it go; 0 unknown */
	uint32_t lane;	     /* of the attempt under way */
	uint32_t last_lane;
	int32_t attempt;
};

/*
 * A lane shows one slice at a time: a worker has one, and more when it runs several tasks
 * at once.  Others share one.
 */
struct trace_lane {
	uint32_t pid;
	uint32_t worker; /* 0 none */
	bool busy;
};

struct trace_lanes {
	struct trace_task *tasks; /* open addressing, a power of two of places */
	size_t task_places;
	size_t task_count;
	struct trace_lane *lanes;
	size_t lane_count;
};

/* The place of a task, made when it is met first; NULL no memory.  Good until the next call. */
struct trace_task *trace_task_at(struct trace_lanes *lanes, uint64_t id);

/* A free lane of a worker of a process, 0 of others; *ret_new: it was made.  UINT32_MAX no memory. */
uint32_t trace_lane_take(struct trace_lanes *lanes, uint32_t pid, uint32_t worker, bool *ret_new);

void trace_lanes_free(struct trace_lanes *lanes);

#endif
