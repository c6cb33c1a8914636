/* SPDX-License-Identifier: MIT */
/* wait4(), in the forms that are needed. */
#include "client/farm/reap.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "shm/process_group.h"

#define NS_PER_S 1000000000ull
#define NS_PER_US 1000ull
#define BYTES_PER_KIB 1024ull
#define PAUSE_FIRST_NS 100000l /* 0.1 ms: a process that got SIGKILL is gone soon ... */
#define PAUSE_LAST_NS 50000000l /* ... but one may be in the kernel for long */

static void add_usage(struct tqi_usage *usage, const struct rusage *ru)
{
	const struct timeval *times[] = { &ru->ru_utime, &ru->ru_stime };
	uint64_t rss = (uint64_t)ru->ru_maxrss * BYTES_PER_KIB;

	for (int i = 0; i < 2; i++)
		usage->cpu_ns += (uint64_t)times[i]->tv_sec * NS_PER_S +
				 (uint64_t)times[i]->tv_usec * NS_PER_US;
	if (rss > usage->max_rss_bytes)
		usage->max_rss_bytes = rss;
}

int tqi_reap_leader(pid_t pid, struct tqi_usage *usage)
{
	struct rusage ru;
	int status = 0;
	pid_t got;

	do
		got = wait4(pid, &status, 0, &ru);
	while (got < 0 && errno == EINTR);
	if (got != pid)
		return -1;
	add_usage(usage, &ru);
	return status;
}

bool tqi_reap_some(pid_t pgid, struct tqi_usage *usage)
{
	struct rusage ru;
	int status;

	while (wait4(-pgid, &status, WNOHANG, &ru) > 0)
		add_usage(usage, &ru);
	/* Members whose parent lives are not ours; the number stays taken while they last. */
	return kill(-pgid, 0) < 0 && errno == ESRCH;
}

bool tqi_reap_rest(pid_t pgid, struct tqi_usage *usage)
{
	return tqi_reap_some(pgid, usage) || tqi_process_group_is_empty((uint32_t)pgid, 0);
}

void tqi_reap_group(pid_t pgid, struct tqi_usage *usage)
{
	struct timespec pause = { .tv_nsec = PAUSE_FIRST_NS };

	while (!tqi_reap_some(pgid, usage)) {
		if (pause.tv_nsec >= PAUSE_LAST_NS && tqi_reap_rest(pgid, usage))
			return;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_LAST_NS)
			pause.tv_nsec *= 2;
	}
}
