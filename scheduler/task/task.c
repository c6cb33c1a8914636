/* SPDX-License-Identifier: MIT */
/* Transitions and the end of a task. */
#include "scheduler/task/task.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/after.h"
#include "scheduler/graph/blocked.h"
#include "scheduler/time/due.h"
#include "scheduler/graph/edge.h"
#include "scheduler/order/fair.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/graph/key.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/time/schedule.h"
#include "scheduler/record/trace.h"
#include "scheduler/worker/wake.h"
#include "scheduler/time/wall.h"
#include "shm/pool.h"

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

int tqi_task_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	uint32_t index = tqi_id_index(id);

	if (index == 0 || index >= tx->core->tables[TQI_TASKS].count)
		return -ENOENT;
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (tqi_id_generation(id) > task->generation || tqi_id_generation(id) == 0)
		return -ENOENT;
	if (tqi_id_generation(id) < task->generation)
		return TQ_EGONE;
	if (task->state == TQ_FREE || tqi_member_is_hidden(tx, task))
		return -ENOENT; /* the generation that will be used next; or not made real yet */
	if (tqi_task_is_shut(tx, task))
		tqi_member_open(tx, index);
	*ret_index = index;
	return 0;
}

static bool is_waiting(uint32_t state)
{
	return WAITING & TO(state);
}

static void count_queue(struct tqi_tx *tx, const struct tqi_task *task, uint32_t from, uint32_t to)
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

/* Depths of its class, and of its group; those of shut ones in that of free ones. */
static void count_gauges(struct tqi_tx *tx, const struct tqi_task *task, struct tqi_class *class,
			 uint32_t from, uint32_t to)
{
	const struct tqi_extra *extra = task->flags & TQI_TASK_EXTRA ? tqi_task_extra(tx, task)
								     : NULL;
	bool shut = extra && extra->shut;

	if (from != TQ_FREE)
		TQI_ADD(tx, class->depth[shut ? TQ_FREE : from], -1);
	if (to != TQ_FREE)
		TQI_ADD(tx, class->depth[shut ? TQ_FREE : to], 1);
	if (extra && extra->group)
		tqi_member_move(tx, extra, from, to);
}

void tqi_task_move(struct tqi_tx *tx, uint32_t index, uint32_t to)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_class *class = tqi_counters_of(tx, task);
	uint32_t from = task->state;

	if (!tqi_transition_is_legal(from, to)) {
		tx->corrupt = true;
		return;
	}
	tqi_task_touch(tx, task);
	if (is_waiting(to) && !is_waiting(from) && from != TQ_FREE) /* a new one has it already */
		TQI_SET(tx, task->wait_sequence, tqi_root(tx)->sequence);
	count_queue(tx, task, from, to);
	count_gauges(tx, task, class, from, to);
	if (to != TQ_FREE && tqi_trace_is_on(tx))
		tqi_trace_move(tx, index, task, to);
	if (from == TQ_RUNNING)
		TQI_ADD(tx, tqi_root(tx)->running, -1);
	if (to == TQ_RUNNING)
		TQI_ADD(tx, tqi_root(tx)->running, 1);
	if (TQI_PLANTED(no_entry))
		task->state = (uint8_t)to;
	else
		TQI_SET(tx, task->state, (uint8_t)to);
	if (task->edges && !tqi_state_is_final(to))
		tqi_edge_notify(tx, index, to);
}

void tqi_task_set_error(struct tqi_tx *tx, struct tqi_task *task, const char *text)
{
	if (task->error) {
		tqi_block_give(tx, task->error);
		TQI_SET(tx, task->error, 0u);
	}
	size_t n = text ? strnlen(text, TQ_TEXT_MAX) : 0;
	uint32_t block = n ? tqi_block_take(tx, n) : 0;

	if (block) {
		memcpy(tqi_unit(tx, block), text, n);
		TQI_SET(tx, task->error, block);
	}
	TQI_SET(tx, task->error_bytes, (uint16_t)(block ? n : 0));
}

static void give(struct tqi_tx *tx, uint32_t *block)
{
	if (*block == 0)
		return;
	tqi_block_give(tx, *block);
	TQI_SET(tx, *block, 0u);
}

void tqi_task_free(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	tqi_task_unlist(tx, index);
	if (task->flags & TQI_TASK_EXTRA) {
		tqi_inherit_forgotten(tx, index);
		tqi_key_forgotten(tx, index);
		tqi_limits_leave(tx, task);
		tqi_tenant_leave(tx, tqi_tenant_of(tx, task));
	}
	tqi_task_move(tx, index, TQ_FREE);
	if (task->flags & TQI_TASK_EXTRA)
		tqi_member_leave(tx, index);
	give(tx, &task->payload);
	give(tx, &task->result);
	give(tx, &task->error);
	give(tx, &task->history);
	give(tx, &task->checkpoint);
	TQI_ADD(tx, task->generation, 1);
	if (task->generation < TQI_GENERATION_MAX) /* else the slot is retired */
		tqi_table_give(tx, TQI_TASKS, index);
	tqi_wake_room(tx);
}

