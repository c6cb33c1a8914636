/* SPDX-License-Identifier: MIT */
/*
 * Random operations on a segment of its own, and all that they answer, printed: a run of
 * one seed.  Compiled against two trees, whose headers differ by their folders only.
 */
#ifndef TQT_DIFFERENTIAL_DRIVER_H
#define TQT_DIFFERENTIAL_DRIVER_H

#include <stdbool.h>

#include <taskq/taskq.h>

#if __has_include("client/core/handle.h")
#include "client/core/handle.h"
#else /* before the moves into rooms */
#include "client/handle.h"
#endif
#include "tests/support/system.h"

#define DRIVER_TASKS 4096
#define DRIVER_WORKERS 8
#define DRIVER_QUEUES 5
#define DRIVER_KINDS 48 /* three times 16: the order groups kinds by so many */
#define DRIVER_LIMITS 6
#define DRIVER_TENANTS 7
#define DRIVER_HELD 3 /* claims of one worker at a time */
#define DRIVER_MS 1000000ull

struct driver_worker {
	struct tq_worker *worker; /* NULL not open */
	bool held[DRIVER_HELD];
	struct tq_claim claims[DRIVER_HELD];
};

struct driver {
	uint64_t random;
	struct tqt_system system; /* its clock stands still but for driver_tick() */
	struct tq *tq;
	uint32_t kinds; /* in use, of DRIVER_KINDS */
	uint32_t mixed; /* one task in so many has limits, one a fair key, one a deadline ... */
	uint32_t task_count;
	uint64_t ids[DRIVER_TASKS];
	struct driver_worker workers[DRIVER_WORKERS];
	bool planted; /* one task in a hundred has another priority than the seed wants */
};

/* Uniform in 0 .. n-1; true one time in n. */
uint32_t driver_below(struct driver *d, uint32_t n);
bool driver_chance(struct driver *d, uint32_t n);
/* "q3"; it lives until sixty-four others have been made. */
const char *driver_name(char letter, uint32_t number);
/* How a task is called in what is printed: the number of its submit; -1 an unknown one. */
int driver_task(const struct driver *d, uint64_t id);
/* A random one; 0 none yet. */
uint64_t driver_pick_task(struct driver *d);

/* What clients and workers do. */
void driver_submit(struct driver *d);
void driver_steer(struct driver *d);
void driver_update(struct driver *d);
void driver_claim(struct driver *d);
void driver_end(struct driver *d);
void driver_reopen(struct driver *d);
void driver_close_workers(struct driver *d);
/* What operators do. */
void driver_queue(struct driver *d);
void driver_policy(struct driver *d);
void driver_limit(struct driver *d);

#endif
