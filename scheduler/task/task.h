/* SPDX-License-Identifier: MIT */
/* Records of tasks: found by their ids, and freed by age or for room. */
#ifndef TQI_SCHEDULER_TASK_TASK_H
#define TQI_SCHEDULER_TASK_TASK_H

#include "scheduler/graph/blocked.h"
#include "scheduler/graph/settle.h"
#include "scheduler/order/state.h"
#include "scheduler/record/task_record.h"
#include "scheduler/task/end.h"

/* The record of an id: 0, TQ_EGONE freed, -ENOENT never was. */
int tqi_task_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index);

/* Free up to `count` of the oldest evictable records; returns how many, or are about to be. */
uint32_t tqi_task_evict(struct tqi_tx *tx, uint32_t count);
/* Free up to `count` records that have been kept for their time. */
uint32_t tqi_task_retire(struct tqi_tx *tx, uint32_t count);
/* Replace the error text; dropped when memory is short. */
void tqi_task_set_error(struct tqi_tx *tx, struct tqi_task *task, const char *text);

#endif
