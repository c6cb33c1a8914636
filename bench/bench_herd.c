/* SPDX-License-Identifier: MIT */
/*
 * Very many idle workers: what a task costs that one of them runs, and who is woken for it.
 *
 * Processor time is that of all processes together.  Wake-ups are how often workers have gone
 * to sleep again: their voluntary switches of context.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define HERD 200u
#define ROUNDS 5	/* the sides take turns: the median of their ratios */
#define TASKS 200u	/* of a round */
#define SUBMITS 25u	/* whose wake-ups are counted, one by one */
#define IDLE_SUBMITS 3u /* and behind an idle second */
#define IDLE_US 1100000L
#define SETTLE_US 1000L
#define PATH_BYTES 64

struct herd {
	struct tq *tq;
	uint32_t count;
	pid_t workers[HERD];
};

static _Noreturn void be_worker(struct tq *tq)
{
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker;

	bench_must(tq_worker_open(tq, NULL, &worker), "worker");
	for (;;) {
		bench_must(tq_claim(worker, TQ_FOREVER_NS, &claim), "claim");
		bench_must(tq_complete(worker, &claim, NULL, 0), "complete");
	}
}

static uint64_t switches_of(pid_t pid)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return bench_switches(path);
}

static uint64_t switches(const struct herd *h)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < h->count; i++)
		sum += switches_of(h->workers[i]);
	return sum;
}

/* Until all sleep again, as far as one can see. */
static uint64_t settled_switches(const struct herd *h)
{
	uint64_t before, now = switches(h);

	do {
		before = now;
		bench_pause(SETTLE_US);
		now = switches(h);
	} while (now != before);
	return now;
}

static void open_herd(struct herd *h, uint32_t count)
{
	*h = (struct herd){ .tq = bench_open(), .count = count };
	for (uint32_t i = 0; i < count; i++) {
		h->workers[i] = fork();
		if (h->workers[i] == 0)
			be_worker(h->tq);
	}
	settled_switches(h);
}

static void close_herd(struct herd *h)
{
	for (uint32_t i = 0; i < h->count; i++)
		kill(h->workers[i], SIGKILL);
	for (uint32_t i = 0; i < h->count; i++)
		waitpid(h->workers[i], NULL, 0);
	bench_close(h->tq);
}

static void submit(struct herd *h, bool waits)
{
	struct tq_task_spec spec = bench_spec();
	uint64_t id;

	spec.flags = waits ? 0 : TQ_TASK_FORGET;
	bench_must(tq_submit(h->tq, &spec, &id), "submit");
	if (waits)
		bench_must(tq_wait(h->tq, &id, 1, TQ_FOREVER_NS, NULL, NULL), "wait");
}

static uint64_t cpu_of_all(const struct herd *h)
{
	uint64_t sum = bench_cpu_ns(getpid());

	for (uint32_t i = 0; i < h->count; i++)
		sum += bench_cpu_ns(h->workers[i]);
	return sum;
}

/* Processor time of a task that its client waits for. */
static double cpu_of_task(uint32_t workers)
{
	struct herd h;

	open_herd(&h, workers);
	submit(&h, true);
	settled_switches(&h);
	const uint64_t begin = cpu_of_all(&h);

	for (uint32_t i = 0; i < bench_scaled(TASKS); i++)
		submit(&h, true);
	const double of = (double)(cpu_of_all(&h) - begin) / bench_scaled(TASKS);

	close_herd(&h);
	return of;
}

static void compare_cpu(void)
{
	uint64_t one[ROUNDS], many[ROUNDS], ratios[ROUNDS];

	for (uint32_t i = 0; i < ROUNDS; i++) {
		one[i] = (uint64_t)cpu_of_task(1);
		many[i] = (uint64_t)cpu_of_task(HERD);
		ratios[i] = 1000 * many[i] / one[i];
	}
	bench_report("submit and wait on one processor, 1 idle worker, CPU of all",
		     (double)bench_quantile(one, ROUNDS, 0.5) / 1000, "us", 0);
	bench_report("the same, 200 idle workers", (double)bench_quantile(many, ROUNDS, 0.5) / 1000,
		     "us", 0);
	bench_report("submit and wait, 200 idle workers against 1",
		     (double)bench_quantile(ratios, ROUNDS, 0.5) / 1000, "times", 1.3);
}

/* Of one submit, the median of `count`, each of them `idle_us` after the one before. */
static double wakes_of_submit(struct herd *h, uint32_t count, bool waits, long idle_us)
{
	uint64_t samples[SUBMITS];

	for (uint32_t i = 0; i < count; i++) {
		settled_switches(h);
		for (long us = 0; us < idle_us; us += SETTLE_US)
			bench_pause(SETTLE_US); /* keepers look once more in it, and sleep then */
		const uint64_t before = settled_switches(h);

		submit(h, waits);
		samples[i] = settled_switches(h) - before;
	}
	return (double)bench_quantile(samples, count, 0.5);
}

static void count_wakes(void)
{
	struct herd h;

	open_herd(&h, HERD);
	submit(&h, true);
	bench_report("workers woken by a submit, 200 idle", wakes_of_submit(&h, SUBMITS, false, 0),
		     "", 2);
	bench_report("the same, its client waits", wakes_of_submit(&h, SUBMITS, true, 0), "", 2);
	bench_report("the same, behind an idle second",
		     wakes_of_submit(&h, IDLE_SUBMITS, true, IDLE_US), "", 5);
	close_herd(&h);
}

void bench_herd(void)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	compare_cpu();
	sched_setaffinity(0, sizeof(all), &all);
	count_wakes();
}
