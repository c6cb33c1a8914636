/* SPDX-License-Identifier: MIT */
/*
 * Others that queue tasks, beside taskq: put one, take one, say that it is done, while some
 * wait; by the clock, since servers work meanwhile.  In turns, five rounds; the median, and
 * the spread from the least to the most.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench_peer.h"

#define ROUNDS 5
#define ROUND_NS 40000000ull /* about: so many lives are timed in a round of a peer */
#define LIVES_MAX 4096u
#define NS_PER_US 1000.0

static const struct peer *const peers[] = { &bench_peer_taskq, &bench_peer_mq,
					    &bench_peer_beanstalkd, &bench_peer_redis,
					    &bench_peer_redis_pipelined };
#define PEERS (sizeof(peers) / sizeof(peers[0]))

struct load {
	uint32_t depth;
	uint32_t bytes;
};

/* Eight messages of 8,000 bytes are about what Linux allows its message queues by default. */
static const struct load loads[] = {
	{ 8, 0 },	 { 8, 64 },    { 8, 8000 },    { 8, 65536 },
	{ 8, 1u << 20 }, { 1000, 64 }, { 100000, 64 },
};
#define LOADS (sizeof(loads) / sizeof(loads[0]))

struct result {
	const char *why; /* it has none */
	uint64_t ns[ROUNDS];
};

static uint64_t time_of(const struct peer *p, const char *payload, uint32_t bytes, uint32_t count)
{
	const uint64_t begin = bench_now();

	p->live(payload, bytes, count);
	return (bench_now() - begin) / count;
}

/* Nanoseconds of a life. */
static const char *measure(const struct peer *p, const struct load *l, const char *payload,
			   uint64_t *ret_ns)
{
	const char *why = p->open(l->depth, l->bytes);

	if (why)
		return why;
	for (uint32_t i = 0; i < l->depth; i++)
		p->put(payload, l->bytes);
	const uint64_t first = time_of(p, payload, l->bytes, 64);
	const uint64_t count = ROUND_NS / (first + 1);

	*ret_ns = time_of(p, payload, l->bytes,
			  count > LIVES_MAX ? LIVES_MAX
			  : count < 64	    ? 64
					    : (uint32_t)count);
	p->close();
	return NULL;
}

static void report(const struct peer *p, const struct load *l, struct result *r, double ours)
{
	char name[112], more[160];

	snprintf(name, sizeof(name), "%s, %u waiting, %u bytes", p->name, l->depth, l->bytes);
	if (r->why) {
		bench_not_measured(name, r->why);
		return;
	}
	const double median = (double)bench_quantile(r->ns, ROUNDS, 0.5) / NS_PER_US;

	bench_report(name, median, "us", 0);
	snprintf(more, sizeof(more), "%s (%.1f to %.1f us), times taskq", name,
		 (double)r->ns[0] / NS_PER_US, (double)r->ns[ROUNDS - 1] / NS_PER_US);
	bench_report(more, median / ours, "times", 0);
}

static void compare(const struct load *l)
{
	static struct result results[PEERS];
	char *payload = calloc(1, l->bytes + 1u);

	if (!payload)
		exit(1);
	for (uint32_t i = 0; i < PEERS; i++)
		results[i].why = NULL;
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < PEERS; i++)
			if (!results[i].why)
				results[i].why =
					measure(peers[i], l, payload, &results[i].ns[round]);
	const double ours = (double)bench_quantile(results[0].ns, ROUNDS, 0.5) / NS_PER_US;

	for (uint32_t i = 0; i < PEERS; i++)
		report(peers[i], l, &results[i], ours);
	free(payload);
}

void bench_peers(void)
{
	for (uint32_t i = 0; i < PEERS; i++)
		fprintf(stderr, "%s: %s; lacks %s\n", peers[i]->name, peers[i]->settings,
			peers[i]->lacks);
	for (uint32_t i = 0; i < LOADS; i++)
		compare(&loads[i]);
	bench_limits();
}
