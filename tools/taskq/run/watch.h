/* SPDX-License-Identifier: MIT */
/*
 * SIGINT, SIGTERM, SIGHUP and the end of a child, received by a thread of their own:
 * so none can be lost between a look at a flag and the sleep that follows.
 */
#ifndef TASKQ_TOOL_WATCH_H
#define TASKQ_TOOL_WATCH_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* Called once, in the watching thread: end all work in an orderly way. */
typedef void watch_stop_fn(void *arg);

struct watch {
	sigset_t before; /* signal mask to give to children */
	sigset_t set;
	pid_t child; /* 0 none */
	watch_stop_fn *stop;
	void *arg;
	pthread_t thread;
	bool running;
	atomic_int signal_number;  /* that asked to stop; 0 none */
	atomic_bool child_is_lost; /* the child ended although nobody wanted it to */
};

/* Blocks the signals; call it before a child is forked and other threads begin. */
void watch_block(struct watch *watch);

/* In a forked child: the signal mask as it was. */
void watch_child_restore(const struct watch *watch);

/* Begins to watch.  0 or -errno. */
int watch_start(struct watch *watch, pid_t child, watch_stop_fn *stop, void *arg);

void watch_end(struct watch *watch);

#endif
