/* SPDX-License-Identifier: MIT */
/* What the benches share. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

#define NAME_BYTES 32
#define SMALL_BYTES (16u << 20)
#define GLIMPSE 100u /* that part of what is measured otherwise */

static char segment[NAME_BYTES];
static bool is_quick;

void bench_quicken(void)
{
	is_quick = true;
}

bool bench_is_quick(void)
{
	return is_quick;
}

uint32_t bench_scaled(uint32_t count)
{
	return is_quick ? (count + GLIMPSE - 1) / GLIMPSE : count;
}

static void name_segment(char *name, int pid)
{
	snprintf(name, NAME_BYTES, "bench.%d", pid);
}

uint64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t bench_cpu_ns(int pid)
{
	struct timespec ts = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t bench_switches(const char *status)
{
	static const char name[] = "voluntary_ctxt_switches:";
	uint64_t count = 0;
	char line[128];
	FILE *f = fopen(status, "r");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			count = strtoull(line + strlen(name), NULL, 10);
	if (f)
		fclose(f);
	return count;
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

static struct tq *open_of(uint64_t max_bytes)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = max_bytes,
					   .trace_entries = getenv(BENCH_TRACE_OFF) ? TQ_OFF : 0 };
	struct tq *tq = NULL;

	name_segment(segment, (int)getpid());
	bench_must(tq_open(segment, &opts, &tq), "open");
	return tq;
}

struct tq *bench_open(void)
{
	return open_of(0);
}

struct tq *bench_open_small(void)
{
	return open_of(SMALL_BYTES);
}

struct tq *bench_open_sized(uint64_t max_bytes)
{
	return open_of(max_bytes);
}

void bench_close(struct tq *tq)
{
	tq_close(tq);
	bench_must(tq_destroy(segment, TQ_DESTROY_FORCE), "destroy");
}

void bench_discard(int pid)
{
	char name[NAME_BYTES];

	name_segment(name, pid);
	if (tq_destroy(name, TQ_DESTROY_FORCE) < 0)
		return; /* it had not come to making one, or has destroyed it */
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

/* Not rand(): its lock would be measured, too. */
int32_t bench_priority(void)
{
	static uint32_t x = 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return (int32_t)(x % BENCH_PRIORITIES);
}

void bench_fill(struct tq *tq, uint32_t depth)
{
	struct tq_task_spec spec = bench_spec();

	for (uint32_t i = 0; i < depth; i++) {
		spec.priority = bench_priority();
		bench_must(tq_submit(tq, &spec, NULL), "submit");
	}
}

void *bench_share(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("taskq-bench: mmap");
		exit(1);
	}
	return p;
}

void bench_unshare(void *shared, uint64_t bytes)
{
	munmap(shared, bytes);
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
