/* SPDX-License-Identifier: MIT */
/* What a life of a task is measured beside, and in which numbers. */
#ifndef TASKQ_BENCH_GROWTH_H
#define TASKQ_BENCH_GROWTH_H

#include <stdint.h>
#include <sys/types.h>

#include "bench.h"

#define GROWTH_COUNTS 6
#define GROWTH_WAITING 1000u /* tasks beside all that is counted here */
#define GROWTH_NAME_BYTES 32

/* One measurement: a segment, and who lives tasks in it. */
struct growth {
	struct tq *tq;
	struct tq_worker *worker;
	struct tq_claim claim;
	struct tq_task_spec spec; /* of the next task */
	uint32_t count;		  /* of what it is measured beside */
	uint32_t turn;		  /* goes round them */
	char name[GROWTH_NAME_BYTES];
	const char *limit; /* spec.limits */
	uint64_t *groups;
	struct tq_worker **workers;
	pid_t *observers;
	struct tq_dependency *after;
};

struct growth_scene {
	const char *name;
	uint32_t counts[GROWTH_COUNTS]; /* rising; 0 no more */
	void (*open)(struct growth *g); /* the segment is there, empty */
	void (*turn)(struct growth *g); /* before each life; NULL nothing */
	void (*close)(struct growth *g);
	void (*live)(struct growth *g); /* NULL submit, claim, complete */
};

extern const struct growth_scene bench_growth_scenes[];
extern const uint32_t bench_growth_scene_count;

void bench_growth_submit(struct growth *g);
/* Claim and complete. */
void bench_growth_work(struct growth *g);

#endif
