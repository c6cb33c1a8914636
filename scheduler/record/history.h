/* SPDX-License-Identifier: MIT */
/* A3: the last ended attempts of a task, from the second on; dropped when memory is short. */
#ifndef TQI_SCHEDULER_RECORD_HISTORY_H
#define TQI_SCHEDULER_RECORD_HISTORY_H

#include "scheduler/record/records.h"

/* Add an entry; the oldest one goes when there are TQ_HISTORY_MAX. */
void tqi_history_add(struct tqi_tx *tx, struct tqi_task *task, const struct tq_attempt_info *info);

#endif
