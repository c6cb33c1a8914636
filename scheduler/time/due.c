/* SPDX-License-Identifier: MIT */
/* The due heap. */
#include "scheduler/time/due.h"

#include "scheduler/limit/limit.h"
#include "scheduler/record/task_record.h"

uint64_t tqi_due_next(struct tqi_tx *tx)
{
	const struct tqi_heap *due = &tqi_root(tx)->time.due;
	uint64_t refill = tqi_bucket_due(tx);

	return due->length && (uint64_t)due->root.key < refill ? (uint64_t)due->root.key : refill;
}

void tqi_due_move(struct tqi_tx *tx, uint32_t index, struct tqi_task *task, uint64_t when_ns)
{
	struct tqi_heap *due = &tqi_root(tx)->time.due;
	bool present = task->flags & TQI_TASK_DUE, wanted = when_ns <= INT64_MAX;
	struct tqi_heap_entry entry = { (int64_t)when_ns, tqi_tag(task->sequence, index) };

	tqi_heap_follow(tx, due, TQI_FAMILY_DUE, entry, present, wanted);
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

uint64_t tqi_due_of_stall(struct tqi_tx *tx, const struct tqi_task *task)
{
	const struct tqi_attempt *attempt = tqi_attempt_at(tx, task->attempt);
	uint64_t last = attempt->started_ns;

	if (tqi_load_acquire32(&attempt->progress_index) &&
	    tqi_load_relaxed64(&attempt->progress_ns) > last)
		last = tqi_load_relaxed64(&attempt->progress_ns);
	return add(last, task->progress_timeout_ns);
}

uint64_t tqi_due_of_timeout(const struct tqi_task *task)
{
	return least(add(task->started_ns, task->timeout_ns),
		     add(task->first_started_ns, task->timeout_total_ns));
}

uint64_t tqi_due_of_attempt(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint64_t when = tqi_due_of_timeout(task);

	if (task->progress_timeout_ns != UINT64_MAX)
		when = least(when, tqi_due_of_stall(tx, task));
	return when;
}

uint64_t tqi_due_of_deadline(struct tqi_tx *tx, const struct tqi_task *task)
{
	return task->flags & TQI_TASK_LATE ? UINT64_MAX : tqi_task_deadline(tx, task);
}

uint64_t tqi_due_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint64_t over = least(tqi_due_of_deadline(tx, task), tqi_task_total_end(task));

	if (tqi_state_is_final(task->state))
		return UINT64_MAX;
	if (task->state == TQ_DELAYED)
		return least(task->due_ns, over);
	return task->state == TQ_RUNNING ? least(tqi_due_of_attempt(tx, task), over) : over;
}

void tqi_due_mark_late(struct tqi_tx *tx, struct tqi_task *task)
{
	if (tqi_due_of_deadline(tx, task) <= tx->now_ns)
		TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_LATE));
}
