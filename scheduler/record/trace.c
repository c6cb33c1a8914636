/* SPDX-License-Identifier: MIT */
/* Entries of the flight recorder. */
#include "scheduler/record/trace.h"

#include "scheduler/record/task_record.h"
#include "shm/ring.h"

void tqi_trace_attempt(struct tqi_tx *tx, const struct tqi_attempt *attempt,
		       enum tq_trace_event event, uint32_t cause, int32_t argument)
{
	struct tqi_trace_entry *entry = tqi_trace_begin(tx, event, attempt->id);

	if (!entry)
		return;
	entry->from = entry->to = TQ_RUNNING;
	entry->cause = (uint8_t)cause;
	entry->argument = argument;
	entry->worker = attempt->worker;
	tqi_ring_push(tx);
}

void tqi_trace_steal(struct tqi_tx *tx, uint32_t index, uint32_t thief, uint32_t owner)
{
	struct tqi_trace_entry *entry = tqi_trace_begin(
		tx, TQ_TRACE_STEAL, tqi_id_make(index, tqi_task_at(tx, index)->generation));

	if (!entry)
		return;
	entry->from = entry->to = TQ_READY;
	entry->cause = TQ_CAUSE_NONE;
	entry->argument = (int32_t)owner;
	entry->worker = thief;
	tqi_ring_push(tx);
}

void tqi_trace_after(struct tqi_tx *tx, uint32_t index, uint32_t other)
{
	const struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_trace_entry *entry =
		tqi_trace_begin(tx, TQ_TRACE_AFTER, tqi_id_make(index, task->generation));

	if (!entry)
		return;
	const uint64_t id = tqi_id_make(other, tqi_task_at(tx, other)->generation);

	entry->from = entry->to = task->state;
	entry->cause = TQ_CAUSE_NONE;
	entry->worker = (uint32_t)id;
	entry->argument = (int32_t)(id >> 32);
	tqi_ring_push(tx);
}
