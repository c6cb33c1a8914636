/* SPDX-License-Identifier: MIT */
/*
 * How long the lock is held, in each operation that could hold it long.  Each case is
 * measured several times over; of the longest holds the shortest counts, for the work
 * is the same each time, and what the machine does besides is not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_probe.h"

#define REPETITIONS 5
#define BOUND_US 100
#define DEPTH 100000u	/* waiting all the while, if nothing else is said */
#define MANY 1000000u
#define STEPS 10000u
#define BATCH 64u
#define LANES 10000u
#define WORKERS 4096u
#define SCHEDULES 64u
#define SECOND_NS 1000000000ull
#define LATER_NS SECOND_NS /* until it comes, most of them are there */
#define LOOK_NS 2000000ull
#define LOOKS 100u
#define CHUNK_US 10000

struct scene {
	struct tq *tq;
	struct tq_worker *worker;
	struct tq_claim claims[BATCH];
	uint64_t *ids;
	uint32_t times; /* that it was measured */
};

/* What is done; all but `run` may be NULL.  Only what `run` turns the probe on for counts. */
struct hold {
	const char *name;
	void (*prepare)(struct scene *s); /* once */
	void (*arrange)(struct scene *s); /* before each time */
	void (*run)(struct scene *s);
};

static void submit_spec(struct scene *s, const struct tq_task_spec *spec)
{
	bench_must(tq_submit(s->tq, spec, NULL), "submit");
}

static void submit_ids(struct scene *s, uint32_t count)
{
	struct tq_task_spec spec = bench_spec();

	for (uint32_t i = 0; i < count; i++) {
		spec.priority = bench_priority();
		bench_must(tq_submit(s->tq, &spec, &s->ids[i]), "submit");
	}
}

static void fill(struct scene *s)
{
	bench_fill(s->tq, bench_scaled(DEPTH));
}

static void run_submits(struct scene *s)
{
	bench_probe_on(true);
	bench_fill(s->tq, STEPS);
}

static void run_batches(struct scene *s)
{
	struct tq_task_spec specs[BATCH];

	for (uint32_t i = 0; i < BATCH; i++)
		specs[i] = bench_spec();
	bench_probe_on(true);
	for (uint32_t i = 0; i < STEPS / BATCH; i++)
		bench_must(tq_submit_many(s->tq, specs, BATCH, NULL), "submit");
}

/* One after the other, with the probe on for claims or for completions. */
static void run_lives(struct scene *s, bool claims)
{
	for (uint32_t n = 0; n < STEPS / BATCH; n++) {
		bench_probe_on(claims);
		for (uint32_t i = 0; i < BATCH; i++)
			bench_must(tq_claim(s->worker, 0, &s->claims[i]), "claim");
		bench_probe_on(!claims);
		for (uint32_t i = 0; i < BATCH; i++)
			bench_must(tq_complete(s->worker, &s->claims[i], NULL, 0), "complete");
	}
}

static void run_claims(struct scene *s)
{
	run_lives(s, true);
}

static void run_completions(struct scene *s)
{
	run_lives(s, false);
}

static void arrange_ids(struct scene *s)
{
	submit_ids(s, STEPS);
}

static void run_cancels(struct scene *s)
{
	bench_probe_on(true);
	for (uint32_t i = 0; i < STEPS; i++)
		bench_must(tq_task_steer(s->tq, s->ids[i], TQ_TASK_ACTION_CANCEL), "cancel");
}

static void fill_many(struct scene *s)
{
	bench_fill(s->tq, bench_scaled(MANY));
}

static void run_purge(struct scene *s)
{
	bench_probe_on(true);
	bench_must(tq_queue_steer(s->tq, "default", TQ_QUEUE_PURGE), "purge");
}

/* Strict to ageing and back, which makes each task's key anew. */
static void run_policy(struct scene *s)
{
	const uint32_t rate = s->times % 2 ? TQ_OFF : 100;
	const struct tq_queue_opts opts = { .size = sizeof(opts),
					    .ageing = { rate, rate, rate, rate } };

	bench_probe_on(true);
	bench_must(tq_queue_set(s->tq, "default", &opts), "queue");
}

static void set_slots(struct scene *s, uint32_t slots)
{
	const struct tq_limit_opts opts = { .size = sizeof(opts), .slots = slots };

	bench_must(tq_limit_set(s->tq, "shared", &opts), "limit");
}

