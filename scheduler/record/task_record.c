/* SPDX-License-Identifier: MIT */
/* Lists of tasks: the finished ones; those whose edges are gone through. */
#include "scheduler/record/task_record.h"

#include "shm/list.h"

TQI_LINKS(links_of, tqi_task_at, tqi_task, prev, next)

static inline struct tqi_list finished(struct tqi_root *root)
{
	return (struct tqi_list){ links_of, &root->finished.oldest, &root->finished.newest };
}

void tqi_task_unlist(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_root *root = tqi_root(tx);

	if (!(task->flags & TQI_TASK_LISTED))
		return;
	tqi_list_remove(tx, finished(root), index);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags & ~TQI_TASK_LISTED));
	TQI_ADD(tx, root->finished.count, -1);
}

void tqi_task_list(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_root *root = tqi_root(tx);

	tqi_list_append(tx, finished(root), index);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_LISTED));
	TQI_ADD(tx, root->finished.count, 1);
}

void tqi_edge_append(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_task *t = tqi_task_at(tx, task);
	struct tqi_root *root = tqi_root(tx);

	tqi_task_touch(tx, t);
	TQI_SET(tx, t->flags, (uint16_t)(t->flags | TQI_TASK_TELLING));
	TQI_SET(tx, t->next, 0u);
	if (root->telling.first)
		TQI_SET(tx, tqi_task_at(tx, root->telling.last)->next, task);
	else
		TQI_SET(tx, root->telling.first, task);
	TQI_SET(tx, root->telling.last, task);
}

void tqi_edge_enlist(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_task *t = tqi_task_at(tx, task);

	if (t->flags & TQI_TASK_TELLING) {
		TQI_SET(tx, tqi_task_extra(tx, t)->again, 1);
		return;
	}
	TQI_SET(tx, t->prev, 0u);
	tqi_edge_append(tx, task);
}
