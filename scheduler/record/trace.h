/* SPDX-License-Identifier: MIT */
/*
 * The flight recorder (H5): what is written into the ring of shm/ring.h, with the
 * transition itself, so that a trace shows what became so and nothing else.
 */
#ifndef TQI_SCHEDULER_RECORD_TRACE_H
#define TQI_SCHEDULER_RECORD_TRACE_H

#include "scheduler/record/records.h"
#include "shm/ring.h"
#include "taskq/trace.h"

/*
 * One entry.  Written by the transaction that it tells of, under the lock, before it
 * counts; read by observers once it does.
 */
struct tqi_trace_entry {
	uint64_t time_ns;
	uint64_t task; /* id */
	uint32_t pid;  /* of the process that did it */
	uint32_t worker; /* record; 0 none is concerned; of AFTER the other task's id, low half */
	uint8_t event;	 /* enum tq_trace_event */
	uint8_t from;	 /* enum tq_state */
	uint8_t to;
	uint8_t cause; /* enum tq_cause */
	int32_t argument; /* of AFTER the high half */
};
_Static_assert(sizeof(struct tqi_trace_entry) == TQI_RING_ENTRY_BYTES, "half a cache line");

/* The next entry, with what all have; NULL: nothing is recorded. */
static inline struct tqi_trace_entry *tqi_trace_begin(struct tqi_tx *tx, enum tq_trace_event event,
						      uint64_t task)
{
	struct tqi_trace_entry *entry = tqi_ring_next(tx);

	if (!entry)
		return NULL;
	entry->time_ns = tx->now_ns;
	entry->task = task;
	entry->pid = tqi_load_relaxed32(&tx->core->holder_pid);
	entry->event = (uint8_t)event;
	return entry;
}

/* A transition: from which state, by way of which one that is in no gauge, to which. */
struct tqi_pass {
	uint32_t from;
	uint32_t through;
	uint32_t to;
	uint32_t worker; /* of a start */
	uint32_t cause; /* of an end */
	int32_t cause_arg;
};

/*
 * A task is about to make one: of a start the worker and the attempt's number are recorded,
 * of an end its cause.  True: it is written, and counts once the caller has moved the head
 * (RG-1).
 */
TQI_TWICE bool tqi_trace_move(struct tqi_tx *tx, uint32_t index, const struct tqi_task *task,
			      const struct tqi_pass *pass)
{
	const uint32_t from = pass->from, to = pass->through;
	struct tqi_trace_entry *entry =
		tqi_trace_begin(tx, TQ_TRACE_MOVE, tqi_id_make(index, task->generation));

	if (!entry)
		return false;
	const bool starts = to == TQ_RUNNING;
	const bool ends = from == TQ_RUNNING || tqi_state_is_final(to);

	entry->from = (uint8_t)from;
	entry->to = (uint8_t)to;
	entry->cause = ends ? (uint8_t)pass->cause : TQ_CAUSE_NONE;
	entry->argument = starts ? (int32_t)task->attempts : ends ? pass->cause_arg : 0;
	entry->worker = starts ? pass->worker : 0;
	return true;
}
static inline bool tqi_trace_is_on(const struct tqi_tx *tx)
{
	return tx->seg->geometry.ring_slots != 0;
}
/* Something happens to an attempt. */
void tqi_trace_attempt(struct tqi_tx *tx, const struct tqi_attempt *attempt,
		       enum tq_trace_event event, uint32_t cause, int32_t argument);
/* A task need not wait for another one any more, which has ended. */
void tqi_trace_after(struct tqi_tx *tx, uint32_t index, uint32_t other);
/* Which one that is. */
static inline uint64_t tqi_trace_other(const struct tqi_trace_entry *entry)
{
	return entry->event == TQ_TRACE_AFTER
		       ? (uint64_t)(uint32_t)entry->argument << 32 | entry->worker
		       : 0;
}
/* A worker takes a task from another one's list. */
void tqi_trace_steal(struct tqi_tx *tx, uint32_t index, uint32_t thief, uint32_t owner);

#endif
