/* SPDX-License-Identifier: MIT */
/* One process: the whole life of a task, at several depths; memory of a waiting task. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define LIVES 300000

struct alone {
	struct tq *tq;
	struct tq_worker *worker;
};

static struct alone open_alone(uint32_t depth)
{
	struct alone a = { .tq = bench_open() };
	struct tq_task_spec spec = bench_spec();

	bench_must(tq_worker_open(a.tq, NULL, &a.worker), "worker");
	for (uint32_t i = 0; i < depth; i++) {
		spec.priority = rand() % 1000;
		bench_must(tq_submit(a.tq, &spec, NULL), "submit");
	}
	return a;
}

static void close_alone(struct alone *a)
{
	tq_worker_close(a->worker);
	bench_close(a->tq);
}

/* Submit, claim, complete: three holds. */
static double life(struct alone *a)
{
	struct tq_task_spec spec = bench_spec();
	struct tq_claim claim = { .size = sizeof(claim) };
	uint64_t begin = bench_now();

	for (uint32_t i = 0; i < LIVES; i++) {
		spec.priority = rand() % 1000;
		bench_must(tq_submit(a->tq, &spec, NULL), "submit");
		bench_must(tq_claim(a->worker, 0, &claim), "claim");
		bench_must(tq_complete(a->worker, &claim, NULL, 0), "complete");
	}
	return (double)(bench_now() - begin) / LIVES;
}

/* Submit, then verdict and next claim in one: two holds. */
static double life_with_next(struct alone *a)
{
	const struct tq_verdict done = { .size = sizeof(done), .kind = TQ_VERDICT_DONE };
	struct tq_task_spec spec = bench_spec();
	struct tq_claim claim = { .size = sizeof(claim) };
	int verdict;

	bench_must(tq_submit(a->tq, &spec, NULL), "submit");
	bench_must(tq_claim(a->worker, 0, &claim), "claim");
	uint64_t begin = bench_now();

	for (uint32_t i = 0; i < LIVES; i++) {
		spec.priority = rand() % 1000;
		bench_must(tq_submit(a->tq, &spec, NULL), "submit");
		bench_must(tq_next(a->worker, &claim, &done, 0, &claim, &verdict), "next");
	}
	return (double)(bench_now() - begin) / LIVES;
}

static void at_depth(uint32_t depth, double bound)
{
	struct alone a = open_alone(depth);
	char name[80];

	snprintf(name, sizeof(name), "life of a task, %u waiting", depth);
	bench_report(name, life(&a), "ns", bound);
	snprintf(name, sizeof(name), "the same with tq_next, %u waiting", depth);
	bench_report(name, life_with_next(&a), "ns", bound);
	close_alone(&a);
}

static void memory(void)
{
	const uint32_t count = 1000000;
	struct tq *tq = bench_open();
	struct tq_task_spec spec = { .size = sizeof(spec), .kind = "bench" };
	struct tq_segment_info before = { .size = sizeof(before) };
	struct tq_segment_info after = { .size = sizeof(after) };

	bench_must(tq_segment_info(tq, &before), "info");
	for (uint32_t i = 0; i < count; i++)
		bench_must(tq_submit(tq, &spec, NULL), "submit");
	bench_must(tq_segment_info(tq, &after), "info");
	bench_report("segment bytes of a waiting task, empty payload",
		     (double)(after.used_bytes - before.used_bytes) / count, "bytes", 320);
	bench_close(tq);
}

void bench_alone(void)
{
	at_depth(0, 150);
	at_depth(1000, 0);
	at_depth(1000000, 700);
	memory();
}
