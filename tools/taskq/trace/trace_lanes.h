/* SPDX-License-Identifier: MIT */
/* What a trace viewer wants to know of tasks and workers besides the entry at hand. */
#ifndef TASKQ_TOOL_TRACE_LANES_H
#define TASKQ_TOOL_TRACE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From keys to numbers from 1 on: open addressing, a power of two of places. */
struct trace_index {
	struct trace_place {
		uint64_t key; /* 0: this place is free */
		uint32_t number;
	} * places;
	size_t room, count;
};

/* A task that the trace has met. */
struct trace_task {
	uint64_t id;
	uint64_t started_ns; /* of the attempt under way; 0 none */
	uint64_t last_ns;    /* begin of the attempt before; 0 none */
	uint64_t last_end_ns;
	uint64_t waited_for; /* task whose end let it go, when that was no dependency; 0 none */
	uint32_t after;	     /* the last of its dependencies that were met since; 0 none */
	uint32_t lane;	     /* of the attempt under way */
	uint32_t last_lane;
	int32_t attempt;
};

/* A dependency that has been met: chained until the dependant starts. */
struct trace_after {
	uint64_t id;   /* of the task that ended */
	uint32_t next; /* 0 none */
};

/*
 * A lane shows one slice at a time: a worker has one, and more when it runs several tasks
 * at once.  Others share one.
 */
struct trace_lane {
	uint32_t next; /* of the same worker; UINT32_MAX none */
	bool busy;
};

struct trace_lanes {
	struct trace_index task_index, worker_index;
	struct trace_task *tasks;   /* number 1 is the first */
	struct trace_after *afters; /* the same */
	uint32_t *firsts;	    /* the first lane of each worker */
	struct trace_lane *lanes;
	size_t task_room, after_count, after_room, worker_room, lane_count, lane_room;
};

/* The place of a task, made when it is met first; NULL no memory.  Good until the next call. */
struct trace_task *trace_task_at(struct trace_lanes *lanes, uint64_t id);

/* A dependency of a task is met; false: no memory. */
bool trace_after_add(struct trace_lanes *lanes, uint64_t id, uint64_t on);

/* A free lane of a worker of a process, 0 of others; *ret_new: it was made.  UINT32_MAX no memory. */
uint32_t trace_lane_take(struct trace_lanes *lanes, uint32_t pid, uint32_t worker, bool *ret_new);

void trace_lanes_free(struct trace_lanes *lanes);

#endif
