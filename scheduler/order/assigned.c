/* SPDX-License-Identifier: MIT */
/* Lists of assigned tasks. */
#include "scheduler/order/assign.h"

#include "scheduler/record/task_record.h"
#include "shm/list.h"

void tqi_assigned_follow(struct tqi_tx *tx, uint32_t w, uint32_t count_before)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);
	struct tqi_heap *owners = &tqi_root(tx)->owners;

	if (worker->assigned_count != count_before)
		tqi_heap_follow(tx, owners, TQI_FAMILY_OWNERS, tqi_owner_entry(worker, w),
				count_before, worker->assigned_count);
}

TQI_LINKS(links_of, tqi_task_at, tqi_task, prev, next)

static inline struct tqi_list list_of(struct tqi_worker *worker)
{
	return (struct tqi_list){ links_of, &worker->assigned, &worker->assigned_last };
}

void tqi_assigned_enter(struct tqi_tx *tx, uint32_t w, uint32_t index, bool first)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);
	struct tqi_task *task = tqi_task_at(tx, index);

	tqi_task_touch(tx, task);
	if (first)
		tqi_list_push(tx, list_of(worker), index);
	else
		tqi_list_append(tx, list_of(worker), index);
	TQI_SET(tx, task->due_ns, w);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_ASSIGNED));
	TQI_ADD(tx, worker->assigned_count, 1);
	TQI_ADD(tx, tqi_root(tx)->assigned, 1);
}

void tqi_assigned_take(struct tqi_tx *tx, struct tqi_worker *worker, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	tqi_task_touch(tx, task);
	tqi_list_remove(tx, list_of(worker), index);
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
