/* SPDX-License-Identifier: MIT */
/* Times to look at a task: delay, back-off, time-out, progress.  One heap, one entry a task. */
#ifndef TQI_SCHEDULER_DUE_H
#define TQI_SCHEDULER_DUE_H

#include "scheduler/records.h"

/* Put the task into the due heap for `when_ns`, move it, or (UINT64_MAX) take it out. */
void tqi_due_set(struct tqi_tx *tx, uint32_t task, uint64_t when_ns);
/* Earliest time in the heap; UINT64_MAX none. */
uint64_t tqi_due_next(struct tqi_tx *tx);
/* Handle up to `count` tasks whose time has come; true when there may be more. */
bool tqi_due_run(struct tqi_tx *tx, uint32_t count);
/* When a running task must be looked at next. */
uint64_t tqi_due_of_attempt(struct tqi_tx *tx, const struct tqi_task *task);

#endif
