/* SPDX-License-Identifier: MIT */
/*
 * Times to look at a task: delay, back-off, deadline, time-out, progress.  One heap,
 * one entry a task, by the earliest of them.
 */
#ifndef TQI_SCHEDULER_TIME_DUE_H
#define TQI_SCHEDULER_TIME_DUE_H

#include "scheduler/record/records.h"

/* A time from now, as far as heaps can hold it. */
static inline uint64_t tqi_due_after(const struct tqi_tx *tx, uint64_t ns)
{
	uint64_t when = tx->now_ns + ns;

	return when < ns || when > INT64_MAX ? INT64_MAX : when;
}

void tqi_due_move(struct tqi_tx *tx, uint32_t index, struct tqi_task *task, uint64_t when_ns);
/* Put the task into the due heap for `when_ns`, move it, or (UINT64_MAX) take it out. */
static inline void tqi_due_set(struct tqi_tx *tx, uint32_t index, uint64_t when_ns)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	if (when_ns <= INT64_MAX || (task->flags & TQI_TASK_DUE))
		tqi_due_move(tx, index, task, when_ns);
}
/* Earliest time in the heap, or of a token that is waited for; UINT64_MAX none. */
uint64_t tqi_due_next(struct tqi_tx *tx);
/* When a running task must be looked at next, for its attempt's sake. */
uint64_t tqi_due_of_attempt(struct tqi_tx *tx, const struct tqi_task *task);
/* When a task as it is now must be looked at next; UINT64_MAX never. */
uint64_t tqi_due_of(struct tqi_tx *tx, const struct tqi_task *task);
/* When its attempt has run for too long; has made no progress for too long. */
uint64_t tqi_due_of_timeout(const struct tqi_task *task);
uint64_t tqi_due_of_stall(struct tqi_tx *tx, const struct tqi_task *task);
/* Its deadline, while it has not been noticed to have passed; UINT64_MAX none. */
uint64_t tqi_due_of_deadline(struct tqi_tx *tx, const struct tqi_task *task);
/* Flag a running task whose deadline has passed. */
void tqi_due_mark_late(struct tqi_tx *tx, struct tqi_task *task);

#endif
