/* SPDX-License-Identifier: MIT */
/*
 * Many producers and as many workers, on as many processors as there are: what a task takes,
 * how long the slowest calls are, and how little the slowest process comes to.
 *
 * Each goes on until it is killed, and notes each call where this process can read it; what
 * counts is what they did between two looks.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_histogram.h"
#include "bench_peer.h"

#define PAIRS_MAX 32u
#define ROUNDS 5
#define ROOM 256u	/* tasks that producers may be ahead by, all together */
#define RUN_MS 400u	/* of which what is done counts */
#define WARM_UP_MS 100u /* before that */
#define MS_NS 1000000ull
#define STEP_US 1000L
#define SHARES 3

static const uint32_t sizes[] = { 1, 2, 4, 8, 16, PAIRS_MAX };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const struct peer *const peers[] = { &bench_peer_taskq_next, &bench_peer_mq,
					    &bench_peer_boost };
#define PEERS (sizeof(peers) / sizeof(peers[0]))

/* One process: it writes, and the parent reads. */
struct member {
	_Alignas(64) _Atomic uint64_t calls;
	struct histogram times;
};

struct crowd {
	_Atomic uint32_t may_start;
	struct member producers[PAIRS_MAX], workers[PAIRS_MAX];
};

static const double quantiles[SHARES] = { 0.5, 0.99, 0.999 };
static const char *const quantile_names[SHARES] = { "p50", "p99", "p99.9" };

/* What a round has come to. */
struct result {
	uint64_t ns; /* a task, all together */
	uint64_t producer_ns[SHARES], worker_ns[SHARES];
	uint64_t producer_share, worker_share; /* thousandths of what is fair, of the slowest */
};

struct results {
	const char *why; /* there are none */
	struct result rounds[SIZES][ROUNDS];
};

static _Noreturn void be_member(const struct peer *p, struct crowd *crowd, struct member *m,
				bool puts)
{
	static const char payload[BENCH_PAYLOAD_BYTES];

	while (!atomic_load(&crowd->may_start))
		sched_yield();
	for (uint64_t begin = bench_now();;) {
		if (puts)
			p->put(payload, sizeof(payload));
		else
			p->take(sizeof(payload));
		const uint64_t end = bench_now();

		histogram_add(&m->times, end - begin);
		atomic_fetch_add_explicit(&m->calls, 1, memory_order_relaxed);
		begin = end;
	}
}

static pid_t start(const struct peer *p, struct crowd *crowd, struct member *m, bool puts)
{
	const pid_t pid = fork();

	if (pid == 0)
		be_member(p, crowd, m, puts);
	bench_must(pid < 0 ? -errno : 0, "fork");
	return pid;
}

static void pause_ms(uint32_t ms)
{
	const uint64_t end = bench_now() + ms * MS_NS;

	while (bench_now() < end)
		bench_pause(STEP_US);
}

static void look(const struct member *members, uint32_t pairs, uint64_t calls[PAIRS_MAX])
{
	for (uint32_t i = 0; i < pairs; i++)
		calls[i] = atomic_load(&members[i].calls);
}

/* Calls since `before`: of all; the slowest's share goes to *ret_share. */
static uint64_t sum_since(const struct member *members, uint32_t pairs, const uint64_t *before,
			  uint64_t *ret_share)
{
	uint64_t sum = 0, least = UINT64_MAX;

	for (uint32_t i = 0; i < pairs; i++) {
		const uint64_t calls = atomic_load(&members[i].calls) - before[i];

		sum += calls;
		least = calls < least ? calls : least;
	}
	*ret_share = sum ? 1000 * least * pairs / sum : 0;
	return sum;
}

static void quantiles_of(const struct member *members, uint32_t pairs, uint64_t ret_ns[SHARES])
{
	struct histogram all = { 0 };

	for (uint32_t i = 0; i < pairs; i++)
		histogram_merge(&all, &members[i].times);
	for (uint32_t i = 0; i < SHARES; i++)
		ret_ns[i] = histogram_quantile(&all, quantiles[i]);
}

static void measure(const struct crowd *crowd, uint32_t pairs, struct result *ret)
{
	uint64_t put[PAIRS_MAX], taken[PAIRS_MAX];

	pause_ms(bench_scaled(WARM_UP_MS));
	const uint64_t begin = bench_now();

	look(crowd->producers, pairs, put);
	look(crowd->workers, pairs, taken);
	pause_ms(bench_scaled(RUN_MS));
	const uint64_t tasks = sum_since(crowd->workers, pairs, taken, &ret->worker_share);

	sum_since(crowd->producers, pairs, put, &ret->producer_share);
	ret->ns = (bench_now() - begin) / (tasks + 1);
	quantiles_of(crowd->producers, pairs, ret->producer_ns);
	quantiles_of(crowd->workers, pairs, ret->worker_ns);
}

