/* SPDX-License-Identifier: MIT */
/*
 * What a command leaves behind outside of its group.  Its worker is a subreaper: orphans
 * become the worker's children, and end with the attempt.
 *
 * LO-1  A worker that has no children when it starts a command has none but the command's
 *     until it has ended them.  One that has, as a handler left some, ends only those that
 *     bear the command's mark (client/core/marked.h).
 * LO-2  Of a command that may leave something behind the orphans go to the master instead,
 *     which reaps them when they end.
 */
#ifndef TQI_CLIENT_FARM_LEFTOVERS_H
#define TQI_CLIENT_FARM_LEFTOVERS_H

#include <signal.h>
#include <stdbool.h>

#include "client/core/marked.h"
#include "client/farm/reap.h"

struct tqi_leftovers {
	struct tqi_mark mark;
	const char *path; /* of the segment */
	bool allowed;
	bool alone; /* LO-1 */
	sigset_t open, before;
	struct sigaction action;
};

/* Before the command is forked. */
void tqi_leftovers_begin(struct tqi_leftovers *l, const char *path, uint64_t id, bool allowed);
/*
 * While it runs SIGCHLD is blocked, but in `open`: there it interrupts, for orphans to be
 * reaped.
 */
void tqi_leftovers_watch(struct tqi_leftovers *l);
void tqi_leftovers_unwatch(struct tqi_leftovers *l);
/* Orphans that have ended; the leader stays. */
void tqi_leftovers_reap(struct tqi_usage *usage, pid_t leader);
/* When the command's group is gone: end all that it has left, unless it may. */
void tqi_leftovers_end(const struct tqi_leftovers *l, struct tqi_usage *usage);
/* After it, or when there was no command. */
void tqi_leftovers_finish(const struct tqi_leftovers *l);

#endif
