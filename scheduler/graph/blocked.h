/* SPDX-License-Identifier: MIT */
/*
 * Tasks that wait for something else than time: BLOCKED (RC-11).
 *
 * `unmet` counts what a task waits for: its dependencies that have not been decided, and
 * gates that others have put on it.  Besides, the successor of a coalesce key waits for
 * its turn.  When nothing of all that is left, it goes on as it would have at its
 * submission: its delay, counted from then, or its appointment may be over meanwhile.  It
 * has been ready only from then on: being blocked does not age (B2).
 */
#ifndef TQI_SCHEDULER_GRAPH_BLOCKED_H
#define TQI_SCHEDULER_GRAPH_BLOCKED_H

#include "scheduler/record/records.h"

/* Take a waiting task out of the structures of its state. */
void tqi_task_unqueue(struct tqi_tx *tx, uint32_t index);

/* One thing more that it waits for; the task is waiting and has TQI_TASK_EXTRA. */
void tqi_task_block(struct tqi_tx *tx, uint32_t index);

/* One thing less: with the last one it is delayed or ready, unless a key blocks it. */
void tqi_task_unblock(struct tqi_tx *tx, uint32_t index);

/* Its key does not block it any more. */
void tqi_blocked_turn(struct tqi_tx *tx, uint32_t index);

/* It is final, and waits for nothing. */
void tqi_blocked_ended(struct tqi_tx *tx, const struct tqi_task *task);

#endif
