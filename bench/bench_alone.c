/* SPDX-License-Identifier: MIT */
/*
 * One process: the whole life of a task, at several depths; beside that in the sketch of a
 * bare lock, journal, clock and heap, in turns with it, so that what else the machine does
 * meets both.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench_sketch.h"

#define BATCHES 31 /* of either, in turns: the medians of times and of ratios */
#define LIVES 10000
#define SPARE_TASKS 8 /* beside those that wait */

struct alone {
	struct sketch *sketch; /* the floor, as deep */
	uint32_t running;      /* there */
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

/* The same in the sketch. */
static void live_in_sketch(struct alone *a, uint32_t count)
{
	char payload[BENCH_PAYLOAD_BYTES] = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		sketch_submit(a->sketch, bench_priority(), payload);
		sketch_claim(a->sketch, &a->running, payload);
		sketch_complete(a->sketch, a->running);
	}
}

static void live_in_sketch_with_next(struct alone *a, uint32_t count)
{
	char payload[BENCH_PAYLOAD_BYTES] = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		sketch_submit(a->sketch, bench_priority(), payload);
		sketch_next(a->sketch, &a->running, payload);
	}
}

static void open_sketch(struct alone *a, uint32_t depth)
{
	char payload[BENCH_PAYLOAD_BYTES] = { 0 };

	a->sketch = sketch_open(depth + SPARE_TASKS);
	for (uint32_t i = 0; i < depth; i++)
		sketch_submit(a->sketch, bench_priority(), payload);
}

typedef void live_many(struct alone *a, uint32_t count);

/* Processor time: the longer of the two is interrupted more often on a busy machine. */
static uint64_t time_of(live_many *lives, struct alone *a)
{
	const uint64_t begin_ns = bench_cpu_ns(getpid());

	lives(a, bench_scaled(LIVES));
	return bench_cpu_ns(getpid()) - begin_ns;
}

static void compare(struct alone *a, const char *name, uint32_t depth, live_many *ours,
		    live_many *floor)
{
	uint64_t times[BATCHES], floors[BATCHES], ratios[BATCHES];
	const double lives = bench_scaled(LIVES);
	char row[96];

	for (uint32_t i = 0; i < BATCHES; i++) {
		floors[i] = time_of(floor, a);
		times[i] = time_of(ours, a);
		ratios[i] = 1000 * times[i] / floors[i];
	}
	snprintf(row, sizeof(row), "%s, %u waiting, times the floor", name, depth);
	bench_report(row, (double)bench_quantile(ratios, BATCHES, 0.5) / 1000, "times", 1.6);
	snprintf(row, sizeof(row), "%s, %u waiting", name, depth);
	bench_report(row, (double)bench_quantile(times, BATCHES, 0.5) / lives, "ns", 0);
	snprintf(row, sizeof(row), "the floor: lock, journal, clock and heap");
	bench_report(row, (double)bench_quantile(floors, BATCHES, 0.5) / lives, "ns", 0);
}

static void first_claim(struct alone *a)
{
	submit(a);
	bench_must(tq_claim(a->worker, 0, &a->claim), "claim");
}

static void at_depth(uint32_t depth)
{
	struct alone a;
	char payload[BENCH_PAYLOAD_BYTES] = { 0 };

	open_alone(&a, depth);
	open_sketch(&a, depth);
	compare(&a, "life of a task", depth, live, live_in_sketch);
	first_claim(&a);
	sketch_submit(a.sketch, bench_priority(), payload);
	sketch_claim(a.sketch, &a.running, payload);
	compare(&a, "life of a task with tq_next", depth, live_with_next, live_in_sketch_with_next);
	sketch_close(a.sketch);
	close_alone(&a);
}

void bench_alone(void)
{
	at_depth(0);
	at_depth(1000);
	at_depth(bench_scaled(1000000));
}

static void lives_in_sketch(uint32_t count, uint32_t depth)
{
	struct alone a = { 0 };

	open_sketch(&a, depth);
	live_in_sketch(&a, count);
	sketch_close(a.sketch);
}

void bench_lives(uint32_t count, uint32_t depth, const char *how)
{
	bool with_next = strcmp(how, "next") == 0;
	struct alone a;

	if (strcmp(how, "floor") == 0) {
		lives_in_sketch(count, depth);
		return;
	}
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
