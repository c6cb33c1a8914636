/* SPDX-License-Identifier: MIT */
/* A graph, submitted as a whole and run in one process, beside the same in plain C. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define SMALL 100000	    /* tasks by default */
#define LARGE 1001000	    /* so that there are 3,000,000 dependencies */
#define BYTES_PER_TASK 2048 /* of room in the segment: more than enough */
#define ROUNDS 5

/* Who waits for whom, the other way round: what plain C needs to run it. */
struct plain {
	uint32_t *unmet;
	uint32_t *first; /* of each task: dependants first[t] .. first[t + 1] - 1 */
	uint32_t *dependants;
	uint32_t *queue;
};

static void fill_plain(struct plain *p, const struct bench_layered *g)
{
	for (uint32_t e = 0; e < g->dependencies; e++)
		p->first[g->on[e] + 2]++;
	for (uint32_t t = 2; t < g->tasks + 2; t++)
		p->first[t] += p->first[t - 1];
	const uint32_t *on = g->on;

	for (uint32_t t = BENCH_LAYER; t < g->tasks; t++) {
		p->unmet[t] = BENCH_AFTER;
		for (uint32_t i = 0; i < BENCH_AFTER; i++)
			p->dependants[p->first[*on++ + 1]++] = t;
	}
}

static uint32_t run_plain(const struct plain *p, uint32_t tasks, void (*volatile handler)(uint32_t))
{
	uint32_t begin = 0, end = 0;

	for (uint32_t t = 0; t < BENCH_LAYER && t < tasks; t++)
		p->queue[end++] = t;
	while (begin < end) {
		uint32_t t = p->queue[begin++];

		handler(t);
		for (uint32_t i = p->first[t]; i < p->first[t + 1]; i++)
			if (--p->unmet[p->dependants[i]] == 0)
				p->queue[end++] = p->dependants[i];
	}
	return end;
}

static void nothing(uint32_t task)
{
	(void)task;
}

static uint64_t in_plain_c(const struct bench_layered *g)
{
	const uint64_t begin = bench_now();
	struct plain p = { .unmet = calloc(g->tasks, sizeof(uint32_t)),
			   .first = calloc(g->tasks + 2, sizeof(uint32_t)),
			   .dependants = malloc(g->dependencies * sizeof(uint32_t)),
			   .queue = malloc(g->tasks * sizeof(uint32_t)) };

	fill_plain(&p, g);
	bench_must(run_plain(&p, g->tasks, nothing) == g->tasks ? 0 : TQ_ESTATE, "plain C");
	free(p.unmet);
	free(p.first);
	free(p.dependants);
	free(p.queue);
	return bench_now() - begin;
}

/* The floor: ns a task, the median of some rounds. */
static double floor_of(const struct bench_layered *g)
{
	uint64_t samples[ROUNDS];

	for (uint32_t i = 0; i < ROUNDS; i++)
		samples[i] = in_plain_c(g);
	return (double)bench_quantile(samples, ROUNDS, 0.5) / g->tasks;
}

static uint64_t used(struct tq *tq)
{
	struct tq_segment_info info = { .size = sizeof(info) };

	bench_must(tq_segment_info(tq, &info), "info");
	return info.used_bytes;
}

static struct tq *open_for(uint32_t tasks)
{
	return bench_open_sized((uint64_t)(tasks + BENCH_LAYER) * BYTES_PER_TASK);
}

/* In bytes of the segment, the whole graph. */
static uint64_t memory(const struct bench_layered *g)
{
	struct tq *tq = open_for(g->tasks);
	uint64_t before = used(tq);

	bench_layered_submit(tq, g);
	before = used(tq) - before;
	bench_close(tq);
	return before;
}

static void report_memory(const struct bench_layered *g)
{
	const struct bench_layered loose = { .tasks = g->tasks };
	const double without = (double)memory(&loose), with = (double)memory(g);

	bench_report("graph: segment bytes of a task", without / g->tasks, "bytes", 0);
	bench_report("graph: segment bytes of a dependency", (with - without) / g->dependencies,
		     "bytes", 0);
}

static void report_time(const struct bench_layered *g)
{
	const double floor_ns = floor_of(g);
	struct tq *tq = open_for(g->tasks);
	const uint64_t begin = bench_now(), group = bench_layered_submit(tq, g),
		       submitted = bench_now();

	struct tq_worker *worker;

	bench_must(tq_worker_open(tq, NULL, &worker), "worker");
	bench_layered_run(tq, worker, group, g->tasks);

	const uint64_t end = bench_now();
	const double all_ns = (double)(end - begin) / g->tasks;

	tq_worker_close(worker);
	bench_close(tq);
	bench_report("graph in plain C, a task with its dependencies", floor_ns, "ns", 0);
	bench_report("graph: submitted, a task with its dependencies",
		     (double)(submitted - begin) / g->tasks, "ns", 0);
	bench_report("graph: run, a task with its dependencies",
		     (double)(end - submitted) / g->tasks, "ns", 0);
	bench_report("graph: all of it", (double)(end - begin) / 1e9, "s", 0);
	bench_report("graph: times plain C", all_ns / floor_ns, "times", 0);
}

static void measure(uint32_t tasks)
{
	struct bench_layered g = bench_layered_make(tasks);
	char name[80];

	snprintf(name, sizeof(name), "graph: %u tasks, dependencies", g.tasks);
	bench_report(name, g.dependencies, "", 0);
	report_time(&g);
	report_memory(&g);
	free((void *)(uintptr_t)g.on);
}

void bench_graph(void)
{
	measure(SMALL);
}

void bench_graph_full(void)
{
	measure(LARGE);
}
