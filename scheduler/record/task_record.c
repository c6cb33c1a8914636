/* SPDX-License-Identifier: MIT */
/* The finished list. */
#include "scheduler/record/task_record.h"

void tqi_task_unlist(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_root *root = tqi_root(tx);

	if (!(task->flags & TQI_TASK_LISTED))
		return;
	if (task->prev)
		TQI_SET(tx, tqi_task_at(tx, task->prev)->next, task->next);
	else
		TQI_SET(tx, root->finished_oldest, task->next);
	if (task->next)
		TQI_SET(tx, tqi_task_at(tx, task->next)->prev, task->prev);
	else
		TQI_SET(tx, root->finished_newest, task->prev);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags & ~TQI_TASK_LISTED));
	TQI_ADD(tx, root->finished_count, -1);
}

void tqi_task_list(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_root *root = tqi_root(tx);
	uint32_t newest = root->finished_newest;

	TQI_SET(tx, task->prev, newest);
	TQI_SET(tx, task->next, 0u);
	if (newest)
		TQI_SET(tx, tqi_task_at(tx, newest)->next, index);
	else
		TQI_SET(tx, root->finished_oldest, index);
	TQI_SET(tx, root->finished_newest, index);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_LISTED));
	TQI_ADD(tx, root->finished_count, 1);
}
