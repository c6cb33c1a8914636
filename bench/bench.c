/* SPDX-License-Identifier: MIT */
/* Runs all benches; prints a table, or with --json one object a line. */
#include "bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

static bool as_json;
static char segment[64];

uint64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

void bench_pause(long us)
{
	const struct timespec ts = { .tv_nsec = us * 1000 };

	nanosleep(&ts, NULL);
}

int bench_must(int r, const char *what)
{
	if (r >= 0)
		return r;
	fprintf(stderr, "taskq-bench: %s: %s\n", what, tq_strerror(r));
	if (tq_destroy(segment, TQ_DESTROY_FORCE) < 0)
		fprintf(stderr, "taskq-bench: segment %s is left\n", segment);
	exit(1);
}

struct tq *bench_open(void)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE };
	struct tq *tq = NULL;

	snprintf(segment, sizeof(segment), "bench.%d", (int)getpid());
	bench_must(tq_open(segment, &opts, &tq), "open");
	return tq;
}

void bench_close(struct tq *tq)
{
	tq_close(tq);
	bench_must(tq_destroy(segment, TQ_DESTROY_FORCE), "destroy");
}

struct tq_task_spec bench_spec(void)
{
	static const char payload[BENCH_PAYLOAD_BYTES];

	return (struct tq_task_spec){ .size = sizeof(struct tq_task_spec),
				      .kind = "bench",
				      .payload = payload,
				      .payload_bytes = sizeof(payload),
				      .flags = TQ_TASK_FORGET };
}

void bench_report(const char *name, double value, const char *unit, double bound)
{
	if (as_json)
		printf("{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"bound\":%.3f}\n", name,
		       value, unit, bound);
	else if (bound > 0)
		printf("%-58s %10.1f %-5s  at most %.1f%s\n", name, value, unit, bound,
		       value > bound ? "  MISSED" : "");
	else
		printf("%-58s %10.1f %s\n", name, value, unit);
	fflush(stdout);
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t bench_quantile(uint64_t *samples, uint32_t count, double share)
{
	qsort(samples, count, sizeof(*samples), compare);
	return samples[(uint32_t)((double)(count - 1) * share)];
}

int main(int argc, char **argv)
{
	as_json = argc > 1 && strcmp(argv[1], "--json") == 0;
	if (argc > 1 && !as_json) {
		fprintf(stderr, "usage: taskq-bench [--json]\n");
		return 2;
	}
	bench_alone();
	bench_pair();
	bench_death();
	return 0;
}
