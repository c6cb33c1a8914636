/* SPDX-License-Identifier: MIT */
/* Whom to wake, and when somebody must look: the scheduler's half of shm/wait.h. */
#ifndef TQI_SCHEDULER_WORKER_WAKE_H
#define TQI_SCHEDULER_WORKER_WAKE_H

#include "scheduler/record/records.h"

/* A task of this class became startable: pop one eligible sleeper, newest first. */
void tqi_wake_for(struct tqi_tx *tx, uint32_t class_);
/* Pass over: if anything is startable by a sleeper, or a command or its answers wait for
 * one, pop one.  True when it did. */
bool tqi_wake_any(struct tqi_tx *tx);
/* Workers that leave when nothing is left: wake those for whom that is so now. */
void tqi_wake_empty(struct tqi_tx *tx);
/* Some memory or a record became free: pop the submitter that waits longest for room. */
void tqi_wake_room(struct tqi_tx *tx);
/* Everyone, a slice in each hold: the segment goes away.  True when some are left. */
bool tqi_wake_all(struct tqi_tx *tx);
/* Those who end attempts of a worker: its heartbeat thread, its master. */
void tqi_wake_stoppers(struct tqi_tx *tx, uint32_t worker);
/* A worker that sleeps for work: whatever there is. */
void tqi_wake_worker(struct tqi_tx *tx, uint32_t worker);
void tqi_wake_master(struct tqi_tx *tx, uint32_t master);

/* Whether nothing that the worker serves can start without an operator's help. */
bool tqi_worker_is_idle(struct tqi_tx *tx, const struct tqi_worker *worker);

/* Until when the keeper at this place may sleep. */
uint64_t tqi_keeper_until(struct tqi_tx *tx, uint32_t place);
/* The same for what waits for the wall clock, by that clock. */
uint64_t tqi_keeper_until_wall(struct tqi_tx *tx, uint32_t place);
/*
 * At the end of every transaction: keepers that must look earlier are told; and, when
 * room was made at a limit, one worker for those who wait there.
 */
void tqi_wake_keepers(struct tqi_tx *tx);

#endif
