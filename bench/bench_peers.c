/* SPDX-License-Identifier: MIT */
/*
 * Others that queue tasks, beside taskq: put one, take one, say that it is done, while some
 * wait; by the clock, since servers work meanwhile.  All are started and filled, then they
 * take turns; the median of the rounds, and the spread from the least to the most.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_peer.h"

#define ROUNDS 7
#define NS_PER_US 1000
#define ROUND_NS 40000000u /* about: so many lives are timed in a round of a peer */
#define LIVES_MIN 4u
#define LIVES_MAX 4096u

static const struct peer *const peers[] = {
	&bench_peer_taskq,	&bench_peer_mq,	   &bench_peer_boost,
	&bench_peer_beanstalkd, &bench_peer_redis, &bench_peer_redis_pipelined,
};
#define PEERS (sizeof(peers) / sizeof(peers[0]))

/* What taskq should be faster by with 100,000 waiting. */
#define BOUND_DEPTH 100000u
static const struct bound {
	const struct peer *peer;
	double times;
} bounds[] = {
	{ &bench_peer_boost, 10 },
	{ &bench_peer_beanstalkd, 30 },
	{ &bench_peer_redis, 30 },
};
#define BOUNDS (sizeof(bounds) / sizeof(bounds[0]))

/* One curve is over depths, one over payloads. */
struct curve {
	const char *plot;
	const char *what;
	uint32_t count;
	struct peer_load loads[7];
};

static const struct curve curves[] = {
	{ "peers-depth",
	  "waiting",
	  4,
	  { { .depth = 8, .bytes = 64 },
	    { .depth = 1000, .bytes = 64 },
	    { .depth = BOUND_DEPTH, .bytes = 64 },
	    { .depth = 1000000, .bytes = 64 } } },
	{ "peers-payload",
	  "bytes",
	  7,
	  { { .depth = 8, .bytes = 0 },
	    { .depth = 8, .bytes = 64 },
	    { .depth = 8, .bytes = 1024 },
	    { .depth = 8, .bytes = 8000 },
	    { .depth = 8, .bytes = 65536 },
	    { .depth = 8, .bytes = 1u << 20 },
	    { .depth = 8, .bytes = TQ_PAYLOAD_MAX } } },
};
#define CURVES (sizeof(curves) / sizeof(curves[0]))

struct result {
	const char *why; /* it has none */
	uint32_t lives;	 /* of a round */
	uint64_t ns[ROUNDS];
};

static uint64_t time_of(const struct peer *p, const char *payload, uint32_t bytes, uint32_t count)
{
	const uint64_t begin = bench_now();

	bench_peer_live(p, payload, bytes, count);
	return (bench_now() - begin) / count;
}

static uint32_t within(uint64_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : (uint32_t)value;
}

/* Fills it, and finds out how many lives make a round. */
static void open_peer(const struct peer *p, const struct peer_load *l, const char *payload,
		      struct result *r)
{
	const uint32_t least = p->lives_min ? p->lives_min : LIVES_MIN;

	r->why = p->open(l);
	if (r->why)
		return;
	bench_peer_fill(p, payload, l->bytes, l->depth);
	r->lives = within(bench_scaled(ROUND_NS) / (time_of(p, payload, l->bytes, least) + 1),
			  least, LIVES_MAX);
}

static void run(const struct peer_load *l, const char *payload, struct result results[PEERS])
{
	for (uint32_t i = 0; i < PEERS; i++)
		open_peer(peers[i], l, payload, &results[i]);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < PEERS; i++)
			if (!results[i].why)
				results[i].ns[round] =
					time_of(peers[i], payload, l->bytes, results[i].lives);
	for (uint32_t i = 0; i < PEERS; i++)
		if (!results[i].why)
			peers[i]->close();
}

static double bound_of(const struct peer *p, const struct peer_load *l)
{
	for (uint32_t i = 0; i < BOUNDS; i++)
		if (bounds[i].peer == p && l->depth == BOUND_DEPTH)
			return bounds[i].times;
	return 0;
}

/* A round by itself: the machine was as busy for both. */
static double median_ratio(const struct result *r, const struct result *ours)
{
	uint64_t ratios[ROUNDS];

	for (uint32_t i = 0; i < ROUNDS; i++)
		ratios[i] = 1000 * r->ns[i] / (ours->ns[i] + 1);
	return (double)bench_quantile(ratios, ROUNDS, 0.5) / 1000;
}

static void report_ratio(const struct peer *p, const struct peer_load *l, double ratio)
{
	const double bound = bound_of(p, l);
	char name[112];

	snprintf(name, sizeof(name), "%s, %u waiting, %u bytes, times taskq", p->name, l->depth,
		 l->bytes);
	if (bound > 0)
		bench_report_least(name, ratio, "times", bound);
	else
		bench_report(name, ratio, "times", 0);
}

static void report(const struct curve *curve, const struct peer *p, const struct peer_load *l,
		   struct result *r)
{
	struct bench_point point = {
		.plot = curve->plot,
		.series = p->name,
		.x = strcmp(curve->what, "bytes") == 0 ? l->bytes : l->depth,
		.what = curve->what,
		.unit = "us",
	};
	char name[112];

	if (r->why) {
		snprintf(name, sizeof(name), "%s, %u waiting, %u bytes", p->name, l->depth,
			 l->bytes);
		bench_not_measured(name, r->why);
		return;
	}
	bench_point_of(&point, r->ns, ROUNDS, NS_PER_US);
	bench_report_point(&point);
}

static void compare(const struct curve *curve, const struct peer_load *load)
{
	const struct peer_load l = { .depth = load->depth > BENCH_PRIORITIES
						      ? bench_scaled(load->depth)
						      : load->depth,
				     .bytes = load->bytes };
	struct result results[PEERS] = { 0 };
	double ratios[PEERS] = { 0 };
	char *payload = calloc(1, l.bytes + 1u);

	if (!payload)
		exit(1);
	run(&l, payload, results);
	for (uint32_t i = 1; i < PEERS; i++)
		if (!results[i].why)
			ratios[i] = median_ratio(&results[i], &results[0]);
	for (uint32_t i = 0; i < PEERS; i++)
		report(curve, peers[i], &l, &results[i]);
	for (uint32_t i = 1; i < PEERS; i++)
		if (!results[i].why)
			report_ratio(peers[i], load, ratios[i]);
	free(payload);
}

void bench_peers(void)
{
	for (uint32_t i = 0; i < PEERS; i++)
		bench_report_peer(peers[i]->name, peers[i]->settings, peers[i]->lacks);
	for (uint32_t c = 0; c < CURVES; c++)
		for (uint32_t i = 0; i < curves[c].count; i++)
			compare(&curves[c], &curves[c].loads[i]);
	bench_commands();
	bench_limits();
}
