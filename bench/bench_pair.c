/* SPDX-License-Identifier: MIT */
/* Two processes: throughput at a bounded depth, and wake-ups beside a bare futex. */
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define TASKS 300000
#define DEPTH 256
#define PINGS 5000

static void work(struct tq *tq, bool fused)
{
	const struct tq_verdict done = { .size = sizeof(done), .kind = TQ_VERDICT_DONE };
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker;
	int verdict, r;

	bench_must(tq_worker_open(tq, NULL, &worker), "worker");
	r = tq_claim(worker, TQ_FOREVER_NS, &claim);
	for (uint32_t i = 1; i < TASKS && r >= 0; i++) {
		if (fused) {
			r = tq_next(worker, &claim, &done, TQ_FOREVER_NS, &claim, &verdict);
			continue;
		}
		bench_must(tq_complete(worker, &claim, NULL, 0), "complete");
		r = tq_claim(worker, TQ_FOREVER_NS, &claim);
	}
	bench_must(r, "claim");
	bench_must(tq_complete(worker, &claim, NULL, 0), "complete");
	tq_worker_close(worker);
	_exit(0);
}

static double throughput(bool fused)
{
	const struct tq_queue_opts bounded = { .size = sizeof(bounded), .depth_max = DEPTH };
	struct tq *tq = bench_open();
	struct tq_task_spec spec = bench_spec();
	int status;

	spec.full_timeout_ns = TQ_FOREVER_NS / 4;
	bench_must(tq_queue_set(tq, "default", &bounded), "queue");
	uint64_t begin = bench_now();
	pid_t worker = fork();

	if (worker == 0)
		work(tq, fused);
	for (uint32_t i = 0; i < TASKS; i++)
		bench_must(tq_submit(tq, &spec, NULL), "submit");
	waitpid(worker, &status, 0);
	double ns = (double)(bench_now() - begin) / TASKS;

	bench_close(tq);
	return ns;
}

struct ping {
	_Atomic uint32_t word;
	_Atomic uint64_t sent;
	uint64_t samples[PINGS];
};

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

/* The floor: one process sleeps on a word, the other bumps and wakes it. */
static void futex_pings(struct ping *p)
{
	pid_t sleeper = fork();

	if (sleeper == 0) {
		for (uint32_t i = 0; i < PINGS; i++) {
			while (atomic_load(&p->word) == i)
				futex(&p->word, FUTEX_WAIT, i);
			p->samples[i] = bench_now() - atomic_load(&p->sent);
		}
		_exit(0);
	}
	for (uint32_t i = 0; i < PINGS; i++) {
		bench_pause(50); /* long enough for the other to be asleep again */
		atomic_store(&p->sent, bench_now());
		atomic_store(&p->word, i + 1);
		futex(&p->word, FUTEX_WAKE, 1);
	}
	waitpid(sleeper, NULL, 0);
}

static void taskq_pings(struct ping *p)
{
	struct tq *tq = bench_open();
	struct tq_task_spec spec = bench_spec();
	pid_t sleeper = fork();

	if (sleeper == 0) {
		struct tq_claim claim = { .size = sizeof(claim) };
		struct tq_worker *worker;

		bench_must(tq_worker_open(tq, NULL, &worker), "worker");
		for (uint32_t i = 0; i < PINGS; i++) {
			bench_must(tq_claim(worker, TQ_FOREVER_NS, &claim), "claim");
			p->samples[i] = bench_now() - atomic_load(&p->sent);
			bench_must(tq_complete(worker, &claim, NULL, 0), "complete");
		}
		tq_worker_close(worker);
		_exit(0);
	}
	for (uint32_t i = 0; i < PINGS; i++) {
		bench_pause(50);
		atomic_store(&p->sent, bench_now());
		bench_must(tq_submit(tq, &spec, NULL), "submit");
	}
	waitpid(sleeper, NULL, 0);
	bench_close(tq);
}

static double median_ping(void (*run)(struct ping *))
{
	struct ping *p =
		mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	run(p);
	double us = (double)bench_quantile(p->samples, PINGS, 0.5) / 1000;

	munmap(p, sizeof(*p));
	return us;
}

void bench_pair(void)
{
	bench_report("one producer and one worker process, a task", throughput(false), "ns", 1500);
	bench_report("the same with tq_next", throughput(true), "ns", 1500);
	double bare = median_ping(futex_pings), ours = median_ping(taskq_pings);

	bench_report("wake-up of a sleeper, bare futex, median", bare, "us", 0);
	bench_report("wake-up of a sleeping worker by a submit, median", ours, "us", 0);
	bench_report("the second by the first", ours / bare, "times", 1.5);
}
