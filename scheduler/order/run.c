/* SPDX-License-Identifier: MIT */
/* Runs of a lane's ready tasks. */
#include "scheduler/order/run.h"

static void append(struct tqi_tx *tx, struct tqi_lane *lane, struct tqi_task *task, uint32_t index,
		   struct tqi_task *last)
{
	struct tqi_undo *u = tqi_undo_room(tx, TQI_RUN_APPEND);

	if (!u)
		return;
	tqi_run_note_append(tx, &u, lane, task, last);
	tqi_undo_count(tx, TQI_RUN_APPEND);
	tqi_run_store_append(lane, task, last, index);
}

void tqi_run_begin(struct tqi_tx *tx, struct tqi_lane *lane, const struct tqi_heap_entry *entry)
{
	tqi_heap_push(tx, &lane->tasks, TQI_FAMILY_LANE, *entry);
	if (lane->tasks.root.tag != entry->tag)
		TQI_SET(tx, lane->last, tqi_tag_index(entry->tag));
}

void tqi_run_enter(struct tqi_tx *tx, struct tqi_lane *lane, struct tqi_task *task,
		   const struct tqi_heap_entry *entry)
{
	struct tqi_task *last = tqi_run_end(tx, lane, entry);

	if (last)
		append(tx, lane, task, tqi_tag_index(entry->tag), last);
	else
		tqi_run_begin(tx, lane, entry);
}

static void move_up(struct tqi_tx *tx, struct tqi_lane *lane, uint32_t first, uint32_t index)
{
	struct tqi_task *task = tqi_run_next(tx, first, index);

	tqi_heap_rekey(tx, &lane->tasks, TQI_FAMILY_LANE, first, tqi_run_entry(task, index));
	TQI_SETS_IF(tx, (true, task, prev, 0), (true, lane, behind, lane->behind - 1));
}

static void take_out(struct tqi_tx *tx, struct tqi_lane *lane, uint32_t index,
		     const struct tqi_task *task)
{
	struct tqi_task *prev = tqi_table_pass(tx, TQI_TASKS, task->prev);
	struct tqi_task *next = task->next ? tqi_table_pass(tx, TQI_TASKS, task->next) : prev;
	const bool at_end = next == prev;

	if (prev->next != index || (!at_end && next->prev != index))
		tx->corrupt = true; /* it is not there */
	if (TQI_PLANTED(loose_run))
		prev->next = task->next; /* its entry has the new value */
	TQI_SETS_IF(tx, (true, prev, next, task->next), (!at_end, next, prev, task->prev),
		    (true, lane, behind, lane->behind - 1));
}

void tqi_run_leave(struct tqi_tx *tx, struct tqi_lane *lane, uint32_t index,
		   const struct tqi_task *task)
{
	if (lane->last == index)
		TQI_SET(tx, lane->last, task->prev);
	if (task->prev)
		take_out(tx, lane, index, task);
	else if (task->next)
		move_up(tx, lane, index, task->next);
	else
		tqi_heap_remove(tx, &lane->tasks, TQI_FAMILY_LANE, index);
}
