/* SPDX-License-Identifier: MIT */
/* The flight recorder: the last transitions of a segment. */
#ifndef TASKQ_TRACE_H
#define TASKQ_TRACE_H

#include <taskq/segment.h>
#include <taskq/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The one table of events: name, value, text. */
#define TQ_TRACE_MAP(X)                                                                            \
	X(TQ_TRACE_MOVE, 1, "move")	  /* from one state to another */                          \
	X(TQ_TRACE_STOP, 2, "stop")	  /* an attempt is asked to end: cause says why */         \
	X(TQ_TRACE_SIGNAL, 3, "signal")	  /* about to be sent for that: argument is its number */  \
	X(TQ_TRACE_RECLAIM, 4, "reclaim") /* an attempt is taken from a dead worker */             \
	X(TQ_TRACE_STEAL, 5, "steal")	  /* by worker from the list of worker argument */         \
	X(TQ_TRACE_AFTER, 6, "after")	  /* its dependency on task other is met */

enum tq_trace_event {
#define TQ_TRACE_ENUM(name, value, text) name = (value),
	TQ_TRACE_MAP(TQ_TRACE_ENUM)
#undef TQ_TRACE_ENUM
};

/*
 * One entry; of each transition there is one, but for a record's being freed.  It tells
 * of what was committed: a change that was undone, because its process died inside or
 * memory was short, leaves none.
 */
struct tq_trace_entry {
	uint64_t size;	  /* sizeof this struct in the caller's build */
	uint64_t number;  /* from 1, without gaps */
	uint64_t time_ns; /* CLOCK_MONOTONIC; never less than an earlier entry's */
	uint64_t task;	  /* id */
	uint32_t event;	  /* enum tq_trace_event */
	uint32_t from;	  /* enum tq_state; TQ_FREE: it was submitted */
	uint32_t to;	  /* the same as from where nothing moved */
	uint32_t cause;	  /* enum tq_cause: of an attempt's or a task's end, of a stop */
	int32_t argument; /* cause's, as in struct tq_task_info; of a start: the attempt's number */
	uint32_t pid;	  /* process that made the change; of a start: the worker's own */
	uint32_t worker;  /* number, as tq_worker_list() has it: of a start, stop, signal, reclaim
			     or steal; 0 none */
	uint32_t reserved0;
	uint64_t other; /* id: of after the task that has ended; 0 none */
};

/**
 * tq_trace_read() - read entries, oldest first.  Takes no lock, and waits for nothing.
 *
 * @cursor:	in: number of the first entry that is wanted, 0 = the oldest there is;
 *		out: that of the next one to come.
 * @entries:	room for @count, .size set in the first.
 * @ret_lost:	how many between @cursor and the first one returned had been written
 *		over; or NULL.
 *
 * Threads:	safe.
 * Fork:	safe.
 * Blocks:	no; who wants to follow calls it again after a while.
 * Errors:	-EINVAL; -ENODATA the segment has no recorder (struct tq_open_opts);
 *		TQ_ECORRUPT.
 * Since: 0.1.0
 *
 * Return: how many were filled, 0 when there is nothing new, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_trace_read(struct tq *tq, uint64_t *cursor,
				      struct tq_trace_entry *entries, uint32_t count,
				      uint64_t *ret_lost);

/**
 * tq_trace_event_name() - "move", "stop" ...; "unknown" for anything else.
 *
 * Since: 0.1.0
 */
TQ_API const char *tq_trace_event_name(uint32_t event);

#ifdef __cplusplus
}
#endif
#endif
