/* SPDX-License-Identifier: MIT */
/* Farms under ptrace(2): of each, one worker gets a signal at a chosen system call. */
#ifndef FARM_TRACER_H
#define FARM_TRACER_H

#include "farm_box.h"

struct farm_trace {
	struct farm_box *box; /* its farm is not started yet */
	unsigned worker; /* which one, in the order of their forks, from 0 */
	unsigned stop;	 /* at this one of its stops, from 1: before and after each system call
			    of each of its threads */
	int signal;

	/* Out. */
	pid_t pid;	/* the worker; 0 the farm has forked fewer */
	unsigned stops; /* that it came to */
	unsigned forked; /* workers */
	int code;	/* the farm's exit code, or 128 + the signal that killed it */
};

/*
 * Start the farms at once, and wait until all have ended.  The test fails when they
 * do not in a bounded time.
 */
void farms_run_traced(struct farm_trace *traces, unsigned count);

#endif
