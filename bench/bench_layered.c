/* SPDX-License-Identifier: MIT */
/* A graph in layers, each task but those of the first after three of the layer before. */
#include <errno.h>
#include <stdlib.h>

#include "bench.h"

#define STRIDE 331 /* between those three: so they differ */

struct bench_layered bench_layered_make(uint32_t tasks)
{
	struct bench_layered g = { .tasks = tasks,
				   .dependencies = (tasks - BENCH_LAYER) * BENCH_AFTER };
	uint32_t *on = malloc(g.dependencies * sizeof(*on));

	bench_must(on ? 0 : -ENOMEM, "graph");
	g.on = on;
	for (uint32_t t = BENCH_LAYER; t < tasks; t++) {
		uint32_t layer = t / BENCH_LAYER - 1, place = (uint32_t)bench_priority();

		for (uint32_t i = 0; i < BENCH_AFTER; i++)
			*on++ = layer * BENCH_LAYER + (place + i * STRIDE) % BENCH_LAYER;
	}
	return g;
}

uint64_t bench_layered_submit(struct tq *tq, const struct bench_layered *g)
{
	struct tq_graph_dependency after[BENCH_AFTER] = { { 0, 0 } };
	struct tq_task_spec spec = bench_spec();
	const uint32_t *on = g->on;
	struct tq_graph *graph;
	uint64_t group;

	spec.payload_bytes = 0;
	bench_must(tq_graph_new(tq, NULL, &graph), "graph");
	for (uint32_t t = 0; t < g->tasks; t++) {
		uint32_t count = on && t >= BENCH_LAYER ? BENCH_AFTER : 0;

		for (uint32_t i = 0; i < count; i++)
			after[i].member = *on++;
		bench_must(tq_graph_add(graph, &spec, after, count, NULL), "add");
	}
	bench_must(tq_graph_submit(graph, NULL, &group), "submit");
	tq_graph_drop(graph);
	return group;
}

void bench_layered_run(struct tq *tq, struct tq_worker *worker, uint64_t group, uint32_t tasks)
{
	const struct tq_verdict done = { .size = sizeof(done), .kind = TQ_VERDICT_DONE };
	struct tq_group_info info = { .size = sizeof(info) };
	struct tq_claim claim = { .size = sizeof(claim) };
	int verdict;

	bench_must(tq_claim(worker, TQ_FOREVER_NS, &claim), "claim");
	for (uint32_t i = 1; i < tasks; i++)
		bench_must(tq_next(worker, &claim, &done, TQ_FOREVER_NS, &claim, &verdict), "next");
	bench_must(tq_complete(worker, &claim, NULL, 0), "complete");
	bench_must(tq_group_wait(tq, group, TQ_FOREVER_NS, &info), "wait");
	bench_must(info.states[TQ_DONE] == info.members ? 0 : TQ_ESTATE, "all done");
}