/* A task in each of many lanes, or of many tenants, behind one limit. */
static void park(struct scene *s, bool tenants)
{
	struct tq_task_spec spec = bench_spec();
	char key[32];
	const char *limits[] = { "shared", key };

	spec.limits = limits;
	spec.limit_count = tenants ? 1 : 2;
	spec.fair_key = tenants ? key : NULL;
	set_slots(s, 1);
	for (uint32_t i = 0; i < LANES + BATCH; i++) {
		snprintf(key, sizeof(key), "key-%u", i);
		spec.priority = bench_priority();
		submit_spec(s, &spec);
	}
	bench_must(tq_claim(s->worker, 0, &s->claims[0]), "claim");
}

static void park_lanes(struct scene *s)
{
	park(s, false);
}

static void park_tenants(struct scene *s)
{
	const struct tq_queue_opts fair = { .size = sizeof(fair), .fair = 1 };

	bench_must(tq_queue_set(s->tq, "default", &fair), "queue");
	park(s, true);
}

/* They are opened by the claim after the limit was raised, and closed after it was lowered. */
static void run_limit(struct scene *s)
{
	bench_probe_on(true);
	set_slots(s, LANES);
	bench_must(tq_claim(s->worker, 0, &s->claims[1]), "claim");
	set_slots(s, 1);
	int r = tq_claim(s->worker, 0, &s->claims[2]);

	bench_must(r == -ETIMEDOUT ? 0 : r, "claim");
	bench_must(tq_release(s->worker, &s->claims[1], 0), "release");
}

static void submit_later(struct scene *s, bool deadlines)
{
	struct tq_task_spec spec = bench_spec();
	uint64_t due = bench_now() + LATER_NS;

	for (uint32_t i = 0; i < bench_scaled(DEPTH); i++) {
		uint64_t now = bench_now(), left = due > now ? due - now : 1;

		*(deadlines ? &spec.deadline_ns : &spec.delay_ns) = left;
		spec.priority = bench_priority();
		submit_spec(s, &spec);
	}
	while (bench_now() < due)
		bench_pause(CHUNK_US);
}

static void arrange_deadlines(struct scene *s)
{
	submit_later(s, true);
}

static void arrange_delays(struct scene *s)
{
	submit_later(s, false);
}

/* Whoever comes has so many of them to see to. */
static void run_due(struct scene *s)
{
	bench_probe_on(true);
	for (uint32_t i = 0; i < bench_scaled(DEPTH / 8); i++) {
		int r = tq_claim(s->worker, 0, &s->claims[0]);

		if (r == 0)
			bench_must(tq_complete(s->worker, &s->claims[0], NULL, 0), "complete");
		else
			bench_must(r == -ETIMEDOUT ? 0 : r, "claim");
	}
	bench_probe_on(false);
	bench_must(tq_queue_steer(s->tq, "default", TQ_QUEUE_PURGE), "purge");
}

/* Whole lives of tasks whose records stay until there is no room for them. */
static void live_kept(struct scene *s, uint32_t count)
{
	struct tq_task_spec spec = bench_spec();

	spec.flags = 0;
	for (uint32_t i = 0; i < count; i++) {
		submit_spec(s, &spec);
		bench_must(tq_claim(s->worker, 0, &s->claims[0]), "claim");
		bench_must(tq_complete(s->worker, &s->claims[0], NULL, 0), "complete");
	}
}

static void fill_small(struct scene *s)
{
	live_kept(s, bench_scaled(DEPTH));
}

static void run_evictions(struct scene *s)
{
	bench_probe_on(true);
	live_kept(s, STEPS);
}

static void make_schedules(struct scene *s)
{
	static char payload[TQ_SCHEDULE_PAYLOAD_MAX];
	const struct tq_task_spec task = { .size = sizeof(task),
					   .kind = "bench",
					   .payload = payload,
					   .payload_bytes = sizeof(payload),
					   .flags = TQ_TASK_FORGET };
	const struct tq_schedule_spec spec = { .size = sizeof(spec),
					       .task = &task,
					       .every_ns = TQ_EVERY_MIN_NS };

	for (uint32_t i = 0; i < SCHEDULES; i++)
		bench_must(tq_schedule_create(s->tq, &spec, NULL), "schedule");
}

static void run_schedules(struct scene *s)
{
	bench_probe_on(true);
	for (uint32_t i = 0; i < 4 * SCHEDULES; i++) {
		int r = tq_claim(s->worker, SECOND_NS / 10, &s->claims[0]);

		if (r == 0)
			bench_must(tq_complete(s->worker, &s->claims[0], NULL, 0), "complete");
	}
}

/* All that there may be, with the one of the scene. */
static struct tq_worker *crowd[WORKERS - 1];

