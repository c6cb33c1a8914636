/* SPDX-License-Identifier: MIT */
/* Whom to wake: the scheduler's half of shm/wait.h. */
#ifndef TQI_SCHEDULER_WAKE_WAKE_H
#define TQI_SCHEDULER_WAKE_WAKE_H

#include "scheduler/record/records.h"

#define TQI_WAKE_POPS 16 /* sleepers popped in one hold: each that comes pops another */

/* A task of this class became startable: pop one eligible sleeper, newest first. */
void tqi_wake_for(struct tqi_tx *tx, uint32_t class_);
/* Workers that leave when nothing is left: it may be so now; a slice of those that sleep. */
void tqi_wake_empty(struct tqi_tx *tx);
/* A slice of what an earlier call has left (LV-1). */
void tqi_wake_empty_more(struct tqi_tx *tx);
/* Some memory or a record became free: pop a submitter that waits for room (RO-1 to RO-3). */
void tqi_wake_room(struct tqi_tx *tx);
/* The same when something has left a queue, or it may be deeper. */
void tqi_wake_room_in(struct tqi_tx *tx, uint32_t queue);
/* Those on this list of a subject, whose wait is over, are called: some are popped (CA-2). */
void tqi_wake_waiters(struct tqi_tx *tx, struct tqi_waiter_list *subject);
/* Pop up to `count` called ones that live; true when one was. */
bool tqi_wake_called(struct tqi_tx *tx, uint32_t count);
/* Everyone, a slice in each hold: the segment goes away.  True when some are left. */
bool tqi_wake_all(struct tqi_tx *tx);
/* Those who end attempts of a worker: its heartbeat thread, its master. */
void tqi_wake_stoppers(struct tqi_tx *tx, uint32_t worker);
/* A worker that sleeps for work: whatever there is. */
void tqi_wake_worker(struct tqi_tx *tx, uint32_t worker);
void tqi_wake_master(struct tqi_tx *tx, uint32_t master);

/* Whether nothing that the worker serves can start without an operator's help. */
bool tqi_worker_is_idle(struct tqi_tx *tx, const struct tqi_worker *worker);

#endif
