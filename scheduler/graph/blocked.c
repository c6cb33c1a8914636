/* SPDX-License-Identifier: MIT */
/* Blocked tasks. */
#include "scheduler/graph/blocked.h"

#include "scheduler/time/due.h"
#include "scheduler/graph/key.h"
#include "scheduler/order/ready.h"
#include "scheduler/order/state.h"
#include "scheduler/record/task_record.h"
#include "scheduler/time/wall.h"

void tqi_task_unqueue(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	tqi_due_set(tx, index, UINT64_MAX);
	tqi_wall_leave(tx, index);
	if (task->state == TQ_READY)
		tqi_ready_leave(tx, index);
}

void tqi_task_block(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	TQI_ADD(tx, tqi_task_extra(tx, task)->unmet, 1);
	if (task->state == TQ_BLOCKED)
		return;
	tqi_task_unqueue(tx, index);
	tqi_task_move(tx, index, TQ_BLOCKED);
	tqi_due_set(tx, index, tqi_due_of(tx, task));
}

/* On to where it would have begun. */
static void go_on(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);
	bool at = task->due_ns == UINT64_MAX, later = at || task->due_ns > tx->now_ns;

	tqi_task_move(tx, index, later ? TQ_DELAYED : TQ_READY);
	if (!later)
		tqi_ready_enter(tx, index, false);
	if (at)
		tqi_wall_enter(tx, index); /* it may be due already */
	tqi_due_set(tx, index, tqi_due_of(tx, task));
}

void tqi_task_unblock(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_extra *extra = tqi_task_extra(tx, task);

	if (task->state != TQ_BLOCKED || extra->unmet == 0) {
		tx->corrupt = true; /* RC-11 */
		return;
	}
	TQI_ADD(tx, extra->unmet, -1);
	if (extra->unmet == 0 && !tqi_key_has_leader(tx, task))
		go_on(tx, index);
}

void tqi_blocked_turn(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (tqi_task_extra(tx, task)->unmet == 0)
		go_on(tx, index);
}

void tqi_blocked_ended(struct tqi_tx *tx, const struct tqi_task *task)
{
	struct tqi_extra *extra = tqi_task_extra(tx, task);

	if (extra->unmet)
		TQI_SET(tx, extra->unmet, 0u);
}