static void open_crowd(struct scene *s)
{
	for (uint32_t i = 0; i < WORKERS - 1; i++)
		bench_must(tq_worker_open(s->tq, NULL, &crowd[i]), "worker");
}

static void close_crowd(void)
{
	for (uint32_t i = 0; i < WORKERS - 1 && crowd[i]; i++)
		crowd[i] = tq_worker_close(crowd[i]);
}

/* Who sleeps alone looks at the others before it gives up. */
static void run_looks(struct scene *s)
{
	bench_probe_on(true);
	for (uint32_t i = 0; i < LOOKS; i++) {
		int r = tq_claim(s->worker, LOOK_NS, &s->claims[0]);

		bench_must(r == -ETIMEDOUT ? 0 : r, "claim");
	}
}

/* Its submit, or its run, with the probe on. */
static void graph(struct scene *s, bool submits)
{
	struct bench_layered g = bench_layered_make(DEPTH);

	bench_probe_on(submits);
	const uint64_t group = bench_layered_submit(s->tq, &g);

	bench_probe_on(!submits);
	bench_layered_run(s->tq, s->worker, group, DEPTH);
	free((void *)(uintptr_t)g.on);
}

static void run_graph_submit(struct scene *s)
{
	graph(s, true);
}

static void run_graph(struct scene *s)
{
	graph(s, false);
}

static const struct hold holds[] = {
	{ "submit", fill, NULL, run_submits },
	{ "batch of 64", fill, NULL, run_batches },
	{ "claim", fill, run_submits, run_claims },
	{ "complete", fill, run_submits, run_completions },
	{ "cancel", fill, arrange_ids, run_cancels },
	{ "purge of 1000000", NULL, fill_many, run_purge },
	{ "change of order of 1000000", fill_many, NULL, run_policy },
	{ "limit up and down, 10000 lanes parked", park_lanes, NULL, run_limit },
	{ "limit up and down, 10000 tenants parked", park_tenants, NULL, run_limit },
	{ "100000 deadlines at once", NULL, arrange_deadlines, run_due },
	{ "100000 delays over at once", NULL, arrange_delays, run_due },
	{ "runs of schedules, 64 KiB each", make_schedules, NULL, run_schedules },
	{ "submit of a graph of 100000", NULL, NULL, run_graph_submit },
	{ "run of a graph of 100000", NULL, NULL, run_graph },
	{ "looks at 4096 workers", open_crowd, NULL, run_looks },
	{ "eviction in a full segment", fill_small, NULL, run_evictions },
};
#define HOLDS (sizeof(holds) / sizeof(holds[0]))

static void report(const char *name, double longest_us, double p999_us)
{
	char row[96];

	snprintf(row, sizeof(row), "hold, %s, longest", name);
	bench_report(row, longest_us, "us", BOUND_US);
	snprintf(row, sizeof(row), "hold, %s, p99.9", name);
	bench_report(row, p999_us, "us", 0);
}

static void measure(const struct hold *hold, struct scene *s)
{
	double longest_us = 0, p999_us = 0;

	for (s->times = 0; s->times < bench_scaled(REPETITIONS); s->times++) {
		if (hold->arrange)
			hold->arrange(s);
		bench_probe_on(false);
		bench_probe_clear();
		hold->run(s);
		bench_probe_on(false);
		const struct bench_probe seen = bench_probe_read();

		if (s->times == 0 || (double)seen.longest_ns < longest_us * 1000)
			longest_us = (double)seen.longest_ns / 1000;
		if (s->times == 0 || (double)seen.p999_ns < p999_us * 1000)
			p999_us = (double)seen.p999_ns / 1000;
	}
	report(hold->name, longest_us, p999_us);
}

static void run_case(const struct hold *hold)
{
	static struct scene s;

	s = (struct scene){ .tq = hold->prepare == fill_small ? bench_open_small() : bench_open(),
			    .ids = bench_share(STEPS * sizeof(*s.ids)) };
	for (uint32_t i = 0; i < BATCH; i++)
		s.claims[i].size = sizeof(s.claims[i]);
	bench_must(tq_worker_open(s.tq, NULL, &s.worker), "worker");
	if (hold->prepare)
		hold->prepare(&s);
	measure(hold, &s);
	tq_worker_close(s.worker);
	close_crowd();
	bench_unshare(s.ids, STEPS * sizeof(*s.ids));
	bench_close(s.tq);
}

void bench_hold(void)
{
	for (uint32_t i = 0; i < HOLDS; i++)
		run_case(&holds[i]);
}
