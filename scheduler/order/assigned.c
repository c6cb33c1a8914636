/* SPDX-License-Identifier: MIT */
/* Lists of assigned tasks. */
#include "scheduler/order/assign.h"

#include "scheduler/record/task_record.h"

void tqi_assigned_follow(struct tqi_tx *tx, uint32_t w, uint32_t count_before)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);
	struct tqi_heap *owners = &tqi_root(tx)->owners;

	if (worker->assigned_count != count_before)
		tqi_heap_follow(tx, owners, TQI_FAMILY_OWNERS, tqi_owner_entry(worker, w),
				count_before, worker->assigned_count);
}

static void link_between(struct tqi_tx *tx, struct tqi_worker *worker, uint32_t index,
			 uint32_t prev, uint32_t next)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	TQI_SET(tx, task->prev, prev);
	TQI_SET(tx, task->next, next);
	if (prev)
		TQI_SET(tx, tqi_task_at(tx, prev)->next, index);
	else
		TQI_SET(tx, worker->assigned, index);
	if (next)
		TQI_SET(tx, tqi_task_at(tx, next)->prev, index);
	else
		TQI_SET(tx, worker->assigned_last, index);
}

static void unlink_task(struct tqi_tx *tx, struct tqi_worker *worker, const struct tqi_task *task)
{
	if (task->prev)
		TQI_SET(tx, tqi_task_at(tx, task->prev)->next, task->next);
	else
		TQI_SET(tx, worker->assigned, task->next);
	if (task->next)
		TQI_SET(tx, tqi_task_at(tx, task->next)->prev, task->prev);
	else
		TQI_SET(tx, worker->assigned_last, task->prev);
}

void tqi_assigned_enter(struct tqi_tx *tx, uint32_t w, uint32_t index, bool first)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);
	struct tqi_task *task = tqi_task_at(tx, index);

	tqi_task_touch(tx, task);
	if (first)
		link_between(tx, worker, index, 0, worker->assigned);
	else
		link_between(tx, worker, index, worker->assigned_last, 0);
	TQI_SET(tx, task->due_ns, w);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_ASSIGNED));
	TQI_ADD(tx, worker->assigned_count, 1);
	TQI_ADD(tx, tqi_root(tx)->assigned, 1);
}

void tqi_assigned_take(struct tqi_tx *tx, struct tqi_worker *worker, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	tqi_task_touch(tx, task);
	unlink_task(tx, worker, task);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags & ~TQI_TASK_ASSIGNED));
	TQI_ADD(tx, worker->assigned_count, -1);
	TQI_ADD(tx, tqi_root(tx)->assigned, -1);
}

void tqi_assigned_leave(struct tqi_tx *tx, uint32_t index)
{
	uint32_t w = (uint32_t)tqi_task_at(tx, index)->due_ns;
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	tqi_assigned_take(tx, worker, index);
	tqi_assigned_follow(tx, w, worker->assigned_count + 1);
}
