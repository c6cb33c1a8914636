/* SPDX-License-Identifier: MIT */
/* What the benches share: a segment of their own, a clock, a table of results. */
#ifndef TASKQ_BENCH_H
#define TASKQ_BENCH_H

#include <stdint.h>
#include <taskq/taskq.h>

#define BENCH_PAYLOAD_BYTES 64

/* Nanoseconds, CLOCK_MONOTONIC. */
uint64_t bench_now(void);
/* For measuring only: nothing is decided by it. */
void bench_pause(long us);
/* A new segment; exits on failure. */
struct tq *bench_open(void);
/* Close and destroy it. */
void bench_close(struct tq *tq);
/* A task of kind "bench" with a 64-byte payload that is forgotten when it ends. */
struct tq_task_spec bench_spec(void);
/* Exits with the library's text when `r` is an error. */
int bench_must(int r, const char *what);
/* One row of the table: a figure, its unit, and the bound that it should keep (0 none). */
void bench_report(const char *name, double value, const char *unit, double bound);
/* Sorts; the value at a share of the samples, 0.5 = median. */
uint64_t bench_quantile(uint64_t *samples, uint32_t count, double share);

void bench_alone(void); /* one process */
void bench_pair(void);	/* a producer and a worker, and wake-ups beside a bare futex */
void bench_death(void); /* from a kill to the next attempt */

#endif
