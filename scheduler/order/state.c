/* SPDX-License-Identifier: MIT */
/* Transitions. */
#include "scheduler/order/pass.h"

#define NOTIFY_WAKES 32	 /* sleepers woken for one change of state ... */
#define NOTIFY_LOOKS 256 /* ... among so many edges */

#define TO(state) TQI_TO(state)
#define FINAL_BUT_DONE (TO(TQ_FAILED) | TO(TQ_CANCELLED) | TO(TQ_EXPIRED))
#define WAITING TQI_STATES_WAITING

static const uint16_t legal[TQ_STATE_COUNT] = {
	[TQ_FREE] = WAITING,
	[TQ_BLOCKED] = TO(TQ_FREE) | /* a shut one */ TO(TQ_DELAYED) | TO(TQ_READY) |
		       TO(TQ_CANCELLED) | TO(TQ_EXPIRED),
	[TQ_DELAYED] = TO(TQ_BLOCKED) | TO(TQ_READY) | TO(TQ_DELAYED) | FINAL_BUT_DONE,
	[TQ_READY] = TO(TQ_BLOCKED) | TO(TQ_DELAYED) | TO(TQ_RUNNING) | FINAL_BUT_DONE,
	[TQ_RUNNING] = TO(TQ_DELAYED) | TO(TQ_READY) | TO(TQ_DONE) | FINAL_BUT_DONE,
	[TQ_DONE] = TO(TQ_FREE) | WAITING, /* retry: a new life */
	[TQ_FAILED] = TO(TQ_FREE) | WAITING,
	[TQ_CANCELLED] = TO(TQ_FREE) | WAITING,
	[TQ_EXPIRED] = TO(TQ_FREE) | WAITING,
};

bool tqi_transition_is_legal(uint32_t from, uint32_t to)
{
	return from < TQ_STATE_COUNT && to < TQ_STATE_COUNT && (legal[from] & TO(to));
}

/* In its group (GR-2). */
void tqi_state_count_group(struct tqi_tx *tx, const struct tqi_extra *extra, uint32_t from,
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

/* Those who wait for it by a slot. */
void tqi_state_notify(struct tqi_tx *tx, uint32_t task, uint32_t state)
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

struct tqi_stream *tqi_task_pass(struct tqi_tx *tx, uint32_t index, const struct tqi_pass *pass)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_stream *stream = tqi_stream_of(tx, task);

	tqi_task_touch(tx, task);
	tqi_pass(tx, index, task, tqi_queue_at(tx, task->queue), stream, NULL, pass, true);
	return stream;
}

struct tqi_stream *tqi_task_move(struct tqi_tx *tx, uint32_t index, uint32_t to)
{
	const struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_pass pass = {
		.from = task->state,
		.through = to,
		.to = to,
		.worker = to == TQ_RUNNING ? tqi_attempt_at(tx, task->attempt)->worker : 0,
		.cause = task->cause,
		.cause_arg = task->cause_arg,
	};

	return tqi_task_pass(tx, index, &pass);
}
