/* SPDX-License-Identifier: MIT */
/* The due heap. */
#include "scheduler/due.h"

#include "scheduler/ready.h"
#include "scheduler/stop.h"
#include "scheduler/task.h"

uint64_t tqi_due_next(struct tqi_tx *tx)
{
	const struct tqi_heap *due = &tqi_root(tx)->due;

	return due->length ? (uint64_t)due->root.key : UINT64_MAX;
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

static void run_attempt(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	bool stalled = task->progress_timeout_ns != UINT64_MAX && stall_at(tx, task) <= tx->now_ns;

	tqi_task_touch(tx, task);
	if (stalled)
		TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_STALLED));
	if (!stalled && timeout_at(task) > tx->now_ns) {
		tqi_due_set(tx, index, tqi_due_of_attempt(tx, task)); /* it has made progress */
		return;
	}
	tqi_due_set(tx, index, UINT64_MAX);
	tqi_stop_ask(tx, task->attempt, TQ_CAUSE_TIMEOUT);
}

static void run_delayed(struct tqi_tx *tx, uint32_t index)
{
	tqi_due_set(tx, index, UINT64_MAX);
	if (tqi_task_is_condemned(tx, tqi_task_at(tx, index))) {
		tqi_task_cancel_waiting(tx, index);
		return;
	}
	tqi_task_move(tx, index, TQ_READY);
	tqi_ready_enter(tx, index, false);
}

bool tqi_due_run(struct tqi_tx *tx, uint32_t count)
{
	while (tqi_due_next(tx) <= tx->now_ns && !tx->corrupt) {
		uint32_t index = tqi_tag_index(tqi_root(tx)->due.root.tag);
		uint32_t state = tqi_task_at(tx, index)->state;

		if (count-- == 0 || tqi_tx_is_filling(tx))
			return true;
		if (state == TQ_RUNNING)
			run_attempt(tx, index);
		else if (state == TQ_DELAYED)
			run_delayed(tx, index);
		else
			tx->corrupt = true; /* R4 */
	}
	return false;
}
