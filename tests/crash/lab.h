/* SPDX-License-Identifier: MIT */
/*
 * Laboratories: copies of the segment in which a crash state is rescued, checked
 * and worked on, each by a thread of its own (so by another TID).  While the lab of
 * level 1 takes the lock it is stepped as the victim was, and every image it passes
 * through is a crash state for the lab of level 2, and so on.
 */
#ifndef TQT_LAB_H
#define TQT_LAB_H

#include <pthread.h>
#include <semaphore.h>

#include "tests/crash/death.h"
#include "tests/crash/seen.h"
#include "tests/crash/step.h"
#include "tests/crash/handle.h"
#include "taskq/taskq.h"
#include "tests/support/image.h"

#define TQT_LEVELS_MAX 3
#define TQT_DUMPS_MAX 80
#define TQT_FAULTS_SHOWN 4

/* What is known of one operation from one start state. */
struct tqt_sweep {
	const char *operation;
	const char *state;
	struct tqt_image start;	 /* before the operation */
	struct tqt_image stable; /* after its last commit so far */
	const struct tqt_system *system; /* the victim's: its clock and wakes */
	const struct tqt_map *map;	 /* where the victim works */
	struct tqt_seen seen;
	struct tqt_seen passed; /* by repairs that were stepped: an image, and where they were */
	bool boundary;	/* the state at hand is the first after a commit or rollback */
	bool returned;	/* the operation has said that it succeeded */
	bool words;	/* it does without the lock: TQT_WORDS */
	const char *intact; /* TQT_REPAIRS: what users saw before the damage; NULL any other */
	uint32_t unseen; /* flags of tasks that dumps leave out */
	bool sleeper;	/* the victim sleeps, or is awake out of turn: it passes wakes on itself */
	bool thorough;	/* step every rescue to its end */
	double end_s;	/* of tqt_seconds(), when stepping ends; 0 never */
	char *dumps[TQT_DUMPS_MAX]; /* what users see after each commit */
	uint32_t dump_count;
	uint64_t states[TQT_LEVELS_MAX + 1]; /* by level; 0 the victim's own steps */
	uint64_t steps[TQT_LEVELS_MAX + 1];
	uint32_t faults;
};

struct tqt_lab {
	uint32_t level; /* from 1 */
	struct tqt_sweep *sweep;
	struct tqt_lab *next; /* NULL the last */
	struct tqt_system system;
	struct tqi_segment seg;
	struct tqt_map map;
	struct tq *tq;
	struct tqt_thread thread;
	pthread_t pthread;
	sem_t go, done;
	const struct tqt_thread *dying; /* the request; NULL end */
	struct tqt_stepper stepper;
	uintptr_t robust_seen[2];
	const char *checking; /* when, for a finding's text */
	void *scratch;	      /* of tqi_check(), zero between two of them */
	uint64_t scratch_bytes;
	uint32_t undo_first; /* entries to roll back at the start of its rescue */
};

/* `count` labs in a chain, for segments of this geometry. */
void tqt_labs_open(struct tqt_lab *labs, uint32_t count, const struct tqi_segment *like,
		   struct tqt_sweep *sweep);
void tqt_labs_close(struct tqt_lab *labs, uint32_t count);
/* A new sweep: all labs begin with its start image. */
void tqt_labs_begin(struct tqt_lab *labs, uint32_t count, const struct tqi_segment *like);

/* The monotonic clock; and whether the time for all sweeps has been used up. */
double tqt_seconds(void);
bool tqt_time_is_over(const struct tqt_sweep *sweep);

/* What if this thread died now?  Called by it; returns when all has been examined. */
void tqt_lab_examine(struct tqt_lab *lab, const struct tqt_thread *dying);

/* Whether the thread's robust list changed since the last call. */
bool tqt_robust_changed(const struct tqt_thread *thread, uintptr_t seen[2]);

void tqt_fault(struct tqt_sweep *sweep, uint32_t level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* again.c: fill records that are free; what a claim left in one that it took. */
void tqt_soil(struct tqt_lab *lab);
void tqt_verify_claim(struct tqt_lab *lab, const struct tq_claim *claim);

/* observed.c: what an observer reads, before the rescue; and again after it. */
void tqt_observe(struct tqt_lab *lab);
void tqt_observe_rescued(struct tqt_lab *lab);

/* verify.c: after the lock has been taken and given back. */
void tqt_verify(struct tqt_lab *lab);
/* Whether there is a task that a worker could start; asks no heap of lanes. */
bool tqt_can_start(struct tqi_tx *tx, const struct tqi_worker *worker);

#endif
