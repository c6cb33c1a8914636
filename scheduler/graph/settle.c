/* SPDX-License-Identifier: MIT */
/* Records of ended tasks. */
#include "scheduler/graph/settle.h"

#include "scheduler/graph/after.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/graph/key.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/fair.h"
#include "scheduler/order/state.h"
#include "scheduler/record/history.h"
#include "scheduler/record/task_record.h"
#include "scheduler/wake/wake.h"

void tqi_task_give_blocks(struct tqi_tx *tx, struct tqi_task *task)
{
	tqi_task_give_block(tx, &task->result);
	tqi_task_give_block(tx, &task->error);
	tqi_history_give(tx, task);
	tqi_task_give_block(tx, &task->kept);
}

void tqi_task_free(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	if (task->flags & TQI_TASK_LISTED)
		tqi_task_unlist(tx, index);
	if (task->flags & TQI_TASK_EXTRA) {
		tqi_inherit_forgotten(tx, index);
		tqi_key_forgotten(tx, index);
		tqi_limits_leave(tx, tqi_task_extra(tx, task)->limits);
		tqi_tenant_leave(tx, tqi_tenant_of(tx, task));
	}
	if (task->state != TQ_FREE) /* it ended so */
		tqi_task_move(tx, index, TQ_FREE);
	if (task->flags & TQI_TASK_EXTRA)
		tqi_member_leave(tx, index);
	tqi_task_give(tx, index, task);
}

void tqi_task_settle(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if ((task->pins && !TQI_PLANTED(no_pins)) || (task->flags & TQI_TASK_TELLING))
		return;
	if ((task->flags & TQI_TASK_FORGET) && tqi_after_has_any(tx, task))
		tqi_edge_enlist(tx, index); /* freed when it has given them up */
	else if (task->flags & TQI_TASK_FORGET)
		tqi_task_free(tx, index);
	else if (!(task->flags & (TQI_TASK_KEEP | TQI_TASK_LISTED)))
		tqi_task_list(tx, index);
}
