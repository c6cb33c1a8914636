/* SPDX-License-Identifier: MIT */
/* The record of a task that has ended: it is kept, listed, or freed. */
#ifndef TQI_SCHEDULER_GRAPH_SETTLE_H
#define TQI_SCHEDULER_GRAPH_SETTLE_H

#include "scheduler/record/task_record.h"
#include "scheduler/wake/wake.h"

/* Put a final record on the finished list, or free it, if nothing pins it. */
void tqi_task_settle(struct tqi_tx *tx, uint32_t index);
/* Free the record: its id answers TQ_EGONE from now on. */
void tqi_task_free(struct tqi_tx *tx, uint32_t index);

/* All blocks but that of the payload, which few have. */
void tqi_task_give_blocks(struct tqi_tx *tx, struct tqi_task *task);
/* The rest of that, of one that is in the state of free ones, and in no list. */
static inline void tqi_task_give(struct tqi_tx *tx, uint32_t index, struct tqi_task *task)
{
	if (task->payload)
		tqi_block_give(tx, task->payload);
	if (task->result | task->error | task->history | task->kept)
		tqi_task_give_blocks(tx, task);
	if (task->generation < TQI_GENERATION_MAX) /* else the slot is retired */
		tqi_tx_give(tx, TQI_TASKS, index, task);
	if (tqi_root(tx)->room_waiters)
		tqi_wake_room(tx);
}

#endif
