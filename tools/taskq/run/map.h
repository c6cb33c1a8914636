/* SPDX-License-Identifier: MIT */
/*
 * `map`: one task a line of input.  A thread feeds (reads lines, hands tasks in), the
 * main thread collects (waits, prints, forgets); between them a window of tasks in
 * flight, which bounds memory here and in the segment.
 */
#ifndef TASKQ_TOOL_MAP_H
#define TASKQ_TOOL_MAP_H

#include <threads.h>

#include "tools/taskq/options/task_options.h"
#include "tools/taskq/run/joblog.h"
#include "tools/taskq/run/progress.h"
#include "tools/taskq/run/spool.h"
#include "tools/taskq/submit/reader.h"

enum {
	/* What execve() takes as one argument (MAX_ARG_STRLEN), without its NUL. */
	MAP_ARG_BYTES = (128 << 10) - 1
};

/* A task in flight. */
struct map_task {
	uint64_t id;
	uint64_t number;     /* of its line */
	char *line;	     /* for the message when it fails */
	struct spool *spool; /* what it has written and we have read; NULL nothing yet */
};

struct map {
	struct cli *cli;
	struct task_options *options;
	char **argv; /* with {} in it; NULL-terminated */
	int argc;
	bool in_order;
	uint64_t halt; /* after so many have failed the others are cancelled; 0 never */
	struct joblog joblog;
	struct progress progress;
	struct reader reader;
	uint64_t line_number; /* of the line that was read last */
	bool refusal_told;    /* or a farm of our own tells; see refusal.h */

	mtx_t lock; /* guards all below */
	cnd_t changed;
	struct map_task *tasks; /* in the order of their lines */
	unsigned count;
	unsigned window;
	bool has_tasks;	    /* some were under way when it began to submit: the feeder's own */
	bool is_submitting; /* a task may be in the segment that is not among ->tasks */
	bool at_end;	    /* no more lines, or feeding failed */
	bool is_stopping;   /* cancel everything */
	int feed_code;	    /* exit code when feeding failed */
};

/* map_feed.c: reads a line and hands its task in.  1; 0 at the end; negative when it
 * failed, which it has reported, with map->feed_code. */
int map_feed_one(struct map *map);

/* Prints the commands that would be run; the exit code. */
int map_print(struct map *map);

/* Feeds until the end of the input; a thread's body. */
int map_feed(void *map);

/* map_collect.c: until nothing is in flight and nothing will come.  The exit code. */
int map_collect(struct map *map);

/* Cancels one task, unless it has ended by itself. */
void map_cancel(struct map *map, uint64_t id);

/* Cancels all that is in flight and all that still comes. */
void map_stop(void *map);

#endif