/* So many pairs of a queue of their own, which does not outlive them. */
static const char *run(const struct peer *p, uint32_t pairs, struct result *ret)
{
	const struct peer_load load = { 0, ROOM, BENCH_PAYLOAD_BYTES };
	pid_t pids[2 * PAIRS_MAX];
	const char *why = p->open(&load);

	if (why)
		return why;
	struct crowd *crowd = bench_share(sizeof(*crowd));

	for (uint32_t i = 0; i < pairs; i++) {
		pids[2 * i] = start(p, crowd, &crowd->workers[i], false);
		pids[2 * i + 1] = start(p, crowd, &crowd->producers[i], true);
	}
	atomic_store(&crowd->may_start, 1);
	measure(crowd, pairs, ret);
	for (uint32_t i = 0; i < 2 * pairs; i++)
		kill(pids[i], SIGKILL);
	for (uint32_t i = 0; i < 2 * pairs; i++)
		waitpid(pids[i], NULL, 0);
	p->close();
	bench_unshare(crowd, sizeof(*crowd));
	return NULL;
}

static void report(const char *plot, const char *series, uint32_t pairs, const char *unit,
		   uint64_t samples[ROUNDS])
{
	struct bench_point point = { .plot = plot,
				     .series = series,
				     .x = pairs,
				     .what = pairs == 1 ? "pair" : "pairs",
				     .unit = unit };

	bench_point_of(&point, samples, ROUNDS, *unit == '%' ? 10 : 1);
	bench_report_point(&point);
}

static void report_tails(const struct result rounds[ROUNDS], uint32_t pairs)
{
	uint64_t samples[ROUNDS];
	char series[48];

	for (uint32_t side = 0; side < 2; side++)
		for (uint32_t q = 0; q < SHARES; q++) {
			for (uint32_t i = 0; i < ROUNDS; i++)
				samples[i] =
					(side ? rounds[i].worker_ns : rounds[i].producer_ns)[q];
			snprintf(series, sizeof(series), "%s, %s", side ? "next" : "submit",
				 quantile_names[q]);
			report("crowd-tails", series, pairs, "ns", samples);
		}
}

static void report_shares(const struct peer *p, const struct result rounds[ROUNDS], uint32_t pairs)
{
	uint64_t producers[ROUNDS], workers[ROUNDS];
	char series[64];

	for (uint32_t i = 0; i < ROUNDS; i++) {
		producers[i] = rounds[i].producer_share;
		workers[i] = rounds[i].worker_share;
	}
	snprintf(series, sizeof(series), "%s, slowest producer", p->name);
	report("crowd-shares", series, pairs, "%", producers);
	snprintf(series, sizeof(series), "%s, slowest worker", p->name);
	report("crowd-shares", series, pairs, "%", workers);
}

/* The bound is of rounds, each by itself: the machine was as busy for both sizes. */
static void report_collapse(const struct peer *p, const struct results *r)
{
	uint64_t ratios[ROUNDS];
	char name[96];

	for (uint32_t i = 0; i < ROUNDS; i++)
		ratios[i] = 1000 * r->rounds[SIZES - 1][i].ns / (r->rounds[0][i].ns + 1);
	snprintf(name, sizeof(name), "a task of 32 + 32 processes, times of 1 + 1: %s", p->name);
	bench_report(name, (double)bench_quantile(ratios, ROUNDS, 0.5) / 1000, "times",
		     p == peers[0] ? 1.4 : 0);
}

static void report_peer(const struct peer *p, const struct results *r)
{
	uint64_t samples[ROUNDS];

	if (r->why) {
		bench_not_measured(p->name, r->why);
		return;
	}
	for (uint32_t s = 0; s < SIZES; s++) {
		for (uint32_t i = 0; i < ROUNDS; i++)
			samples[i] = r->rounds[s][i].ns;
		report("crowd", p->name, sizes[s], "ns", samples);
		report_shares(p, r->rounds[s], sizes[s]);
		if (p == peers[0])
			report_tails(r->rounds[s], sizes[s]);
	}
	report_collapse(p, r);
}

void bench_crowd(void)
{
	static struct results results[PEERS];

	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t s = 0; s < SIZES; s++)
			for (uint32_t i = 0; i < PEERS; i++)
				if (!results[i].why)
					results[i].why = run(peers[i], sizes[s],
							     &results[i].rounds[s][round]);
	for (uint32_t i = 0; i < PEERS; i++)
		report_peer(peers[i], &results[i]);
}
