/* SPDX-License-Identifier: MIT */
/*
 * A farm that has nothing to do, for ten seconds: how often its master and its workers wake.
 * A wake-up is a voluntary switch of context of any of their threads.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define IDLE_MS 10000u
#define CROWD 32u
#define PATH_BYTES 320
/* By hand, on two processors: 0.1 with one worker, 4.5 with 32. */
#define BOUND_OF_ONE 1
#define BOUND_OF_CROWD 10

static pid_t start_farm(struct tq *tq, uint32_t workers)
{
	const struct tq_farm_opts opts = { .size = sizeof(opts), .workers = workers };
	const pid_t pid = fork();

	if (pid == 0)
		_exit(tq_farm_run(tq, &opts) < 0);
	return pid;
}

/* Of all threads of a process. */
static uint64_t switches_of(uint32_t pid)
{
	char path[PATH_BYTES];
	const struct dirent *thread;
	uint64_t sum = 0;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	DIR *threads = opendir(path);

	while (threads && (thread = readdir(threads))) {
		snprintf(path, sizeof(path), "/proc/%u/task/%.16s/status", pid, thread->d_name);
		sum += bench_switches(path);
	}
	if (threads)
		closedir(threads);
	return sum;
}

/* Of the master and its workers; *ret_workers: how many have come. */
static uint64_t switches(struct tq *tq, pid_t master, uint32_t *ret_workers)
{
	struct tq_worker_info w = { .size = sizeof(w) };
	uint64_t cursor = 0, sum = switches_of((uint32_t)master);

	*ret_workers = 0;
	for (; tq_worker_list(tq, &cursor, &w, 1) > 0; w.size = sizeof(w)) {
		if (w.pid == (uint32_t)master)
			continue;
		*ret_workers += 1;
		sum += switches_of(w.pid);
	}
	return sum;
}

/* All have come, and sleep as far as one can see. */
static uint64_t settled(struct tq *tq, pid_t master, uint32_t workers)
{
	uint64_t before, now = 0;
	uint32_t here;

	do {
		before = now;
		bench_pause(100000);
		now = switches(tq, master, &here);
	} while (here < workers || now != before);
	return now;
}

static double wakes_a_second(uint32_t workers)
{
	const uint32_t ms = bench_scaled(IDLE_MS);
	struct tq *tq = bench_open();
	const pid_t master = start_farm(tq, workers);
	const uint64_t before = settled(tq, master, workers);
	uint32_t here;

	for (uint32_t i = 0; i < ms; i += 100)
		bench_pause(100000);
	const uint64_t sum = switches(tq, master, &here) - before;

	kill(master, SIGTERM);
	waitpid(master, NULL, 0);
	bench_close(tq);
	return (double)sum * 1000 / ms;
}

void bench_idle(void)
{
	bench_report("wake-ups of an idle farm, 1 worker", wakes_a_second(1), "a second",
		     BOUND_OF_ONE);
	bench_report("wake-ups of an idle farm, 32 workers", wakes_a_second(CROWD), "a second",
		     BOUND_OF_CROWD);
}
