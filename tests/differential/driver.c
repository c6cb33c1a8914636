/* SPDX-License-Identifier: MIT */
/*
 * driver --seed N [--runs N] [--operations N] [--plant]: a run of each seed from N on.
 * What it prints depends on the seeds and on what the library decides, on nothing else.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_NS 300000000000000000ull /* 9.5 years after a boot: later than any real clock */
#define SETTLE_HOLDS 8 /* each takes eight tasks that have become due: more than come at a time */
#define ROWS 1024

static _Noreturn void give_up(const char *what, int r)
{
	fprintf(stderr, "driver: %s: %s\n", what, tq_strerror(r));
	exit(2);
}

uint32_t driver_below(struct driver *d, uint32_t n)
{
	uint64_t x = d->random += 0x9e3779b97f4a7c15ull; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)((((x ^ x >> 31) >> 32) * n) >> 32);
}

bool driver_chance(struct driver *d, uint32_t n)
{
	return driver_below(d, n) == 0;
}

const char *driver_name(char letter, uint32_t number)
{
	static char names[64][16];
	static unsigned next;
	char *name = names[next++ % 64];

	snprintf(name, sizeof(names[0]), "%c%u", letter, number);
	return name;
}

int driver_task(const struct driver *d, uint64_t id)
{
	for (uint32_t t = d->task_count; t-- > 0;)
		if (d->ids[t] == id)
			return (int)t;
	return -1;
}

uint64_t driver_pick_task(struct driver *d)
{
	return d->task_count ? d->ids[driver_below(d, d->task_count)] : 0;
}

/* Time goes on, and so many holds that all is done that has become due by it. */
static void tick(struct driver *d)
{
	uint64_t most = driver_chance(d, 10) ? 5000 : 40;
	int r = 0;

	d->system.now_ns += (1 + driver_below(d, (uint32_t)most)) * DRIVER_MS;
	for (int i = 0; i < SETTLE_HOLDS; i++)
		r = tq_queue_steer(d->tq, "q0", TQ_QUEUE_UNDRAIN);
	printf("tick %d\n", r);
}

/* By how often, of a hundred. */
static void step(struct driver *d)
{
	static const struct {
		uint32_t share;
		void (*what)(struct driver *d);
	} table[] = {
		{ 27, driver_submit }, { 27, driver_claim }, { 20, driver_end },
		{ 12, tick },	       { 4, driver_steer },  { 3, driver_update },
		{ 2, driver_queue },   { 2, driver_policy }, { 2, driver_limit },
		{ 1, driver_reopen },
	};
	uint32_t at = driver_below(d, 100), i = 0;

	while (at >= table[i].share)
		at -= table[i++].share;
	table[i].what(d);
}

static int compare_rows(const void *a, const void *b)
{
	const struct tq_queue_info *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : strcmp(x->kind, y->kind);
}

#ifndef count_ready
static uint32_t count_ready(const struct tq_counters *c)
{
	return c->depth[TQ_READY] + c->held;
}
#endif

static void print_row(const struct tq_queue_info *row)
{
	const struct tq_counters *c = &row->counters;
	const uint64_t values[] = { c->submitted, c->started,	     c->done,	 c->failed,
				    c->cancelled, c->expired,	     c->retried, c->crashed,
				    c->reclaimed, c->stolen,	     c->moved,	 c->throttled_total,
				    c->throttled, c->oldest_ready_ns };

	printf("row %s %s", row->name, row->kind);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		printf(" %llu", (unsigned long long)values[i]);
	for (int s = 0; s < TQ_STATE_COUNT; s++)
		printf(" %u", s == TQ_READY ? count_ready(c) : c->depth[s]);
	putchar('\n');
}

/* Rows are in no order that is promised. */
static void print_counters(struct driver *d)
{
	static struct tq_queue_info rows[ROWS];
	uint64_t cursor = 0;
	int n = 0, r = 1;

	while (r > 0 && n < ROWS) {
		rows[n].size = sizeof(rows[n]);
		r = tq_queue_list(d->tq, TQ_QUEUE_BY_KIND, &cursor, rows + n, (uint32_t)(ROWS - n));
		if (r < 0)
			give_up("counters", r);
		n += r;
	}
	qsort(rows, (size_t)n, sizeof(*rows), compare_rows);
	for (int i = 0; i < n; i++)
		if (rows[i].counters.submitted)
			print_row(rows + i);
}

static void finding(void *arg, const char *text)
{
	(void)arg;
	printf("check: %s\n", text);
}

static void open_segment(struct driver *d, const char *name)
{
	struct tq_open_opts opts = { .size = sizeof(opts),
				     .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
				     .max_bytes = 64ull << 20 };
	int r = tq_open(name, &opts, &d->tq);

	if (r < 0)
		give_up(name, r);
	tqt_system_init(&d->system, START_NS);
	d->tq->seg.ops = &d->system.ops;
	((struct tqi_root *)tqi_segment_root(&d->tq->seg))->seed = 42;
}

static void close_segment(struct driver *d, const char *name)
{
	driver_close_workers(d);
	d->tq = tq_close(d->tq);
	int r = tq_destroy(name, TQ_DESTROY_FORCE);

	if (r < 0)
		give_up("destroy", r);
}

static void run(uint64_t seed, uint32_t operations, bool planted)
{
	static struct driver d;
	char name[64];

	memset(&d, 0, sizeof(d));
	d.random = seed;
	d.planted = planted;
	d.kinds = 1 + driver_below(&d, driver_chance(&d, 3) ? 4 : DRIVER_KINDS);
	d.mixed = 1 + driver_below(&d, 8);
	const char *prefix = getenv("TASKQ_TEST_ID");

	snprintf(name, sizeof(name), "%s-%d", prefix ? prefix : "differential", (int)getpid());
	open_segment(&d, name);
	for (uint32_t i = 0; i < operations; i++) {
		printf("%llu.%u ", (unsigned long long)seed, i);
		step(&d);
	}
	print_counters(&d);
	int r = tq_check(d.tq, TQ_CHECK_EXACT, finding, NULL);

	printf("%llu check %d\n", (unsigned long long)seed, r);
	close_segment(&d, name);
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, runs = 1, operations = 2000;
	bool planted = false;

	for (int i = 1; i < argc; i++) {
		uint64_t *into = !strcmp(argv[i], "--seed")	    ? &seed
				 : !strcmp(argv[i], "--runs")	    ? &runs
				 : !strcmp(argv[i], "--operations") ? &operations
								    : NULL;

		if (into && i + 1 < argc)
			*into = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--plant"))
			planted = true;
		else
			give_up(argv[i], -22);
	}
	for (uint64_t i = 0; i < runs; i++)
		run(seed + i, (uint32_t)operations, planted);
	return 0;
}
