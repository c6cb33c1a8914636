/* SPDX-License-Identifier: MIT */
/*
 * 1,000,000 tasks behind one full limit, in 10,000 lanes and more urgent than all else,
 * beside 10,000 keys that are free: what a claim moves in heaps, and how long it takes.
 */
#include <stdio.h>

#include "bench.h"
#include "bench_probe.h"

#define PARKED 1000000u
#define KEYS 10000u
#define ROUNDS 200u
#define CLAIMS 50u /* at a time */
#define MOVES_BOUND 10

static const char full[] = "full";

static void submit(struct tq *tq, const char *other, bool is_behind)
{
	struct tq_task_spec spec = bench_spec();
	const char *limits[] = { other, full };

	spec.limits = limits;
	spec.limit_count = is_behind ? 2 : 1;
	spec.priority = bench_priority() + (is_behind ? BENCH_PRIORITIES : 0);
	bench_must(tq_submit(tq, &spec, NULL), "submit");
}

static void submit_many(struct tq *tq, uint32_t count, bool is_behind)
{
	static uint32_t turn;
	char key[32];

	for (uint32_t i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "key-%u", turn++ % KEYS);
		submit(tq, key, is_behind);
	}
}

static void claims(struct tq_worker *worker, uint32_t *ret_most_moves)
{
	static struct tq_claim c[CLAIMS];

	for (uint32_t i = 0; i < CLAIMS; i++) {
		uint32_t before = bench_probe_read().moves;

		c[i].size = sizeof(c[i]);
		bench_probe_on(true);
		bench_must(tq_claim(worker, 0, &c[i]), "claim");
		bench_probe_on(false);
		uint32_t moves = bench_probe_read().moves - before;

		if (moves > *ret_most_moves)
			*ret_most_moves = moves;
	}
	for (uint32_t i = 0; i < CLAIMS; i++)
		bench_must(tq_complete(worker, &c[i], NULL, 0), "complete");
}

/* The one slot is taken, and kept. */
static void fill_limit(struct tq *tq, struct tq_worker *worker, struct tq_claim *claim)
{
	const struct tq_limit_opts one = { .size = sizeof(one), .slots = 1 };

	bench_must(tq_limit_set(tq, full, &one), "limit");
	submit(tq, "key-0", true);
	bench_must(tq_claim(worker, 0, claim), "claim");
}

void bench_parked(void)
{
	struct tq *tq = bench_open();
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *holder, *worker;
	const uint32_t rounds = bench_scaled(ROUNDS);
	uint32_t most = 0;

	bench_must(tq_worker_open(tq, NULL, &holder), "worker");
	bench_must(tq_worker_open(tq, NULL, &worker), "worker");
	fill_limit(tq, holder, &claim);
	submit_many(tq, bench_scaled(PARKED), true);
	submit_many(tq, KEYS, false);
	for (uint32_t i = 0; i < rounds; i++) {
		submit_many(tq, CLAIMS, false);
		claims(worker, &most);
	}
	const struct bench_probe seen = bench_probe_read();

	bench_report("heap moves of a claim, 1000000 behind a full limit",
		     (double)seen.moves / (rounds * CLAIMS), "moves", MOVES_BOUND);
	bench_report("the same, at most", most, "moves", 0);
	tq_worker_close(worker);
	tq_worker_close(holder);
	bench_close(tq);
}
