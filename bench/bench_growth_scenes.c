/* SPDX-License-Identifier: MIT */
/*
 * Queues, kinds, limits, groups, tenants, workers, observers and dependencies; beside all of
 * them as many tasks wait, spread over them where they can be.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_growth.h"

#define LOOK_US 16666L /* 60 looks a second */

static void *allocate(uint64_t count, uint64_t bytes)
{
	void *p = calloc(count, bytes);

	bench_must(p ? 0 : -ENOMEM, "memory");
	return p;
}

static void name_next(struct growth *g, const char *what)
{
	snprintf(g->name, sizeof(g->name), "%s%u", what, g->turn++ % g->count);
}

static void open_worker(struct growth *g, const struct tq_worker_opts *opts)
{
	bench_must(tq_worker_open(g->tq, opts, &g->worker), "worker");
}

static void fill(struct growth *g, void (*turn)(struct growth *))
{
	for (uint32_t i = 0; i < GROWTH_WAITING; i++) {
		if (turn)
			turn(g);
		g->spec.priority = bench_priority();
		bench_growth_submit(g);
	}
	g->turn = 0;
}

/* Queues: one is served. */

static void next_queue(struct growth *g)
{
	name_next(g, "queue");
	g->spec.queue = g->name;
}

static void open_queues(struct growth *g)
{
	static const char *const first = "queue0";
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &first,
					     .queue_count = 1 };

	fill(g, next_queue);
	g->spec.queue = first;
	open_worker(g, &opts);
}

/* Kinds, and what else a task has one of; all are served. */

static void next_kind(struct growth *g)
{
	name_next(g, "kind");
	g->spec.kind = g->name;
}

static void open_kinds(struct growth *g)
{
	fill(g, next_kind);
	open_worker(g, NULL);
}

static void next_limit(struct growth *g)
{
	name_next(g, "limit");
	g->limit = g->name;
	g->spec.limits = &g->limit;
	g->spec.limit_count = 1;
}

static void open_limits(struct growth *g)
{
	const struct tq_limit_opts one = { .size = sizeof(one), .slots = 1 };

	for (uint32_t i = 0; i < g->count; i++) {
		next_limit(g);
		bench_must(tq_limit_set(g->tq, g->name, &one), "limit");
	}
	fill(g, next_limit);
	open_worker(g, NULL);
}

static void next_tenant(struct growth *g)
{
	name_next(g, "tenant");
	g->spec.fair_key = g->name;
}

static void open_tenants(struct growth *g)
{
	const struct tq_queue_opts fair = { .size = sizeof(fair), .fair = 1 };

	bench_must(tq_queue_set(g->tq, "default", &fair), "queue");
	fill(g, next_tenant);
	open_worker(g, NULL);
}

/* Groups: open ones, of which a task is each a member of one. */

static void next_group(struct growth *g)
{
	g->spec.group = g->groups[g->turn++ % g->count];
}

static void open_groups(struct growth *g)
{
	g->groups = allocate(g->count, sizeof(*g->groups));
	for (uint32_t i = 0; i < g->count; i++)
		bench_must(tq_group_new(g->tq, NULL, &g->groups[i]), "group");
	fill(g, next_group);
	open_worker(g, NULL);
}

static void close_groups(struct growth *g)
{
	free(g->groups);
}

/* Workers: all but one are idle. */

static void open_workers(struct growth *g)
{
	g->workers = allocate(g->count, sizeof(struct tq_worker *));
	for (uint32_t i = 1; i < g->count; i++)
		bench_must(tq_worker_open(g->tq, NULL, &g->workers[i]), "worker");
	fill(g, NULL);
	open_worker(g, NULL);
}

static void close_workers(struct growth *g)
{
	for (uint32_t i = 1; i < g->count; i++)
		tq_worker_close(g->workers[i]);
	free(g->workers);
}

/* Observers: processes that look at the queue and at the segment. */

static _Noreturn void observe(struct tq *tq)
{
	struct tq_queue_info queue = { .size = sizeof(queue) };
	struct tq_segment_info segment = { .size = sizeof(segment) };

	for (;;) {
		bench_must(tq_queue_info(tq, "default", &queue), "queue");
		bench_must(tq_segment_info(tq, &segment), "segment");
		bench_pause(LOOK_US);
	}
}

static void open_observers(struct growth *g)
{
	fill(g, NULL);
	open_worker(g, NULL);
	g->observers = allocate(g->count, sizeof(pid_t));
	for (uint32_t i = 0; i < g->count; i++) {
		g->observers[i] = fork();
		if (g->observers[i] == 0)
			observe(g->tq);
		bench_must(g->observers[i] < 0 ? -errno : 0, "fork");
	}
}

static void close_observers(struct growth *g)
{
	for (uint32_t i = 0; i < g->count; i++)
		kill(g->observers[i], SIGKILL);
	for (uint32_t i = 0; i < g->count; i++)
		waitpid(g->observers[i], NULL, 0);
	free(g->observers);
}

/* Dependencies: so many tasks, and one that comes after all of them. */

static void open_dependencies(struct growth *g)
{
	g->after = allocate(g->count, sizeof(*g->after));
	fill(g, NULL);
	open_worker(g, NULL);
	g->spec.priority = BENCH_PRIORITIES; /* before those that wait all the while */
}

static void live_after(struct growth *g)
{
	struct tq_task_spec last = g->spec;

	for (uint32_t i = 0; i < g->count; i++)
		bench_must(tq_submit(g->tq, &g->spec, &g->after[i].id), "submit");
	last.after = g->after;
	last.after_count = g->count;
	bench_must(tq_submit(g->tq, &last, NULL), "submit");
	for (uint32_t i = 0; i <= g->count; i++)
		bench_growth_work(g);
}

static void close_dependencies(struct growth *g)
{
	free(g->after);
}

const struct growth_scene bench_growth_scenes[] = {
	{ "queues", { 1, 10, 100, 500, 1000 }, open_queues, NULL, NULL, NULL },
	{ "kinds", { 1, 10, 50, 100, 250 }, open_kinds, next_kind, NULL, NULL },
	{ "limits", { 1, 10, 100, 1000, 10000 }, open_limits, next_limit, NULL, NULL },
	{ "tenants", { 1, 10, 100, 1000, 10000 }, open_tenants, next_tenant, NULL, NULL },
	{ "groups", { 1, 10, 100, 1000, 10000 }, open_groups, next_group, close_groups, NULL },
	{ "workers", { 1, 16, 64, 256, 1024, 4095 }, open_workers, NULL, close_workers, NULL },
	{ "observers", { 1, 5, 20, 50 }, open_observers, NULL, close_observers, NULL },
	{ "dependencies",
	  { 1, 2, 4, 16, TQ_AFTER_MAX },
	  open_dependencies,
	  NULL,
	  close_dependencies,
	  live_after },
};
const uint32_t bench_growth_scene_count =
	sizeof(bench_growth_scenes) / sizeof(bench_growth_scenes[0]);
