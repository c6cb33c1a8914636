/* SPDX-License-Identifier: MIT */
/* Lists of assigned tasks. */
#include "scheduler/order/assign.h"

#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/limit/server.h"
#include "scheduler/record/task_record.h"
#include "scheduler/record/trace.h"
#include "scheduler/worker/wake.h"

static void link_between(struct tqi_tx *tx, struct tqi_worker *worker, uint32_t index,
			 uint32_t prev, uint32_t next)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	TQI_SET(tx, task->prev, prev);
	TQI_SET(tx, task->next, next);
	if (prev)
		TQI_SET(tx, tqi_task_at(tx, prev)->next, index);
	else
		TQI_SET(tx, worker->assigned, index);
	if (next)
		TQI_SET(tx, tqi_task_at(tx, next)->prev, index);
	else
		TQI_SET(tx, worker->assigned_last, index);
}

static void unlink_task(struct tqi_tx *tx, struct tqi_worker *worker, const struct tqi_task *task)
{
	if (task->prev)
		TQI_SET(tx, tqi_task_at(tx, task->prev)->next, task->next);
	else
		TQI_SET(tx, worker->assigned, task->next);
	if (task->next)
		TQI_SET(tx, tqi_task_at(tx, task->next)->prev, task->prev);
	else
		TQI_SET(tx, worker->assigned_last, task->prev);
}

/* In no heap: onto the worker's list, first or last. */
static void enter(struct tqi_tx *tx, uint32_t w, uint32_t index, bool first)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);
	struct tqi_task *task = tqi_task_at(tx, index);

	tqi_task_touch(tx, task);
	if (first)
		link_between(tx, worker, index, 0, worker->assigned);
	else
		link_between(tx, worker, index, worker->assigned_last, 0);
	TQI_SET(tx, task->due_ns, w);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_ASSIGNED));
	TQI_ADD(tx, worker->assigned_count, 1);
	TQI_ADD(tx, tqi_root(tx)->assigned, 1);
}

void tqi_assigned_leave(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_worker *worker = tqi_worker_at(tx, (uint32_t)task->due_ns);

	tqi_task_touch(tx, task);
	unlink_task(tx, worker, task);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags & ~TQI_TASK_ASSIGNED));
	TQI_ADD(tx, worker->assigned_count, -1);
	TQI_ADD(tx, tqi_root(tx)->assigned, -1);
}

void tqi_assigned_return(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);

	for (uint32_t index; (index = worker->assigned_last) && !tx->corrupt;) {
		tqi_assigned_leave(tx, index);
		tqi_ready_enter(tx, index, true);
	}
}

uint32_t tqi_assigned_next(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);

	while (worker->assigned && !tx->corrupt) {
		uint32_t index = worker->assigned;
		const struct tqi_task *task = tqi_task_at(tx, index);

		if (tqi_queue_keeps_assigned(tqi_queue_at(tx, task->queue)))
			return index;
		tqi_assigned_leave(tx, index);
		tqi_ready_enter(tx, index, true);
	}
	return 0;
}

/* What a worker may still take of a batch. */
static uint32_t room(const struct tqi_worker *worker, uint32_t batch)
{
	uint32_t held = worker->attempt_count + worker->assigned_count;

	return held < batch ? batch - held : 0;
}

/* The next one of that queue, to be assigned; 0 none. */
static uint32_t choose(struct tqi_tx *tx, const struct tqi_worker *worker, uint32_t queue,
		       struct tqi_turn *turn)
{
	uint32_t index = tqi_ready_choose(tx, worker, turn);

	if (!index)
		return 0;
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (task->queue != queue || tqi_lane_at(tx, task->lane)->limits[0] ||
	    tqi_task_is_over(tx, task))
		return 0;
	return index;
}

