/* SPDX-License-Identifier: MIT */
/*
 * The ready tasks of a lane, in runs: most come in the order in which they start.
 *
 * RN-1  A run is a list of tasks through their own words, in the order of their keys, with 0 at
 *     its ends.  Its first is in the lane's heap and has nothing before it, and no other is in
 *     the heap: the lane's first task is the heap's root.
 * RN-2  `last` of a lane is the end of a run, or 0.  A task that is not before it is appended;
 *     any other one begins a run of its own, and is `last` unless it is the first of all.
 * RN-3  When the first of a run leaves, the next one takes its place in the heap.
 *
 * So where all come in order the heap has one or two entries, whatever waits.  Out of order a
 * run has two tasks in the mean, and the heap half of them all.
 *
 * The heap has room for all nevertheless: a task whose run comes apart, which is released,
 * retried, or inherits, must not fail to enter.
 */
#ifndef TQI_SCHEDULER_ORDER_RUN_H
#define TQI_SCHEDULER_ORDER_RUN_H

#include "scheduler/record/records.h"

/* A ready task, whose words are 0, enters its lane by this entry. */
void tqi_run_enter(struct tqi_tx *tx, struct tqi_lane *lane, struct tqi_task *task,
		   const struct tqi_heap_entry *entry);
/* The same where there is none to append it to (tqi_run_end()). */
void tqi_run_begin(struct tqi_tx *tx, struct tqi_lane *lane, const struct tqi_heap_entry *entry);
/* It leaves; its words stay as they are. */
void tqi_run_leave(struct tqi_tx *tx, struct tqi_lane *lane, uint32_t index,
		   const struct tqi_task *task);

/* How many ready tasks a lane has. */
static inline uint32_t tqi_run_tasks(const struct tqi_lane *lane)
{
	return lane->tasks.length + lane->behind;
}

static inline struct tqi_heap_entry tqi_run_entry(const struct tqi_task *task, uint32_t index)
{
	return (struct tqi_heap_entry){ task->key, tqi_tag(task->sequence, index) };
}

/* RN-2: the task that one with this entry is appended to; NULL it begins a run. */
static inline struct tqi_task *tqi_run_end(struct tqi_tx *tx, const struct tqi_lane *lane,
					   const struct tqi_heap_entry *entry)
{
	struct tqi_task *last = lane->last ? tqi_table_pass(tx, TQI_TASKS, lane->last) : NULL;
	const struct tqi_heap_entry end = last ? tqi_run_entry(last, lane->last) : *entry;

	return tqi_entry_before(entry, &end) ? NULL : last;
}

/* It is appended: so many journal entries, which the caller counts with others, and the stores. */
#define TQI_RUN_APPEND 4u
static inline void tqi_run_note_append(const struct tqi_tx *tx, struct tqi_undo **u,
				       const struct tqi_lane *lane, const struct tqi_task *task,
				       const struct tqi_task *last)
{
	TQI_NOTE(tx, *u, last->next);
	TQI_NOTE(tx, *u, task->prev);
	TQI_NOTE(tx, *u, lane->behind);
	TQI_NOTE(tx, *u, lane->last);
}
static inline void tqi_run_store_append(struct tqi_lane *lane, struct tqi_task *task,
					struct tqi_task *last, uint32_t index)
{
	TQI_PUT(last->next, index);
	TQI_PUT(task->prev, lane->last);
	TQI_PUT(lane->behind, lane->behind + 1);
	TQI_PUT(lane->last, index);
}

/*
 * RN-3: the task behind the first of a run, which leaves.  What is behind that one is read when
 * it leaves itself: it is loaded into the cache meanwhile.
 */
static inline struct tqi_task *tqi_run_next(struct tqi_tx *tx, uint32_t first, uint32_t index)
{
	struct tqi_task *task = tqi_table_pass(tx, TQI_TASKS, index);

	if (task->prev != first)
		tx->corrupt = true; /* it is not there */
	if (task->next)
		tqi_table_fetch(tx->seg, TQI_TASKS, task->next);
	return task;
}

/* It takes the place of the first in a heap of one: likewise. */
#define TQI_RUN_UP (TQI_HEAP_ONLY + 2u)
static inline void tqi_run_note_up(const struct tqi_tx *tx, struct tqi_undo **u,
				   const struct tqi_lane *lane, const struct tqi_task *task)
{
	tqi_heap_note_only(tx, u, &lane->tasks, TQI_FAMILY_LANE);
	TQI_NOTE(tx, *u, task->prev);
	TQI_NOTE(tx, *u, lane->behind);
}
static inline void tqi_run_store_up(const struct tqi_tx *tx, struct tqi_lane *lane,
				    struct tqi_task *task, uint32_t index)
{
	tqi_heap_store_only(&lane->tasks, tqi_run_entry(task, index));
	tqi_heap_position_store(tx->seg, TQI_FAMILY_LANE, index, TQI_HEAP_ROOT);
	TQI_PUT(task->prev, 0);
	TQI_PUT(lane->behind, lane->behind - 1);
}

#endif
