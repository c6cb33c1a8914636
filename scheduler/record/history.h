/* SPDX-License-Identifier: MIT */
/*
 * A3: the last ended attempts of a task, from the second on; dropped when memory is short.
 * HY-1  The newest entry is the attempt that ended last, and what that one has written is the
 *     task's result; before a later one's takes its place it is kept with the entry.
 * HY-2  Outputs that are kept so have TQI_EARLIER_BYTES together; the oldest go first.
 */
#ifndef TQI_SCHEDULER_RECORD_HISTORY_H
#define TQI_SCHEDULER_RECORD_HISTORY_H

#include "scheduler/record/records.h"

/* Add an entry; the oldest one goes when there are TQ_HISTORY_MAX, with its output. */
void tqi_history_add(struct tqi_tx *tx, struct tqi_task *task, const struct tq_attempt_info *info);
/* What the task has as its result belongs to its newest entry, or to nobody. */
void tqi_history_take_result(struct tqi_tx *tx, struct tqi_task *task);
/* Give it back, with all outputs. */
void tqi_history_give(struct tqi_tx *tx, struct tqi_task *task);

#endif