void tqi_assign(struct tqi_tx *tx, uint32_t w, uint32_t queue)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);
	uint32_t class_ = 0, index;
	struct tqi_turn turn;

	if (tqi_queue_at(tx, queue)->fair || !tqi_queue_keeps_assigned(tqi_queue_at(tx, queue)))
		return;
	while (room(worker, tqi_queue_at(tx, queue)->batch) && !tqi_tx_is_filling(tx) &&
	       (index = choose(tx, worker, queue, &turn)) && !tx->corrupt) {
		class_ = tqi_lane_at(tx, tqi_task_at(tx, index)->lane)->class_;
		if (turn.queue)
			tqi_ready_take_turn(tx, &turn);
		tqi_ready_leave(tx, index);
		enter(tx, w, index, false);
	}
	if (class_)
		tqi_wake_for(tx, class_); /* A3 */
}

/* Stealing. */

static bool may_steal(struct tqi_tx *tx, const struct tqi_worker *worker,
		      const struct tqi_task *task)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, task->queue);
	uint32_t batch = queue->batch ? queue->batch : 1, free = room(worker, batch);

	return tqi_queue_keeps_assigned(queue) && free &&
	       free * UINT64_C(1000) >= (uint64_t)batch * worker->steal_capacity &&
	       tqi_worker_serves(worker, tqi_class_of(tx, task));
}

/* The last one on a list that the worker may steal; 0 none. */
static uint32_t last_of(struct tqi_tx *tx, const struct tqi_worker *thief,
			const struct tqi_worker *owner)
{
	uint32_t index = owner->assigned_last;

	while (index && !tx->corrupt && !may_steal(tx, thief, tqi_task_at(tx, index)))
		index = tqi_task_at(tx, index)->prev;
	return index;
}

static bool is_thief(const struct tqi_tx *tx, const struct tqi_worker *worker)
{
	return tqi_root(tx)->assigned && worker->steal_max && !worker->assigned_count;
}

static bool has_waited(const struct tqi_tx *tx, const struct tqi_worker *worker)
{
	return tx->now_ns - worker->stole_ns >= worker->steal_interval_ns;
}

/* The worker that has most, of those that have something for the thief; 0 none, or not now. */
static uint32_t find_owner(struct tqi_tx *tx, const struct tqi_worker *thief)
{
	uint32_t best = 0, most = 0;

	if (!is_thief(tx, thief) || !has_waited(tx, thief))
		return 0;
	for (uint32_t w = 1; w < tx->core->tables[TQI_WORKERS].count && !tx->corrupt; w++) {
		const struct tqi_worker *owner = tqi_worker_at(tx, w);

		if (owner != thief && owner->assigned_count > most && last_of(tx, thief, owner)) {
			best = w;
			most = owner->assigned_count;
		}
	}
	return best;
}

bool tqi_steal_is_possible(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	return find_owner(tx, worker) != 0;
}

uint32_t tqi_steal(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_worker *thief = tqi_worker_at(tx, w);
	uint32_t owner = find_owner(tx, thief), class_ = 0, index;

	for (uint32_t i = 0; owner && i < thief->steal_max &&
			     (index = last_of(tx, thief, tqi_worker_at(tx, owner))) && !tx->corrupt;
	     i++) {
		class_ = tqi_lane_at(tx, tqi_task_at(tx, index)->lane)->class_;
		tqi_assigned_leave(tx, index);
		enter(tx, w, index, true);
		TQI_ADD(tx, tqi_counters_of(tx, tqi_task_at(tx, index))->stolen, 1);
		TQI_ADD(tx, thief->stolen, 1);
		tqi_trace_steal(tx, index, w, owner);
	}
	if (!class_)
		return 0;
	TQI_SET(tx, thief->stole_ns, tx->now_ns);
	if (tqi_worker_at(tx, owner)->assigned || thief->assigned_count > 1)
		tqi_wake_for(tx, class_); /* A3 */
	return tqi_assigned_next(tx, w);
}

uint64_t tqi_steal_due(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);

	if (!is_thief(tx, worker) || has_waited(tx, worker))
		return UINT64_MAX;
	return worker->stole_ns + worker->steal_interval_ns;
}
