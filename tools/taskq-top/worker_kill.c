/* SPDX-License-Identifier: MIT */
/* Signals to a worker's process. */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "worker_kill.h"

#define TICK_NS 10000000ull /* as exact as the start of a process is known */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* Whether it had begun when the worker registered; both as ages, for the clocks differ
 * by the time that the machine was suspended. */
static int is_old_enough(const struct tq_worker_info *worker)
{
	struct process process;

	if (!process_read(worker->pid, &process))
		return 0;
	return clock_ns(CLOCK_BOOTTIME) - process.began_ns + TICK_NS >=
	       clock_ns(CLOCK_MONOTONIC) - worker->registered_ns;
}

static int is_registered(struct tq *tq, const struct tq_worker_info *worker)
{
	struct tq_worker_info info = { .size = sizeof(info) };
	uint64_t cursor = worker->number;

	return tq_worker_list(tq, &cursor, &info, 1) == 1 && info.number == worker->number &&
	       info.registered_ns == worker->registered_ns && info.pid == worker->pid &&
	       !(info.flags & TQ_WORKER_IS_DYING);
}

static int send_signal(struct tq *tq, const struct tq_worker_info *worker, int number)
{
	const int fd = (int)syscall(SYS_pidfd_open, (pid_t)worker->pid, 0);
	int r = fd < 0 ? -errno : 0;

	if (r == 0 && (!is_registered(tq, worker) || !is_old_enough(worker)))
		r = -ESRCH;
	if (r == 0 && syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

int worker_terminate(struct tq *tq, const struct tq_worker_info *worker)
{
	return send_signal(tq, worker, SIGTERM);
}

int worker_kill(struct tq *tq, const struct tq_worker_info *worker)
{
	return send_signal(tq, worker, SIGKILL);
}
