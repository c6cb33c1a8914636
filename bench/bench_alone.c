/* SPDX-License-Identifier: MIT */
/* One process: the whole life of a task, at several depths. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define BATCHES 15 /* the median of them: others use the machine, too */
#define LIVES 20000

struct alone {
	struct tq *tq;
	struct tq_worker *worker;
	struct tq_claim claim;
};

static void open_alone(struct alone *a, uint32_t depth)
{
	*a = (struct alone){ .tq = bench_open(), .claim = { .size = sizeof(a->claim) } };
	bench_must(tq_worker_open(a->tq, NULL, &a->worker), "worker");
	bench_fill(a->tq, depth);
}

static void close_alone(struct alone *a)
{
	tq_worker_close(a->worker);
	bench_close(a->tq);
}

static void submit(struct alone *a)
{
	struct tq_task_spec spec = bench_spec();

	spec.priority = bench_priority();
	bench_must(tq_submit(a->tq, &spec, NULL), "submit");
}

/* Submit, claim, complete: three holds. */
static void live(struct alone *a, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		submit(a);
		bench_must(tq_claim(a->worker, 0, &a->claim), "claim");
		bench_must(tq_complete(a->worker, &a->claim, NULL, 0), "complete");
	}
}

/* Submit, then verdict and next claim in one: two holds.  A claim is there before and after. */
static void live_with_next(struct alone *a, uint32_t count)
{
	const struct tq_verdict done = { .size = sizeof(done), .kind = TQ_VERDICT_DONE };
	int verdict;

	for (uint32_t i = 0; i < count; i++) {
		submit(a);
		bench_must(tq_next(a->worker, &a->claim, &done, 0, &a->claim, &verdict), "next");
	}
}

static double median_life(struct alone *a, void (*lives)(struct alone *, uint32_t))
{
	uint64_t samples[BATCHES];

	for (uint32_t i = 0; i < BATCHES; i++) {
		uint64_t begin = bench_now();

		lives(a, LIVES);
		samples[i] = bench_now() - begin;
	}
	return (double)bench_quantile(samples, BATCHES, 0.5) / LIVES;
}

static void first_claim(struct alone *a)
{
	submit(a);
	bench_must(tq_claim(a->worker, 0, &a->claim), "claim");
}

static void at_depth(uint32_t depth, double bound)
{
	struct alone a;
	char name[80];

	open_alone(&a, depth);
	snprintf(name, sizeof(name), "life of a task, %u waiting", depth);
	bench_report(name, median_life(&a, live), "ns", bound);
	first_claim(&a);
	snprintf(name, sizeof(name), "life of a task with tq_next, %u waiting", depth);
	bench_report(name, median_life(&a, live_with_next), "ns", bound);
	close_alone(&a);
}

void bench_alone(void)
{
	at_depth(0, 150);
	at_depth(1000, 0);
	at_depth(1000000, 700);
}

void bench_lives(uint32_t count, uint32_t depth, const char *how)
{
	bool with_next = strcmp(how, "next") == 0;
	struct alone a;

	if (*how && !with_next && bench_policy_lives(count, depth, how))
		return;
	open_alone(&a, depth);
	if (with_next) {
		first_claim(&a);
		live_with_next(&a, count);
	} else {
		live(&a, count);
	}
	close_alone(&a);
}
