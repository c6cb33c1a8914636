/* SPDX-License-Identifier: MIT */
/* The operations table of a live system. */
#include "shm/ops.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <urcu/arch.h>

#include "shm/process_group.h"

#define NS_PER_S 1000000000ull
#define PAUSES_TIMED 64 /* 1 to 5 us: long beside the clock, short beside a time slice */
#define ROUNDS_TIMED 5	/* of which the shortest counts: it was not interrupted */

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static uint64_t now(void *ctx)
{
	(void)ctx;
	return read_clock(CLOCK_MONOTONIC);
}

static uint64_t wall(void *ctx)
{
	(void)ctx;
	return read_clock(CLOCK_REALTIME);
}

static int wait_by(clockid_t clock, const struct tqi_futex *words, uint32_t count,
		   uint64_t until_ns)
{
	struct futex_waitv waiters[TQI_FUTEX_WAIT_MAX];
	struct timespec ts, *timeout = NULL;

	if (count > TQI_FUTEX_WAIT_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++) {
		/* No FUTEX_PRIVATE_FLAG: the words are shared between processes. */
		waiters[i] = (struct futex_waitv){
			.val = words[i].value,
			.uaddr = (uintptr_t)words[i].word,
			.flags = FUTEX_32,
		};
	}
	if (until_ns != UINT64_MAX) {
		ts.tv_sec = (time_t)(until_ns / NS_PER_S);
		ts.tv_nsec = (long)(until_ns % NS_PER_S);
		timeout = &ts;
	}
	if (syscall(SYS_futex_waitv, waiters, count, 0, timeout, clock) >= 0)
		return 0;
	return errno == EAGAIN ? 0 : -errno;
}

static int futex_wait(void *ctx, const struct tqi_futex *words, uint32_t count, uint64_t until_ns)
{
	(void)ctx;
	return wait_by(CLOCK_MONOTONIC, words, count, until_ns);
}

/* The kernel looks at these timers again whenever the clock is set. */
static int futex_wait_wall(void *ctx, const struct tqi_futex *words, uint32_t count,
			   uint64_t until_ns)
{
	(void)ctx;
	return wait_by(CLOCK_REALTIME, words, count, until_ns);
}

static void futex_wake(void *ctx, struct tqi_word32 *word, uint32_t count)
{
	(void)ctx;
	syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

/* A readable pidfd means that the whole thread group is gone. */
static bool pidfd_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

/*
 * Proof, not absence of evidence: /proc can hide a live process (hidepid), so
 * only a start time that was read and differs counts.
 */
static bool process_gone(void *ctx, const struct tqi_ident *who)
{
	uint64_t start;
	char state;

	(void)ctx;
	if (who->pid == 0)
		return true;
	int fd = (int)syscall(SYS_pidfd_open, who->pid, 0);

	/* ENOENT, before 6.15 EINVAL: the number is a thread's now, so the process has gone. */
	if (fd < 0)
		return errno == ESRCH || errno == ENOENT || errno == EINVAL;
	bool gone = pidfd_readable(fd);

	if (!gone && who->start && tqi_pid_start(who->pid, &start, &state) == 0)
		gone = start != who->start;
	close(fd);
	return gone;
}

static bool thread_gone(void *ctx, uint32_t tid, uint64_t tid_start)
{
	(void)ctx;
	/* Any live thread with that id, of whatever process, forbids the proof. */
	(void)tid_start;
	return syscall(SYS_tkill, tid, 0) < 0 && errno == ESRCH;
}

static bool group_empty(void *ctx, uint32_t pgid, uint64_t start)
{
	(void)ctx;
	return tqi_process_group_is_empty(pgid, start);
}

static bool is_unlinked(void *ctx, int fd)
{
	struct stat st;

	(void)ctx;
	return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

/* More processors than the set has room for are an error, and certainly not one. */
static bool is_alone(void)
{
	cpu_set_t allowed;

	return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) == 1;
}

static uint64_t time_pauses(void)
{
	uint64_t begin = now(NULL);

	for (uint32_t i = 0; i < PAUSES_TIMED; i++)
		caa_cpu_relax();
	return now(NULL) - begin;
}

static uint32_t pauses(void *ctx, uint64_t ns)
{
	uint64_t shortest = UINT64_MAX;

	(void)ctx;
	if (is_alone())
		return 0;
	for (uint32_t i = 0; i < ROUNDS_TIMED; i++) {
		uint64_t took = time_pauses();

		shortest = took < shortest ? took : shortest;
	}
	return (uint32_t)(ns * PAUSES_TIMED / (shortest + !shortest));
}

const struct tqi_ops tqi_ops_linux = {
	.now = now,
	.futex_wait = futex_wait,
	.wall = wall,
	.futex_wait_wall = futex_wait_wall,
	.futex_wake = futex_wake,
	.process_gone = process_gone,
	.thread_gone = thread_gone,
	.group_empty = group_empty,
	.is_unlinked = is_unlinked,
	.pauses = pauses,
	.ctx = NULL,
};
