/* SPDX-License-Identifier: MIT */
/* The record of a task that has ended: it is kept, listed, or freed. */
#ifndef TQI_SCHEDULER_GRAPH_SETTLE_H
#define TQI_SCHEDULER_GRAPH_SETTLE_H

#include "scheduler/record/records.h"

/* Put a final record on the finished list, or free it, if nothing pins it. */
void tqi_task_settle(struct tqi_tx *tx, uint32_t index);
/* Free the record: its id answers TQ_EGONE from now on. */
void tqi_task_free(struct tqi_tx *tx, uint32_t index);

#endif