void tqi_task_settle(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if ((task->pins && !TQI_PLANTED(no_pins)) || (task->flags & TQI_TASK_TELLING))
		return;
	if ((task->flags & TQI_TASK_FORGET) && tqi_after_has_any(tx, task))
		tqi_edge_enlist(tx, index); /* freed when it has given them up */
	else if (task->flags & TQI_TASK_FORGET)
		tqi_task_free(tx, index);
	else if (!(task->flags & (TQI_TASK_KEEP | TQI_TASK_LISTED)))
		tqi_task_list(tx, index);
}

void tqi_task_finish(struct tqi_tx *tx, uint32_t index, uint32_t state, uint32_t cause,
		     int32_t cause_arg)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_class *class = tqi_counters_of(tx, task);

	if (tqi_task_is_shut(tx, task))
		tqi_member_show(tx, index);
	tqi_due_set(tx, index, UINT64_MAX);
	tqi_task_touch(tx, task);
	tqi_task_set_cause(tx, task, cause, cause_arg);
	tqi_task_move(tx, index, state);
	if (tx->corrupt)
		return;
	TQI_SET(tx, task->ended_ns, tx->now_ns);
	TQI_ADD(tx, class->ended[state - TQ_DONE], 1);
	if (state == TQ_DONE || state == TQ_FAILED)
		tqi_class_time(tx, class, TQI_TIMED_LIFE, task->submitted_ns);
	tqi_lane_leave(tx, task->lane);
	if (task->lane != class->plain)
		TQI_SET(tx, task->lane, class->plain); /* its own goes with its last member */
	TQI_ADD(tx, tqi_root(tx)->unfinished, -1);
	if (!tqi_root(tx)->unfinished && !tqi_root(tx)->untidy)
		TQI_SET(tx, tqi_root(tx)->untidy, 1u);
	give(tx, &task->checkpoint);
	if (task->flags & TQI_TASK_EXTRA) {
		tqi_wall_ended(tx, task);
		tqi_key_ended(tx, index);
		tqi_schedule_ended(tx, index);
		tqi_inherit_finished(tx, index);
		tqi_blocked_ended(tx, task);
		tqi_member_ended(tx, index);
	}
	tqi_edge_tell(tx, index);
	tqi_wake_empty(tx);
	if (tqi_root(tx)->room_waiters)
		tqi_wake_room(tx);
	tqi_task_settle(tx, index);
}

void tqi_task_unqueue(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	tqi_due_set(tx, index, UINT64_MAX);
	tqi_wall_leave(tx, index);
	if (task->state == TQ_READY)
		tqi_ready_leave(tx, index);
}

void tqi_task_cancel_waiting(struct tqi_tx *tx, uint32_t index)
{
	tqi_task_unqueue(tx, index);
	tqi_task_finish(tx, index, TQ_CANCELLED, TQ_CAUSE_CANCELLED, 0);
}

void tqi_task_end_over(struct tqi_tx *tx, uint32_t index)
{
	if (tqi_task_is_condemned(tx, tqi_task_at(tx, index))) {
		tqi_task_cancel_waiting(tx, index);
		return;
	}
	tqi_task_unqueue(tx, index);
	tqi_task_finish(tx, index, TQ_EXPIRED, TQ_CAUSE_DEADLINE, 0);
}

uint32_t tqi_task_evict(struct tqi_tx *tx, uint32_t count)
{
	uint32_t n = 0;

	while (n < count && tqi_root(tx)->finished_oldest && !tx->corrupt &&
	       !tqi_tx_is_filling(tx)) {
		if (!tqi_after_discard(tx, tqi_root(tx)->finished_oldest))
			return n + 1; /* the rest of its dependencies in the next hold */
		tqi_task_free(tx, tqi_root(tx)->finished_oldest);
		TQI_ADD(tx, tqi_root(tx)->evicted, 1);
		n++;
	}
	return n;
}

uint32_t tqi_task_retire(struct tqi_tx *tx, uint32_t count)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t n = 0;

	while (n < count && root->finished_oldest && !tx->corrupt && !tqi_tx_is_filling(tx)) {
		const struct tqi_task *task = tqi_task_at(tx, root->finished_oldest);

		if (tx->now_ns - task->ended_ns < root->retention_ns)
			break;
		if (!tqi_after_discard(tx, root->finished_oldest))
			return n + 1;
		tqi_task_free(tx, root->finished_oldest);
		n++;
	}
	return n;
}
