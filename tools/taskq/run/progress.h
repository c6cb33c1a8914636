/* SPDX-License-Identifier: MIT */
/*
 * How far `map` has come, in one line of a terminal at standard error.  It is always the last
 * thing there: who writes to the terminal takes it away before, and lets it come again after.
 */
#ifndef TASKQ_TOOL_PROGRESS_H
#define TASKQ_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

struct progress {
	bool is_on; /* below, nothing is used without it */
	mtx_t lock; /* of the terminal, and all below */
	bool is_shown;
	bool is_inside_line; /* somebody's last byte was no line feed: it would be hidden */
	uint64_t begun_ns;
	uint64_t next_ns; /* not to be drawn before */
	uint64_t ended;	  /* tasks */
	uint64_t failed;  /* of these */
};

/* On, if standard error is a terminal that can erase a line, and @wanted. */
void progress_init(struct progress *progress, bool wanted);
/* While this thread writes to the terminal. */
void progress_pause(struct progress *progress);
void progress_go_on(struct progress *progress);
/* Draws it, some times a second at most.  @more: input may still come, beyond the tasks that
 * have ended and the @waiting ones. */
void progress_draw(struct progress *progress, unsigned waiting, bool more);
void progress_end(struct progress *progress);

#endif
