/* SPDX-License-Identifier: MIT */
/* Transitions. */
#include "scheduler/order/state.h"

#include "scheduler/record/stream.h"
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
	[TQ_DELAYED] = TO(TQ_BLOCKED) | TO(TQ_READY) | TO(TQ_DELAYED) | FINAL_BUT_DONE,
	[TQ_READY] = TO(TQ_BLOCKED) | TO(TQ_DELAYED) | TO(TQ_RUNNING) | FINAL_BUT_DONE,
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

/* Between two states that are shown: depths, and what begins or ends by that. */
TQI_TWICE void count_change(struct tqi_tx *tx, struct tqi_stream *stream, uint32_t from,
			    uint32_t to)
{
	if (to == TQ_RUNNING)
		TQI_SETS(tx, stream, (depth[from], stream->depth[from] - 1),
			 (depth[TQ_RUNNING], stream->depth[TQ_RUNNING] + 1),
			 (started, stream->started + 1));
	else if (tqi_state_is_final(to))
		TQI_SETS(tx, stream, (depth[from], stream->depth[from] - 1),
			 (depth[to], stream->depth[to] + 1),
			 (ended[to - TQ_DONE], stream->ended[to - TQ_DONE] + 1));
	else
		TQI_SETS(tx, stream, (depth[from], stream->depth[from] - 1),
			 (depth[to], stream->depth[to] + 1));
}

/* Of its stream; shut ones count in the depth of free ones, and are not submitted yet. */
TQI_TWICE void count_stream(struct tqi_tx *tx, struct tqi_stream *stream, bool shut, uint32_t from,
			    uint32_t through, uint32_t to)
{
	if (shut && from != to)
		TQI_ADD(tx, stream->depth[TQ_FREE], (from == TQ_FREE) - (to == TQ_FREE));
	else if (from == TQ_FREE)
		TQI_SETS(tx, stream, (depth[to], stream->depth[to] + 1),
			 (submitted, stream->submitted + 1));
	else if (to != TQ_FREE)
		count_change(tx, stream, from, to);
	else if (tqi_state_is_final(through))
		TQI_SETS(tx, stream, (depth[from], stream->depth[from] - 1),
			 (ended[through - TQ_DONE], stream->ended[through - TQ_DONE] + 1));
	else
		TQI_ADD(tx, stream->depth[from], -1);
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
TQI_TWICE struct tqi_stream *pass(struct tqi_tx *tx, uint32_t index, struct tqi_task *task,
				  uint32_t from, uint32_t through, uint32_t to, bool rare)
{
	const struct tqi_extra *extra =
		rare && (task->flags & TQI_TASK_EXTRA) ? tqi_task_extra(tx, task) : NULL;
	struct tqi_stream *stream = tqi_stream_of(tx, task);

	if (rare ? !tqi_transition_is_legal(from, through) : task->state != from) {
		tx->corrupt = true;
		return stream;
	}
	tqi_task_touch(tx, task);
	if (is_waiting(to) && !is_waiting(from) && from != TQ_FREE) /* a new one has it already */
		TQI_SET(tx, task->wait_sequence, tqi_root(tx)->sequence);
	count_queue(tx, task, from, to);
	count_stream(tx, stream, extra && extra->shut, from, through, to);
	if (extra && extra->group)
		count_group(tx, extra, from, to);
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
	return stream;
}

struct tqi_stream *tqi_task_pass(struct tqi_tx *tx, uint32_t index, uint32_t through, uint32_t to)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	return pass(tx, index, task, task->state, through, to, true);
}

void tqi_task_came(struct tqi_tx *tx, uint32_t index)
{
	pass(tx, index, tqi_task_at(tx, index), TQ_FREE, TQ_READY, TQ_READY, false);
}

struct tqi_stream *tqi_task_started(struct tqi_tx *tx, uint32_t index)
{
	return pass(tx, index, tqi_task_at(tx, index), TQ_READY, TQ_RUNNING, TQ_RUNNING, false);
}

struct tqi_stream *tqi_task_went(struct tqi_tx *tx, uint32_t index)
{
	return pass(tx, index, tqi_task_at(tx, index), TQ_RUNNING, TQ_DONE, TQ_FREE, false);
}

struct tqi_stream *tqi_task_move(struct tqi_tx *tx, uint32_t index, uint32_t to)
{
	return tqi_task_pass(tx, index, to, to);
}
