/* SPDX-License-Identifier: MIT */
/*
 * Two processes, a producer and a worker that go on as fast as they can, with bounded room
 * between them: taskq, its floor, and the queues between processes that a system has anyway.
 * The worker looks at the clock every WINDOW tasks; a window that nothing disturbed says what
 * the queue can do (p5), the median what it mostly does.  All take turns.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_peer.h"

#define WINDOW 512u
#define TASKS (200u * WINDOW)
#define ROUNDS 5
#define ROOM 256u /* tasks that the producer may be ahead by */
#define WINDOWS_MAX (TASKS / WINDOW)

static const struct peer *const peers[] = { &bench_peer_taskq_next, &bench_peer_taskq,
					    &bench_peer_floor_next, &bench_peer_mq,
					    &bench_peer_boost };
#define PEERS (sizeof(peers) / sizeof(peers[0]))

/* Of a round, thousandths of nanoseconds a task. */
struct result {
	const char *why; /* it has none */
	uint64_t p5[ROUNDS], p50[ROUNDS];
};

static _Noreturn void work(const struct peer *p, uint64_t *windows, uint32_t count)
{
	for (uint32_t w = 0; w < count; w++) {
		const uint64_t begin = bench_now();

		for (uint32_t i = 0; i < WINDOW; i++)
			p->take(BENCH_PAYLOAD_BYTES);
		windows[w] = (bench_now() - begin) * 1000 / WINDOW;
	}
	_exit(0);
}

static const char *run(const struct peer *p, uint32_t depth, uint64_t *windows, uint32_t count)
{
	static const char payload[BENCH_PAYLOAD_BYTES];
	const struct peer_load load = { depth, ROOM, sizeof(payload) };
	const char *why = p->open(&load);
	int status;

	if (why)
		return why;
	bench_peer_fill(p, payload, sizeof(payload), depth);
	const pid_t worker = fork();

	if (worker == 0)
		work(p, windows, count);
	for (uint32_t i = 0; i < count * WINDOW; i++)
		p->put(payload, sizeof(payload));
	waitpid(worker, &status, 0);
	bench_must(status == 0 ? 0 : TQ_ESTATE, p->name);
	p->close();
	return NULL;
}

static void take_round(struct result *results, uint32_t depth, uint32_t round, uint64_t *windows)
{
	const uint32_t count = bench_scaled(WINDOWS_MAX);

	for (uint32_t i = 0; i < PEERS; i++) {
		struct result *r = &results[i];

		r->why = r->why ? r->why : run(peers[i], depth, windows, count);
		if (r->why)
			continue;
		r->p5[round] = bench_quantile(windows, count, 0.05);
		r->p50[round] = bench_quantile(windows, count, 0.5);
	}
}

static void report(const struct peer *p, const uint64_t *rounds, const char *share, uint32_t depth,
		   double bound)
{
	uint64_t sorted[ROUNDS];
	char name[112];

	for (uint32_t i = 0; i < ROUNDS; i++)
		sorted[i] = rounds[i];
	snprintf(name, sizeof(name), "producer and worker: %s, %u waiting, %s", p->name, depth,
		 share);
	bench_report(name, (double)bench_quantile(sorted, ROUNDS, 0.5) / 1000, "ns", bound);
}

/* Of tq_next, a round by itself: the machine was as busy for both. */
static void report_ratio(const struct result *results, uint32_t of, uint32_t depth, double bound)
{
	const struct result *ours = &results[0], *other = &results[of];
	uint64_t ratios[ROUNDS];
	char name[112];

	snprintf(name, sizeof(name), "producer and worker: times %s, %u waiting", peers[of]->name,
		 depth);
	if (other->why) {
		bench_not_measured(name, other->why);
		return;
	}
	for (uint32_t i = 0; i < ROUNDS; i++)
		ratios[i] = 1000 * ours->p50[i] / (other->p50[i] + 1);
	bench_report(name, (double)bench_quantile(ratios, ROUNDS, 0.5) / 1000, "times", bound);
}

static void at_depth(uint32_t depth, double p5, double p50)
{
	struct result results[PEERS] = { 0 };
	uint64_t *windows = bench_share(WINDOWS_MAX * sizeof(*windows));

	for (uint32_t round = 0; round < ROUNDS; round++)
		take_round(results, depth, round, windows);
	for (uint32_t i = 0; i < PEERS; i++) {
		if (results[i].why)
			continue;
		report(peers[i], results[i].p5, "p5", depth, i == 0 ? p5 : 0);
		report(peers[i], results[i].p50, "p50", depth, i == 0 ? p50 : 0);
	}
	for (uint32_t i = 2; i < PEERS; i++)
		report_ratio(results, i, depth, peers[i] == &bench_peer_mq ? 1 : 0);
	bench_unshare(windows, WINDOWS_MAX * sizeof(*windows));
}

void bench_pair(void)
{
	at_depth(0, 1200, 1800);
	at_depth(bench_scaled(1000), 0, 0);
}
