/* SPDX-License-Identifier: MIT */
/*
 * Standard error of the commands of `run` and `map`: a pipe of ours, which the worker opens
 * by our process and the number of its descriptor, and a thread that copies it.  As with any
 * pipe, who writes waits for us, and gets SIGPIPE when we are killed.
 */
#ifndef TASKQ_TOOL_ERRORS_PIPE_H
#define TASKQ_TOOL_ERRORS_PIPE_H

#include <pthread.h>
#include <stdbool.h>

#include "tools/taskq/run/progress.h"

struct errors_pipe {
	int read;
	int write; /* kept open, so that others can open it: there is never an end of file */
	int ending;
	pthread_t thread;
	struct progress *progress; /* of ours, at the same terminal; NULL none */
	bool running;
};

/* The descriptor for commands; -1 where standard output and standard error are the same file:
 * there one stream keeps their order. */
int errors_pipe_open(struct errors_pipe *errors);
/* Starts copying; all signals are blocked in the thread.  0 or -errno. */
int errors_pipe_start(struct errors_pipe *errors);
/* When nobody writes any more: all of it has been copied. */
void errors_pipe_end(struct errors_pipe *errors);

#endif
