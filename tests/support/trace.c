/* SPDX-License-Identifier: MIT */
/* The recorder against the records. */
#include "tests/support/trace.h"

#include "scheduler/record/trace.h"
#include "shm/ring.h"

static const struct tqi_trace_entry *entry_at(const struct tqi_tx *tx, uint64_t number)
{
	const struct tqi_geometry *g = &tx->seg->geometry;

	return (const struct tqi_trace_entry *)(const void *)(tx->base + g->ring) +
	       (number - 1) % g->ring_slots;
}

static bool is_last_of(const struct tqi_tx *tx, uint64_t number)
{
	const struct tqi_trace_entry *e = entry_at(tx, number);

	if (e->event != TQ_TRACE_MOVE)
		return false;
	for (uint64_t n = number + 1; n <= tx->core->ring_head; n++)
		if (entry_at(tx, n)->event == TQ_TRACE_MOVE && entry_at(tx, n)->task == e->task)
			return false;
	return true;
}

/* One that has been freed since has no entry of that. */
static bool is_state_of(struct tqi_tx *tx, const struct tqi_trace_entry *e)
{
	const uint32_t index = tqi_id_index(e->task);

	if (index == 0 || index >= tx->core->tables[TQI_TASKS].count)
		return false;
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (task->generation != tqi_id_generation(e->task))
		return task->generation > tqi_id_generation(e->task);
	return task->state == e->to;
}

uint64_t tqt_trace_differs(struct tqi_tx *tx)
{
	const uint64_t head = tx->core->ring_head;
	const uint64_t promised = tx->seg->geometry.ring_slots - TQI_RING_SLACK;

	for (uint64_t n = head; n > 0 && n + promised > head; n--)
		if (is_last_of(tx, n) && !is_state_of(tx, entry_at(tx, n)))
			return entry_at(tx, n)->task;
	return 0;
}
