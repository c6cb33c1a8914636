/* SPDX-License-Identifier: MIT */
/*
 * Orders of a queue, each beside strict priority: two queues of one segment with as many
 * tasks each, measured in turns, so that what else the machine does hits both.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define ROUNDS 101 /* the median of their ratios */
#define CLAIMS 64  /* made, and timed, one after the other */
#define FAIR_KEYS 1000u
#define LIMIT_KEYS 10000u
#define SECOND_NS 1000000000ull
#define HOUR_NS (3600 * SECOND_NS)
#define AGEING 100u /* thousandths of a point a second: the default when it is on */

struct policy {
	const char *name;
	struct tq_queue_opts opts;
	uint32_t limit_keys; /* each with one slot; 0 the tasks have no limits */
	uint32_t fair_keys;
	bool has_deadlines;
};

static const struct policy policies[] = {
	{ .name = "strict" },
	{ .name = "ageing", .opts = { .ageing = { AGEING, AGEING, AGEING, AGEING } } },
	{ .name = "ageing of several rates", .opts = { .ageing = { AGEING, 2 * AGEING, 3, 1 } } },
	{ .name = "edf", .opts = { .edf = 1 }, .has_deadlines = true },
	{ .name = "max-wait", .opts = { .max_wait_ns = HOUR_NS } },
	{ .name = "max-wait, all overdue", .opts = { .max_wait_ns = 1 } },
	{ .name = "hybrid", .opts = { .hybrid = TQ_HYBRID_DEFAULT } },
	{ .name = "fair, 1000 keys", .opts = { .fair = 1 }, .fair_keys = FAIR_KEYS },
	{ .name = "limits, 10000 keys", .limit_keys = LIMIT_KEYS },
};
#define POLICIES (sizeof(policies) / sizeof(policies[0]))

/* One queue, and who serves it. */
struct side {
	struct tq *tq;
	const struct policy *policy;
	const char *queue;
	struct tq_worker *worker;
	struct tq_claim claims[CLAIMS];
	uint32_t key; /* the keys take turns */
};

static void submit(struct side *s)
{
	struct tq_task_spec spec = bench_spec();
	const struct policy *p = s->policy;
	uint32_t keys = p->limit_keys ? p->limit_keys : p->fair_keys;
	char key[32];
	const char *limit = key;

	spec.queue = s->queue;
	spec.priority = bench_priority();
	if (p->has_deadlines)
		spec.deadline_ns = HOUR_NS + (uint32_t)bench_priority() * SECOND_NS;
	if (keys)
		snprintf(key, sizeof(key), "key-%u", s->key++ % keys);
	if (p->limit_keys) {
		spec.limits = &limit;
		spec.limit_count = 1;
	} else if (p->fair_keys) {
		spec.fair_key = key;
	}
	bench_must(tq_submit(s->tq, &spec, NULL), "submit");
}

static void set_limits(struct tq *tq, uint32_t keys)
{
	const struct tq_limit_opts one = { .size = sizeof(one), .slots = 1 };
	char key[32];

	for (uint32_t i = 0; i < keys; i++) {
		snprintf(key, sizeof(key), "key-%u", i);
		bench_must(tq_limit_set(tq, key, &one), "limit");
	}
}

static void open_side(struct side *s, struct tq *tq, const struct policy *p, const char *queue,
		      uint32_t depth)
{
	struct tq_queue_opts opts = p->opts;
	const char *const queues[] = { queue };
	const struct tq_worker_opts worker = { .size = sizeof(worker),
					       .queues = queues,
					       .queue_count = 1 };

	*s = (struct side){ .tq = tq, .policy = p, .queue = queue };
	opts.size = sizeof(opts);
	bench_must(tq_queue_set(tq, queue, &opts), "queue");
	set_limits(tq, p->limit_keys);
	bench_must(tq_worker_open(tq, &worker, &s->worker), "worker");
	for (uint32_t i = 0; i < CLAIMS; i++)
		s->claims[i].size = sizeof(s->claims[i]);
	for (uint32_t i = 0; i < depth; i++)
		submit(s);
}

/* Nanoseconds of each step, for CLAIMS tasks. */
struct times {
	double claim;
	double life;
};

static struct times live(struct side *s)
{
	uint64_t begin = bench_now();

	for (uint32_t i = 0; i < CLAIMS; i++)
		submit(s);
	uint64_t submitted = bench_now();

	for (uint32_t i = 0; i < CLAIMS; i++)
		bench_must(tq_claim(s->worker, 0, &s->claims[i]), "claim");
	uint64_t claimed = bench_now();

	for (uint32_t i = 0; i < CLAIMS; i++)
		bench_must(tq_complete(s->worker, &s->claims[i], NULL, 0), "complete");
	return (struct times){ (double)(claimed - submitted), (double)(bench_now() - begin) };
}

static double median(const double *of, uint32_t count)
{
	uint64_t sorted[ROUNDS];

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = (uint64_t)(of[i] * 1000); /* thousandths: they are sorted as integers */
	return (double)bench_quantile(sorted, count, 0.5) / 1000;
}

static void report(const char *what, const char *policy, uint32_t depth, double value,
		   const char *unit, double bound)
{
	char name[96];

	snprintf(name, sizeof(name), "%s, %s, %u waiting", what, policy, depth);
	bench_report(name, value, unit, bound);
}

static void compare(const struct policy *p, uint32_t depth)
{
	static struct side strict, other;
	double claim[ROUNDS], claims[ROUNDS], lives[ROUNDS];
	struct tq *tq = bench_open();

	open_side(&strict, tq, &policies[0], "strict", depth);
	open_side(&other, tq, p, "other", depth);
	const uint32_t rounds = bench_scaled(ROUNDS);

	for (uint32_t i = 0; i < rounds; i++) {
		struct times a = live(&strict), b = live(&other);

		claim[i] = b.claim / CLAIMS;
		claims[i] = b.claim / a.claim;
		lives[i] = b.life / a.life;
	}
	report("claim", p->name, depth, median(claim, rounds), "ns", 0);
	if (p != policies) {
		report("claim, times strict", p->name, depth, median(claims, rounds), "times", 2);
		report("life, times strict", p->name, depth, median(lives, rounds), "times", 0);
	}
	tq_worker_close(strict.worker);
	tq_worker_close(other.worker);
	bench_close(tq);
}

static void at_depth(uint32_t depth)
{
	for (uint32_t i = 0; i < POLICIES; i++)
		compare(&policies[i], depth);
}

void bench_policy(void)
{
	at_depth(1000);
	at_depth(bench_scaled(100000));
}

void bench_policy_deep(void)
{
	at_depth(1000000);
}

void bench_policy_count(void)
{
	for (uint32_t i = 1; i < POLICIES; i++)
		bench_count_policy(policies[i].name, 1000);
}

bool bench_policy_lives(uint32_t count, uint32_t depth, const char *policy)
{
	static struct side side;
	uint32_t i = 0;

	while (i < POLICIES && strcmp(policies[i].name, policy) != 0)
		i++;
	if (i == POLICIES)
		return false;
	struct tq *tq = bench_open();

	open_side(&side, tq, &policies[i], "q", depth);
	for (uint32_t n = 0; n < count; n++) {
		submit(&side);
		bench_must(tq_claim(side.worker, 0, &side.claims[0]), "claim");
		bench_must(tq_complete(side.worker, &side.claims[0], NULL, 0), "complete");
	}
	tq_worker_close(side.worker);
	bench_close(tq);
	return true;
}
