/* SPDX-License-Identifier: MIT */
/* The due heap. */
#include "scheduler/time/due.h"

#include "scheduler/limit/limit.h"
#include "scheduler/order/ready.h"
#include "scheduler/worker/stop.h"
#include "scheduler/task/task.h"

uint64_t tqi_due_next(struct tqi_tx *tx)
{
	const struct tqi_heap *due = &tqi_root(tx)->due;
	uint64_t refill = tqi_bucket_due(tx);

	return due->length && (uint64_t)due->root.key < refill ? (uint64_t)due->root.key : refill;
}

void tqi_due_set(struct tqi_tx *tx, uint32_t index, uint64_t when_ns)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_heap *due = &tqi_root(tx)->due;
	bool present = task->flags & TQI_TASK_DUE, wanted = when_ns <= INT64_MAX;

	if (!wanted && !present)
		return;
	struct tqi_heap_entry entry = { (int64_t)when_ns, tqi_tag(task->sequence, index) };

	if (wanted && present)
		tqi_heap_rekey(tx, due, TQI_FAMILY_DUE, index, entry);
	else if (wanted)
		tqi_heap_push(tx, due, TQI_FAMILY_DUE, entry);
	else if (present)
		tqi_heap_remove(tx, due, TQI_FAMILY_DUE, index);
	if (wanted != present)
		TQI_SET(tx, task->flags, (uint16_t)(task->flags ^ TQI_TASK_DUE));
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t stall_at(struct tqi_tx *tx, const struct tqi_task *task)
{
	const struct tqi_attempt *attempt = tqi_attempt_at(tx, task->attempt);
	uint64_t last = tqi_load_relaxed64(&attempt->progress_ns);

	if (last < attempt->started_ns)
		last = attempt->started_ns;
	return add(last, task->progress_timeout_ns);
}

static uint64_t timeout_at(const struct tqi_task *task)
{
	return least(add(task->started_ns, task->timeout_ns),
		     add(task->first_started_ns, task->timeout_total_ns));
}

uint64_t tqi_due_of_attempt(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint64_t when = timeout_at(task);

	if (task->progress_timeout_ns != UINT64_MAX)
		when = least(when, stall_at(tx, task));
	return when;
}

/* The deadline, while it has not been noticed to have passed. */
static uint64_t deadline_to_watch(struct tqi_tx *tx, const struct tqi_task *task)
{
	return task->flags & TQI_TASK_LATE ? UINT64_MAX : tqi_task_deadline(tx, task);
}

uint64_t tqi_due_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint64_t deadline = deadline_to_watch(tx, task);

	if (tqi_state_is_final(task->state))
		return UINT64_MAX;
	if (task->state == TQ_DELAYED)
		return least(task->due_ns, deadline);
	return task->state == TQ_RUNNING ? least(tqi_due_of_attempt(tx, task), deadline) : deadline;
}

void tqi_due_mark_late(struct tqi_tx *tx, struct tqi_task *task)
{
	if (deadline_to_watch(tx, task) <= tx->now_ns)
		TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_LATE));
}

static void run_attempt(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	bool stalled = task->progress_timeout_ns != UINT64_MAX && stall_at(tx, task) <= tx->now_ns;

	tqi_task_touch(tx, task);
	tqi_due_mark_late(tx, task); /* it goes on all the same */
	if (stalled)
		TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_STALLED));
	if (!stalled && timeout_at(task) > tx->now_ns) {
		tqi_due_set(tx, index, tqi_due_of(tx, task)); /* it has made progress */
		return;
	}
	tqi_due_set(tx, index, deadline_to_watch(tx, task));
	tqi_stop_ask(tx, task->attempt, TQ_CAUSE_TIMEOUT);
}

/* Its delay is over, or its deadline has come while it waited. */
static void run_waiting(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (tqi_task_is_over(tx, task)) {
		tqi_task_end_over(tx, index);
		return;
	}
	tqi_due_set(tx, index, tqi_task_deadline(tx, task));
	tqi_task_move(tx, index, TQ_READY);
	tqi_ready_enter(tx, index, false);
}

bool tqi_due_run(struct tqi_tx *tx, uint32_t count)
{
	const struct tqi_heap *due = &tqi_root(tx)->due;

	if (!tqi_limits_refill(tx))
		return true;
	while (due->length && (uint64_t)due->root.key <= tx->now_ns && !tx->corrupt) {
		uint32_t index = tqi_tag_index(due->root.tag);
		const struct tqi_task *task = tqi_task_at(tx, index);

		if (count-- == 0 || tqi_tx_is_filling(tx))
			return true;
		if (task->state == TQ_RUNNING)
			run_attempt(tx, index);
		else if (task->state == TQ_DELAYED || tqi_task_deadline(tx, task) <= tx->now_ns)
			run_waiting(tx, index);
		else
			tx->corrupt = true; /* R4 */
	}
	return false;
}
