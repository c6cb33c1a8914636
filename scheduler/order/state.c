/* SPDX-License-Identifier: MIT */
/* Transitions. */
#include "scheduler/order/state.h"

#include "scheduler/order/queue.h"
#include "scheduler/record/task_record.h"
#include "scheduler/record/trace.h"
#include "scheduler/wake/wake.h"

#define NOTIFY_WAKES 32	 /* sleepers woken for one change of state ... */
#define NOTIFY_LOOKS 256 /* ... among so many edges */

#define TO(state) (1u << (state))
#define FINAL_BUT_DONE (TO(TQ_FAILED) | TO(TQ_CANCELLED) | TO(TQ_EXPIRED))
#define WAITING (TO(TQ_BLOCKED) | TO(TQ_DELAYED) | TO(TQ_READY))

static const uint16_t legal[TQ_STATE_COUNT] = {
	[TQ_FREE] = WAITING,
	[TQ_BLOCKED] = TO(TQ_FREE) | /* a shut one */ TO(TQ_DELAYED) | TO(TQ_READY) |
		       TO(TQ_CANCELLED) | TO(TQ_EXPIRED),
	[TQ_DELAYED] = TO(TQ_BLOCKED) | TO(TQ_READY) | TO(TQ_DELAYED) | TO(TQ_CANCELLED) |
		       TO(TQ_EXPIRED),
	[TQ_READY] = TO(TQ_BLOCKED) | TO(TQ_DELAYED) | TO(TQ_RUNNING) | TO(TQ_CANCELLED) |
		     TO(TQ_EXPIRED),
	[TQ_RUNNING] = TO(TQ_DELAYED) | TO(TQ_READY) | TO(TQ_DONE) | FINAL_BUT_DONE,
	[TQ_DONE] = TO(TQ_FREE),
	[TQ_FAILED] = TO(TQ_FREE) | WAITING, /* retry: a new life */
	[TQ_CANCELLED] = TO(TQ_FREE) | WAITING,
	[TQ_EXPIRED] = TO(TQ_FREE) | WAITING,
};

bool tqi_transition_is_legal(uint32_t from, uint32_t to)
{
	return from < TQ_STATE_COUNT && to < TQ_STATE_COUNT && (legal[from] & TO(to));
}

static inline bool is_waiting(uint32_t state)
{
	return WAITING & TO(state);
}

TQI_TWICE void count_queue(struct tqi_tx *tx, const struct tqi_task *task, uint32_t from,
			   uint32_t to)
{
	struct tqi_queue *queue = tqi_queue_at(tx, task->queue);

	if (is_waiting(from) == is_waiting(to))
		return;
	if (is_waiting(to))
		TQI_ADD(tx, queue->waiting, 1);
	else if (task->wait_sequence >= queue->purge_before)
		TQI_ADD(tx, queue->waiting, -1); /* a purge has set it to 0 for the others */
	if (is_waiting(from) && queue->depth_max != UINT64_MAX)
		tqi_wake_room(tx);
}

/* In its group (GR-2). */
static void count_group(struct tqi_tx *tx, const struct tqi_extra *extra, uint32_t from,
			uint32_t to)
{
	struct tqi_group *g = tqi_group_at(tx, extra->group);

	if (extra->counted)
		return;
	if (from != TQ_FREE)
		TQI_ADD(tx, g->states[extra->shut ? TQ_FREE : from], -1);
	if (to != TQ_FREE)
		TQI_ADD(tx, g->states[extra->shut ? TQ_FREE : to], 1);
}

/* Depths of its class, and of its group; those of shut ones in that of free ones. */
TQI_TWICE void count_gauges(struct tqi_tx *tx, const struct tqi_task *task, struct tqi_class *class,
			    uint32_t from, uint32_t to, bool rare)
{
	const struct tqi_extra *extra =
		rare && (task->flags & TQI_TASK_EXTRA) ? tqi_task_extra(tx, task) : NULL;
	bool shut = extra && extra->shut;
	uint32_t out = shut ? TQ_FREE : from, in = shut ? TQ_FREE : to;

	if (from != TQ_FREE && to != TQ_FREE)
		TQI_SETS(tx, class, (depth[out], class->depth[out] - 1),
			 (depth[in], class->depth[in] + 1));
	else if (from != TQ_FREE)
		TQI_ADD(tx, class->depth[out], -1);
	else if (to != TQ_FREE)
		TQI_ADD(tx, class->depth[in], 1);
	if (extra && extra->group)
		count_group(tx, extra, from, to);
}

/* Those who wait for it by a slot. */
static void notify(struct tqi_tx *tx, uint32_t task, uint32_t state)
{
	uint32_t e = tqi_task_at(tx, task)->edges, woken = 0;

	for (uint32_t i = 0; i < NOTIFY_LOOKS && woken < NOTIFY_WAKES && e && !tx->corrupt; i++) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);

		if (!edge->kind && (tqi_waiter_at(tx, edge->waiter)->subject >> state & 1)) {
			tqi_tx_wake(tx, edge->waiter);
			woken++;
		}
		e = edge->next;
	}
}

/* `from` is the task's state: a constant where all three are. */
TQI_TWICE void pass(struct tqi_tx *tx, uint32_t index, struct tqi_task *task, uint32_t from,
		    uint32_t through, uint32_t to, bool rare)
{
	struct tqi_class *class = tqi_counters_of(tx, task);

	if (rare ? !tqi_transition_is_legal(from, through) : task->state != from) {
		tx->corrupt = true;
		return;
	}
	tqi_task_touch(tx, task);
	if (is_waiting(to) && !is_waiting(from) && from != TQ_FREE) /* a new one has it already */
		TQI_SET(tx, task->wait_sequence, tqi_root(tx)->sequence);
	count_queue(tx, task, from, to);
	count_gauges(tx, task, class, from, to, rare);
	if (through != TQ_FREE && tqi_trace_is_on(tx))
		tqi_trace_move(tx, index, task, from, through);
	if (from == TQ_RUNNING)
		TQI_ADD(tx, tqi_root(tx)->running, -1);
	if (to == TQ_RUNNING)
		TQI_ADD(tx, tqi_root(tx)->running, 1);
	if (TQI_PLANTED(no_entry))
		task->state = (uint8_t)to;
	else
		TQI_SET(tx, task->state, (uint8_t)to);
	if (rare && task->edges && !tqi_state_is_final(to))
		notify(tx, index, to);
}

void tqi_task_pass(struct tqi_tx *tx, uint32_t index, uint32_t through, uint32_t to)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	pass(tx, index, task, task->state, through, to, true);
}

void tqi_task_came(struct tqi_tx *tx, uint32_t index)
{
	pass(tx, index, tqi_task_at(tx, index), TQ_FREE, TQ_READY, TQ_READY, false);
}

void tqi_task_started(struct tqi_tx *tx, uint32_t index)
{
	pass(tx, index, tqi_task_at(tx, index), TQ_READY, TQ_RUNNING, TQ_RUNNING, false);
}

void tqi_task_went(struct tqi_tx *tx, uint32_t index)
{
	pass(tx, index, tqi_task_at(tx, index), TQ_RUNNING, TQ_DONE, TQ_FREE, false);
}

void tqi_task_move(struct tqi_tx *tx, uint32_t index, uint32_t to)
{
	tqi_task_pass(tx, index, to, to);
}
