/* SPDX-License-Identifier: MIT */
/*
 * The body of a transition (scheduler/order/state.h), for those who know the states: there
 * it is compiled once more, for a task without rare settings and edges.
 */
#ifndef TQI_SCHEDULER_ORDER_PASS_H
#define TQI_SCHEDULER_ORDER_PASS_H

#include "scheduler/order/state.h"
#include "scheduler/record/stream.h"
#include "scheduler/record/task_record.h"
#include "scheduler/record/trace.h"
#include "scheduler/wake/wake.h"

#define TQI_TO(state) (1u << (state))
#define TQI_STATES_WAITING (TQI_TO(TQ_BLOCKED) | TQI_TO(TQ_DELAYED) | TQI_TO(TQ_READY))

static inline bool tqi_state_waits(uint32_t state)
{
	return TQI_STATES_WAITING & TQI_TO(state);
}

/* Neither free nor final. */
static inline bool tqi_state_lives(uint32_t state)
{
	return (TQI_STATES_WAITING | TQI_TO(TQ_RUNNING)) & TQI_TO(state);
}

/* What is counted and told of a transition of a task with rare settings, or with edges. */
void tqi_state_count_group(struct tqi_tx *tx, const struct tqi_extra *extra, uint32_t from,
			   uint32_t to);
void tqi_state_notify(struct tqi_tx *tx, uint32_t task, uint32_t state);

/*
 * As tqi_task_pass().  Queue and stream are the task's, which has been touched (RD-4); its
 * lane counts it as a member from its first state to its last, or is NULL, and counted by the
 * caller.  Without `rare` its state must be `from`, and all states should be constants.  All
 * that is counted changes under one count; shut ones count in the depth of free ones, and are
 * not submitted yet; a purge has set `waiting` to 0 for those before it.
 */
TQI_TWICE void tqi_pass(struct tqi_tx *tx, uint32_t index, struct tqi_task *task,
			struct tqi_queue *queue, struct tqi_stream *stream, struct tqi_lane *lane,
			const struct tqi_pass *p, bool rare)
{
	const struct tqi_extra *extra =
		rare && (task->flags & TQI_TASK_EXTRA) ? tqi_task_extra(tx, task) : NULL;
	const uint32_t from = p->from, through = p->through, to = p->to;

	if (rare ? !tqi_transition_is_legal(from, through) : task->state != from) {
		tx->corrupt = true;
		return;
	}
	struct tqi_root *root = tqi_root(tx);
	const bool shut = extra && extra->shut, waits = tqi_state_waits(to);
	const bool turns = waits != tqi_state_waits(from), runs = to == TQ_RUNNING;
	const bool counts = turns && (waits || task->wait_sequence >= queue->purge_before);
	const bool begins = tqi_state_lives(to) && !tqi_state_lives(from);
	const bool ends = !tqi_state_lives(to) && tqi_state_lives(from);
	const bool traced = through != TQ_FREE && tqi_trace_is_on(tx) &&
			    tqi_trace_move(tx, index, task, p);
	const bool planted = TQI_PLANTED(plain_submit) && begins && !rare;

	tqi_publish_barrier(); /* what is traced is written before it counts (shm/ring.h) */
	TQI_SETS_IF(tx, (waits && turns && from, task, wait_sequence, root->sequence),
		    (counts, queue, waiting, queue->waiting + (waits ? 1u : -1u)),
		    (from && !shut, stream, depth[from], stream->depth[from] - 1),
		    (to && !shut, stream, depth[to], stream->depth[to] + 1),
		    (shut && !from != !to, stream, depth[TQ_FREE],
		     stream->depth[TQ_FREE] + (from ? -1u : 1u)),
		    (begins && !shut, stream, submitted, stream->submitted + 1),
		    (runs, stream, started, stream->started + 1),
		    (ends && through && !shut, stream, ended[through - TQ_DONE],
		     stream->ended[through - TQ_DONE] + 1),
		    (traced, tx->core, ring_head, tx->core->ring_head + 1),
		    (runs || from == TQ_RUNNING, root, running, root->running + (runs ? 1u : -1u)),
		    (begins, root, sequence, root->sequence + 1),
		    ((begins && !planted) || ends, root, unfinished,
		     root->unfinished + (begins ? 1u : -1u)),
		    (lane && (begins || ends), lane, members, lane->members + (begins ? 1u : -1u)),
		    (!to, task, generation, task->generation + 1), /* its id is nobody's then */
		    (!TQI_PLANTED(no_entry), task, state, to));
	if (TQI_PLANTED(no_entry))
		task->state = (uint8_t)to;
	if (planted)
		root->unfinished++;
	if (begins && __builtin_expect(!stream->busy, 0))
		tqi_stream_begin(tx, stream);
	if (turns && !waits && queue->depth_max != UINT64_MAX)
		tqi_wake_room_in(tx, task->queue);
	if (extra && extra->group)
		tqi_state_count_group(tx, extra, from, to);
	if (rare && task->edges && !tqi_state_is_final(to))
		tqi_state_notify(tx, index, to);
}

#endif
