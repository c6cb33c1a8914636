/* SPDX-License-Identifier: MIT */
/*
 * The records of the scheduler, as they lie in the segment.
 *
 * Unless a field's comment says otherwise: written in transactions under the
 * lock, journalled, read under the lock and by observers; a crash half-way leaves
 * the old values after rollback.  References are record indices, 0 = none.
 *
 * RC-1  Task records are the truth.  Heaps, lists, streams' depths and the root's
 *     gauges can be rebuilt from them by one scan (scheduler/rebuild/rebuild.c).
 * RC-2  state == RUNNING  <=>  attempt != 0  <=>  one attempt record names this task.  Of a
 *     free record `attempt` means nothing.
 * RC-3  state == READY and neither held nor assigned  <=>  the task is in a run of its lane
 *     (RN-1); where the class is aged, in the lane's heap of ages, too.  Assigned => READY,
 *     and on the list of one worker.
 * RC-4  in the due heap  <=>  state is DELAYED by the monotonic clock, or RUNNING with a
 *     time to watch, or waiting once more with a time-out in all, or the task has a
 *     deadline that has not been noticed to have passed.  One entry a task, by the
 *     earliest of its times.
 *     in the wall heap  <=>  DELAYED by the wall clock  <=>  DELAYED with due_ns
 *     UINT64_MAX; its key is the task's at_ns, and no step of the clock changes it.
 * RC-5  A final task has no attempt; it is on the finished list unless pinned.
 * RC-6  epoch grows by one with each attempt; a claim carries the epoch it was given.
 * RC-7  A key is in the index  <=>  its record says held  =>  no other key of its queue
 *     has its name.  Its task is then: waiting and never started (scope queued),
 *     unfinished (active), anything (kept), unfinished and no successor (coalesce).
 *     A successor is BLOCKED, and one held key of the same name names it.
 * RC-8  A limit's `used` and `waiting` are what the tasks that name it add up to; an
 *     unfinished task is in the lane of its class and its limits (scheduler/order/lane.h).
 * RC-9  A delivery is TAKEN  <=>  its worker's `command` names its command.  A command is
 *     OPEN, and on that list by sequence, while a delivery of it is unanswered; else it is
 *     on the list of the ended ones.  command_seen == the root's command_change  =>
 *     nothing waits that the worker could take.
 * RC-10  In a fair queue an unfinished task of the queue's era is in a class of its tenant,
 *     otherwise in one of its queue (scheduler/order/fair.h).  The lane of a finished one
 *     means nothing.
 * RC-11  state == BLOCKED  <=>  unmet != 0, or the task is a successor (RC-7).  `unmet` is what
 *     its untold edges and the gates on it add up to (scheduler/graph/blocked.h).
 * RC-12  A server's `used` is the number of attempts that name it; it is in the pool that its
 *     name calls for, whose `used` is what its servers add up to (scheduler/limit/server.h).
 * RC-13  There is one stream for each queue and kind that have had a task, found by these
 *     (scheduler/record/stream.h): whatever orders its tasks may come and go, and what is
 *     counted of them stays, until its queue or its kind is given back (UN-1).  Its `times`
 *     names histograms, but where it was made when their table was full, or by a repair
 *     without memory.  They have at most as many samples as it has counted: of waits and of runs the attempts that started, of lives
 *     the tasks that are done or failed.  A process killed between a commit and its
 *     samples leaves these out (shm/histogram.h).
 */
#ifndef TQI_SCHEDULER_RECORD_RECORDS_H
#define TQI_SCHEDULER_RECORD_RECORDS_H

#include "scheduler/record/root.h"

#endif
