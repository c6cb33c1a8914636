/* SPDX-License-Identifier: MIT */
/*
 * Tasks assigned to workers: batch claims, and work stealing.
 *
 * AS-1  In a queue with a batch a claim takes more than it starts: as many tasks as make
 *     up the batch with what the worker holds, in the order in which they would start,
 *     are *assigned* to it.  They stay READY, out of their lanes' heaps: no attempt, no
 *     time-out, no slot of a limit; a task with limit keys is never assigned, and nothing
 *     in a fair queue, where a start decides whose the next one is, or in one with servers.
 * AS-2  Assigned tasks start with the next claims of their worker, before all else.  What
 *     makes a task other than READY, or moves it, takes it off the list
 *     (tqi_ready_leave()); a pause of its queue, or servers, send it back to its lane.
 * AS-3  A worker that would sleep steals instead: the last of the tasks that it can run on
 *     the list of the worker that has most of those that have something for it, up to its
 *     steal_max, when so much of its batch is free and its interval has passed.  It asks the
 *     32 that have most: the root has a heap of them.  Whoever leaves something to steal
 *     behind wakes a sleeper for it.
 * AS-4  A worker that leaves or is proved dead sends its list back; ages and places are
 *     those of before.
 */
#ifndef TQI_SCHEDULER_ORDER_ASSIGN_H
#define TQI_SCHEDULER_ORDER_ASSIGN_H

#include "scheduler/record/records.h"

/* A worker's entry in the root's heap of those that have something to steal. */
static inline struct tqi_heap_entry tqi_owner_entry(const struct tqi_worker *worker, uint32_t w)
{
	return (struct tqi_heap_entry){ -(int64_t)worker->assigned_count, tqi_tag(0, w) };
}

/* In no heap: onto a worker's list, first or last.  Off it.  The worker's place is to follow. */
void tqi_assigned_enter(struct tqi_tx *tx, uint32_t worker, uint32_t task, bool first);
void tqi_assigned_take(struct tqi_tx *tx, struct tqi_worker *worker, uint32_t task);
/* Its place among those that have something to steal, after a change. */
void tqi_assigned_follow(struct tqi_tx *tx, uint32_t worker, uint32_t count_before);
/* Off its worker's list, and in no heap. */
void tqi_assigned_leave(struct tqi_tx *tx, uint32_t task);
/* All of a worker's back to their lanes. */
void tqi_assigned_return(struct tqi_tx *tx, uint32_t worker);
/* The next one to start; 0 none. */
uint32_t tqi_assigned_next(struct tqi_tx *tx, uint32_t worker);
/* After a start from this queue: fill the batch. */
void tqi_assign(struct tqi_tx *tx, uint32_t worker, uint32_t queue);

/* Steal for a worker that has nothing to start; the next one to start, 0 none. */
uint32_t tqi_steal(struct tqi_tx *tx, uint32_t worker);
/* Whether it could. */
bool tqi_steal_is_possible(struct tqi_tx *tx, const struct tqi_worker *worker);
/* When a worker that found nothing may steal again; UINT64_MAX: not for the time. */
uint64_t tqi_steal_due(struct tqi_tx *tx, uint32_t worker);

#endif
