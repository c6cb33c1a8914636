/* SPDX-License-Identifier: MIT */
/* New lives for tasks that have ended. */
#ifndef TQI_SCHEDULER_TASK_REVIVE_H
#define TQI_SCHEDULER_TASK_REVIVE_H

#include "scheduler/record/records.h"

/* A new life for a final task, blocked by so many things; it is on no list but the finished one. */
int tqi_steer_renew(struct tqi_tx *tx, uint32_t index, uint32_t unmet);
/* Before a new life by hand: how many dependencies it is to wait for (DP-4). */
uint32_t tqi_after_retry(struct tqi_tx *tx, const struct tqi_task *task);
/* A refused edge of a task that lives again: its dependant does, too (DP-5).  An error: not revived, abort. */
int tqi_after_revive(struct tqi_tx *tx, uint32_t edge);

#endif
