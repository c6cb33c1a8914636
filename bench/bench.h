/* SPDX-License-Identifier: MIT */
/* What the benches share: a segment of their own, a clock, a table of results. */
#ifndef TASKQ_BENCH_H
#define TASKQ_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <taskq/taskq.h>

#define BENCH_TRACE_OFF "BENCH_TRACE_OFF" /* in the environment: segments without a recorder */
#define BENCH_PAYLOAD_BYTES 64
#define BENCH_PRIORITIES 1000 /* random ones: a heap is not a list */

/* From now on each measurement is a glimpse: that it runs, not what it says, is of interest. */
void bench_quicken(void);
bool bench_is_quick(void);
/* So many of something that is measured; of a glimpse a hundredth, one at least. */
uint32_t bench_scaled(uint32_t count);
/* Nanoseconds, CLOCK_MONOTONIC. */
uint64_t bench_now(void);
/* Processor time of a process so far; 0 it is gone. */
uint64_t bench_cpu_ns(int pid);
/* How often a thread has gone to sleep, by its file /proc/.../status; 0 it is gone. */
uint64_t bench_switches(const char *status);
/* For measuring only: nothing is decided by it. */
void bench_pause(long us);
/* A new segment; exits on failure. */
struct tq *bench_open(void);
/* The same, that may grow to so many bytes. */
struct tq *bench_open_sized(uint64_t max_bytes);
/* The same of 16 MiB, which some 40,000 tasks fill. */
struct tq *bench_open_small(void);
/* Close and destroy it. */
void bench_close(struct tq *tq);
/* Destroy the segment of a process that ended without. */
void bench_discard(int pid);
/* A task of kind "bench" with a 64-byte payload that is forgotten when it ends. */
struct tq_task_spec bench_spec(void);
/* A priority out of BENCH_PRIORITIES, the same sequence in each process. */
int32_t bench_priority(void);
/* Let so many tasks wait. */
void bench_fill(struct tq *tq, uint32_t depth);
/* Exits with the library's text when `r` is an error. */
int bench_must(int r, const char *what);
/* Memory that is shared with children, zero; exits on failure. */
void *bench_share(uint64_t bytes);
void bench_unshare(void *shared, uint64_t bytes);
/* Run an operation; its instructions are what bench_count_scene() counts. */
void bench_counted(void (*op)(void *), void *arg);
/* All that bench_scene() counts; NULL, or why it cannot be had. */
const char *bench_count_scene(const char *scene, uint32_t number, double *ret_instructions);
/* This program's file. */
void bench_self(char *path, uint32_t bytes);
/* Sorts; the value at a share of the samples, 0.5 = median. */
uint64_t bench_quantile(uint64_t *samples, uint32_t count, double share);

/* The table of results (bench_table.c): lines for people, or one JSON object a line. */
void bench_table_json(void);
/* One row: a figure, its unit, and the bound that it should keep (0 none). */
void bench_report(const char *name, double value, const char *unit, double bound);
/* The same, whose bound is the least that it should be. */
void bench_report_least(const char *name, double value, const char *unit, double bound);
/* One point of a curve: the median of some rounds, with their least and most. */
struct bench_point {
	const char *plot;   /* the picture that it belongs to */
	const char *series; /* the curve */
	double x;
	const char *what; /* x counts these: "waiting" */
	const char *unit; /* of the values */
	double least, median, most;
};
void bench_report_point(const struct bench_point *point);
/* Takes the three from samples, each of which is so many of the unit; sorts them. */
void bench_point_of(struct bench_point *point, uint64_t *samples, uint32_t count, double each);
/* What a series was run with, and what it lacks beside taskq. */
void bench_report_peer(const char *series, const char *settings, const char *lacks);
/* A row that this machine cannot give. */
void bench_not_measured(const char *name, const char *why);
/* Instructions of one operation, and data that it did not find in the simulated caches. */
void bench_report_count(const char *name, double instructions, double first_misses,
			double last_misses);
/* What is measured: taken when it begins, since the load is the others'. */
void bench_table_begin(void);
/* The last line: how many bounds were met, how many missed. */
void bench_table_end(void);

/*
 * Lives of a task for bench_count.c to count in: submit and claim and complete; or with
 * tq_next ("next"); or in the floor ("floor"); or under a policy of bench_policy.c.
 */
void bench_lives(uint32_t count, uint32_t depth, const char *how);
/* How one operation of a life under a policy compares with strict order: bench_count.c. */
void bench_count_policy(const char *policy, uint32_t depth);
/* False: no such policy. */
bool bench_policy_lives(uint32_t count, uint32_t depth, const char *policy);

/* What bench_flat() has counted, beside so many of what its name says; false: no such scene. */
bool bench_scene(const char *name, uint32_t number);
/* So many threads that wait for a task: a process beside one of these. */
void bench_sleepers(const char *segment, const char *sort, uint32_t number, uint64_t awaited);

/*
 * A graph in layers (bench_layered.c): `on` has the BENCH_AFTER of each task behind the first
 * layer; NULL none.
 */
#define BENCH_LAYER 1000
#define BENCH_AFTER 3
struct bench_layered {
	uint32_t tasks;
	uint32_t dependencies;
	const uint32_t *on; /* free() it */
};
struct bench_layered bench_layered_make(uint32_t tasks);
/* Its group. */
uint64_t bench_layered_submit(struct tq *tq, const struct bench_layered *graph);
/* Until all are done. */
void bench_layered_run(struct tq *tq, struct tq_worker *worker, uint64_t group, uint32_t tasks);

void bench_alone(void);	    /* one process */
void bench_pair(void);	    /* a producer and a worker */
void bench_crowd(void);	    /* many of both */
void bench_wake(void);	    /* wake-ups beside a bare futex */
void bench_death(void);	    /* from a kill to the next attempt */
void bench_lock(void);	    /* from EOWNERDEAD to the lock in order */
void bench_memory(void);    /* of a waiting task */
void bench_observers(void); /* taskq-top, and what it costs the queue */
void bench_scrape(void);    /* of metrics, by taskq-exporter */
void bench_count(void);	    /* instructions and cache misses */
void bench_count_deep(void);
void bench_policy(void); /* orders of a queue, beside strict priority */
void bench_policy_deep(void);
void bench_policy_count(void);
void bench_steer(void);	 /* one of very many */
void bench_flat(void);	 /* beside very many queues, kinds, tenants, workers, sleepers */
void bench_herd(void);	 /* who is woken, of very many idle workers */
void bench_idle(void);	 /* a farm that has nothing to do */
void bench_repair(void); /* of very many tasks, beside their submits */
void bench_peers(void);	 /* others that queue tasks */
void bench_growth(void); /* with what waits, and what stands beside */
void bench_commands(void); /* starting commands, beside xargs and others */
void bench_limits(void); /* copying, locking, waking, starting a program */
void bench_graph(void);	 /* tasks that depend on each other, beside plain C */
void bench_graph_full(void);
void bench_parked(void); /* very many behind a full limit (taskq-bench-inside) */
void bench_hold(void);	 /* how long the lock is held (taskq-bench-inside) */

#endif
