/* SPDX-License-Identifier: MIT */
/* The life of a task's record: transitions, the end, eviction, who waits for it. */
#ifndef TQI_SCHEDULER_TASK_TASK_H
#define TQI_SCHEDULER_TASK_TASK_H

#include "scheduler/record/task_record.h"

/* Whether a transition is legal; the one table of them. */
bool tqi_transition_is_legal(uint32_t from, uint32_t to);

/* The record of an id: 0, TQ_EGONE freed, -ENOENT never was. */
int tqi_task_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index);

/* Change the state and every gauge that depends on it. */
void tqi_task_move(struct tqi_tx *tx, uint32_t index, uint32_t to);

/* End one that is over: it is condemned, or else has outlived its deadline. */
void tqi_task_end_over(struct tqi_tx *tx, uint32_t index);

/*
 * The one function that makes final transitions.  The task is in no lane heap and
 * has no attempt.  Wakes its waiters, updates counters, lists or frees the record.
 */
void tqi_task_finish(struct tqi_tx *tx, uint32_t index, uint32_t state, uint32_t cause,
		     int32_t cause_arg);

/* Cancel a waiting task, whatever it waits for. */
void tqi_task_cancel_waiting(struct tqi_tx *tx, uint32_t index);

/* Take a waiting task out of the structures of its state. */
void tqi_task_unqueue(struct tqi_tx *tx, uint32_t index);

/* Free the record: its id answers TQ_EGONE from now on. */
void tqi_task_free(struct tqi_tx *tx, uint32_t index);

/* Free up to `count` of the oldest evictable records; returns how many, or are about to be. */
uint32_t tqi_task_evict(struct tqi_tx *tx, uint32_t count);
/* Free up to `count` records that have been kept for their time. */
uint32_t tqi_task_retire(struct tqi_tx *tx, uint32_t count);
/* Put a final record on the finished list, or free it, if nothing pins it. */
void tqi_task_settle(struct tqi_tx *tx, uint32_t index);
/* Replace the error text; dropped when memory is short. */
void tqi_task_set_error(struct tqi_tx *tx, struct tqi_task *task, const char *text);

#endif
