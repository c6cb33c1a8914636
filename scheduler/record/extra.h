/* SPDX-License-Identifier: MIT */
/* The rare settings of a task: where they are, and how a task comes by them later. */
#ifndef TQI_SCHEDULER_RECORD_EXTRA_H
#define TQI_SCHEDULER_RECORD_EXTRA_H

#include "scheduler/record/records.h"

#define TQI_COPY_MAX 4096 /* bytes copied under the lock; more goes through a block in flight */

/* Of a task with TQI_TASK_EXTRA. */
struct tqi_extra *tqi_task_extra(struct tqi_tx *tx, const struct tqi_task *task);

/*
 * Give a task such settings, all at their defaults, unless it has them: its payload moves
 * to a larger block, and an attempt under way keeps the one before for its owner.  A
 * payload above TQI_COPY_MAX has them from its submission.  -ENOMEM.
 */
int tqi_task_extra_make(struct tqi_tx *tx, struct tqi_task *task);

/*
 * Another label, of a task without an attempt: its payload moves to another block.  -E2BIG
 * the payload is above TQI_COPY_MAX; -ENOMEM.
 */
int tqi_task_relabel(struct tqi_tx *tx, struct tqi_task *task, const char *label, uint8_t bytes);

#endif
