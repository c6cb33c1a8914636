/* SPDX-License-Identifier: MIT */
/* Two processes, a producer and a worker: throughput at a bounded depth. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define TASKS 300000
#define ROOM 256 /* tasks that the producer may be ahead by */

static void work(struct tq *tq, bool with_next)
{
	const struct tq_verdict done = { .size = sizeof(done), .kind = TQ_VERDICT_DONE };
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker;
	int verdict, r;

	bench_must(tq_worker_open(tq, NULL, &worker), "worker");
	r = tq_claim(worker, TQ_FOREVER_NS, &claim);
	for (uint32_t i = 1; i < TASKS && r >= 0; i++) {
		if (with_next) {
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

/* `depth` tasks wait all the while; both go on as fast as they can. */
static double throughput(uint32_t depth, bool with_next)
{
	const struct tq_queue_opts bounded = { .size = sizeof(bounded), .depth_max = depth + ROOM };
	struct tq *tq = bench_open();
	struct tq_task_spec spec = bench_spec();

	spec.full_timeout_ns = TQ_FOREVER_NS / 4;
	bench_must(tq_queue_set(tq, "default", &bounded), "queue");
	bench_fill(tq, depth);
	uint64_t begin = bench_now();
	pid_t worker = fork();

	if (worker == 0)
		work(tq, with_next);
	for (uint32_t i = 0; i < TASKS; i++) {
		spec.priority = bench_priority();
		bench_must(tq_submit(tq, &spec, NULL), "submit");
	}
	waitpid(worker, NULL, 0);
	double ns = (double)(bench_now() - begin) / TASKS;

	bench_close(tq);
	return ns;
}

static void at_depth(uint32_t depth, double bound)
{
	char name[80];

	snprintf(name, sizeof(name), "producer and worker processes, %u waiting", depth);
	bench_report(name, throughput(depth, false), "ns", bound);
	snprintf(name, sizeof(name), "producer and worker with tq_next, %u waiting", depth);
	bench_report(name, throughput(depth, true), "ns", bound);
}

void bench_pair(void)
{
	at_depth(0, 1500);
	at_depth(1000, 0);
	at_depth(1000000, 0);
}
