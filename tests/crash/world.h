/* SPDX-License-Identifier: MIT */
/* A victim's world: a segment of its own, the victim's handle and worker, others around it. */
#ifndef TQT_WORLD_H
#define TQT_WORLD_H

#include "client/worker/worker_api.h"
#include "tests/crash/map.h"
#include "tests/crash/handle.h"

#define TQT_IDS_MAX 64

struct tqt_world {
	struct tqt_system system;
	struct tqi_segment seg;
	struct tqt_map map;
	struct tq *tq;		  /* the victim's */
	struct tq *other;	  /* of a process that lives, on the same mapping */
	struct tq_worker *worker; /* the victim's */
	struct tq_worker *opened; /* by the operation */
	struct tq_claim claims[TQT_IDS_MAX];
	uint32_t claim_count;
	uint64_t ids[TQT_IDS_MAX]; /* tasks that the operation is about */
	uint32_t id_count;
	uint32_t others; /* mutexes held by others so far */
	void (*meanwhile)(struct tqt_world *w);
	void (*damage)(struct tqt_world *w); /* what users see was seen before; NULL none */
	int result;	 /* of the operation */
	char path[TQI_PATH_MAX];
};

struct tqt_world_options {
	uint64_t max_bytes; /* 0 = 4 MiB */
	uint64_t tasks_max; /* 0 = as the library would */
};

/* In the thread that will be the victim.  Ends the program when it cannot. */
void tqt_world_open(struct tqt_world *w, const struct tqt_world_options *options);
/* After that thread has ended. */
void tqt_world_close(struct tqt_world *w);

/* Steps on the way to a state; a failure ends the program. */
void tqt_must(int r, const char *what);
uint64_t tqt_submit(struct tqt_world *w, const struct tq_task_spec *spec);
uint64_t tqt_submit_plain(struct tqt_world *w);
void tqt_fill(struct tqt_world *w, uint32_t count);
/* The victim's worker, serving "default" and "other". */
void tqt_serve(struct tqt_world *w, uint64_t lease_ns);
/* It claims one task: w->claims[], w->ids[]. */
void tqt_claim(struct tqt_world *w);
/* Submit, claim and complete. */
void tqt_finish(struct tqt_world *w, uint32_t count);
/* A worker of somebody else, with `claims` running tasks; asleep when `asleep`. */
uint32_t tqt_foreign_worker(struct tqt_world *w, uint32_t pid, uint32_t claims, bool asleep);
/* One that w->other has opened becomes such a one. */
void tqt_give_away_worker(struct tqt_world *w, struct tq_worker *worker, uint32_t pid);
/* Another sleeper. */
uint32_t tqt_foreign_sleeper(struct tqt_world *w, enum tqi_interest interest, uint32_t subject);
/* One that waits, for nothing yet, on behalf of this attempt. */
uint32_t tqt_foreign_wait(struct tqt_world *w, uint32_t attempt);
/* Its owner, or the worker's, dies. */
void tqt_sleeper_dies(struct tqt_world *w, uint32_t waiter);
void tqt_worker_dies(struct tqt_world *w, uint32_t worker);
void tqt_elapse(struct tqt_world *w, uint64_t ns);
/* What others do when the operation sleeps; they are not stepped. */
void tqt_meanwhile(struct tqt_world *w, void (*others)(struct tqt_world *w));

#endif
