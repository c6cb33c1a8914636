/* SPDX-License-Identifier: MIT */
/* Delays that are over, deadlines, time-outs, appointments. */
#include "scheduler/task/due_run.h"

#include "scheduler/limit/limit.h"
#include "scheduler/order/ready.h"
#include "scheduler/task/task.h"
#include "scheduler/time/due.h"
#include "scheduler/time/wall.h"
#include "scheduler/worker/stop.h"

static void run_attempt(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	bool stalled = task->progress_timeout_ns != UINT64_MAX &&
		       tqi_due_of_stall(tx, task) <= tx->now_ns;

	tqi_task_touch(tx, task);
	tqi_due_mark_late(tx, task); /* it goes on all the same */
	if (stalled)
		TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_STALLED));
	if (!stalled && tqi_due_of_timeout(task) > tx->now_ns) {
		tqi_due_set(tx, index, tqi_due_of(tx, task)); /* it has made progress */
		return;
	}
	tqi_due_set(tx, index, tqi_due_of_deadline(tx, task));
	tqi_stop_ask(tx, task->attempt, TQ_CAUSE_TIMEOUT);
}

/* Its delay is over, or its last time to start has passed while it waited. */
static void run_waiting(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (tqi_task_is_over(tx, task)) {
		tqi_task_end_over(tx, index);
		return;
	}
	tqi_due_set(tx, index, tqi_task_last_start(tx, task));
	tqi_task_move(tx, index, TQ_READY);
	tqi_ready_enter(tx, index, false);
}

bool tqi_due_run(struct tqi_tx *tx, uint32_t count)
{
	const struct tqi_heap *due = &tqi_root(tx)->time.due;

	if (!tqi_limits_refill(tx))
		return true;
	while (due->length && (uint64_t)due->root.key <= tx->now_ns && !tx->corrupt) {
		uint32_t index = tqi_tag_index(due->root.tag);
		const struct tqi_task *task = tqi_task_at(tx, index);

		if (count-- == 0 || tqi_tx_is_filling(tx))
			return true;
		if (task->state == TQ_RUNNING)
			run_attempt(tx, index);
		else if (task->state == TQ_DELAYED || tqi_task_last_start(tx, task) <= tx->now_ns)
			run_waiting(tx, index);
		else
			tx->corrupt = true; /* RC-4 */
	}
	return false;
}

/* Its time has come; it may have been cancelled, or outlived its deadline, before. */
static void keep_appointment(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	if (tqi_task_is_over(tx, task)) {
		tqi_task_end_over(tx, index);
		return;
	}
	tqi_wall_leave(tx, index);
	tqi_task_move(tx, index, TQ_READY);
	TQI_SET(tx, task->due_ns, 0u); /* it waits for it no more, whatever else it may wait for */
	tqi_ready_enter(tx, index, false);
}

bool tqi_wall_run(struct tqi_tx *tx, uint32_t count)
{
	while (tqi_wall_is_due(tx) && !tx->corrupt) {
		if (count-- == 0 || tqi_tx_is_filling(tx))
			return true;
		keep_appointment(tx, tqi_tag_index(tqi_root(tx)->time.wall.root.tag));
	}
	return false;
}
