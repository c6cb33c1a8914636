/* SPDX-License-Identifier: MIT */
/*
 * Signals to a worker's process.  Its number may have changed hands: the signal goes to
 * a process descriptor, after it has been made sure that this process had begun when
 * the worker registered.  Two processes never have one number at one time, so it is the
 * worker's.
 */
#ifndef TASKQ_TOP_WORKER_KILL_H
#define TASKQ_TOP_WORKER_KILL_H

#include <taskq/taskq.h>

/* 0; -ESRCH it is gone; -EPERM it is another user's; or another error. */
int worker_terminate(struct tq *tq, const struct tq_worker_info *worker);
int worker_kill(struct tq *tq, const struct tq_worker_info *worker);

#endif
