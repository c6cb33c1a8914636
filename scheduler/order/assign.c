/* SPDX-License-Identifier: MIT */
/* Batches of assigned tasks, and stealing. */
#include "scheduler/order/assign.h"

#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/limit/server.h"
#include "scheduler/record/stream.h"
#include "scheduler/record/task_record.h"
#include "scheduler/record/trace.h"
#include "scheduler/wake/wake.h"

#define OWNERS_LOOKS 32 /* workers whose lists, of up to TQ_BATCH_MAX tasks, a thief goes through */

void tqi_assigned_return(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);
	uint32_t count = worker->assigned_count;

	for (uint32_t index; (index = worker->assigned_last) && !tx->corrupt;) {
		tqi_assigned_take(tx, worker, index);
		tqi_ready_enter(tx, index, true);
	}
	tqi_assigned_follow(tx, w, count);
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
	uint32_t class_ = 0, count = worker->assigned_count, index;
	struct tqi_turn turn;

	if (tqi_queue_at(tx, queue)->fair || !tqi_queue_keeps_assigned(tqi_queue_at(tx, queue)))
		return;
	while (room(worker, tqi_queue_at(tx, queue)->batch) && !tqi_tx_is_filling(tx) &&
	       (index = choose(tx, worker, queue, &turn)) && !tx->corrupt) {
		class_ = tqi_lane_at(tx, tqi_task_at(tx, index)->lane)->class_;
		if (turn.queue)
			tqi_ready_take_turn(tx, &turn);
		tqi_ready_leave(tx, index);
		tqi_assigned_enter(tx, w, index, false);
	}
	tqi_assigned_follow(tx, w, count);
	if (class_)
		tqi_wake_for(tx, class_); /* AS-3 */
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

/* Of some places of the heap the one whose entry comes first. */
static uint32_t first_of(struct tqi_tx *tx, struct tqi_heap *heap, const uint32_t *places,
			 uint32_t count)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < count; i++) {
		const struct tqi_heap_entry a = tqi_heap_at(tx, heap, places[i]);
		const struct tqi_heap_entry b = tqi_heap_at(tx, heap, places[best]);

		if (tqi_entry_before(&a, &b))
			best = i;
	}
	return best;
}

/*
 * The worker that has most, of those that have something for the thief; 0 none, or not now.
 * From the heap's root down, always on at the first entry of all that are next.
 */
static uint32_t find_owner(struct tqi_tx *tx, const struct tqi_worker *thief)
{
	struct tqi_heap *heap = &tqi_root(tx)->owners;
	uint32_t places[3 * OWNERS_LOOKS + 1] = { TQI_HEAP_ROOT }, count = heap->length != 0;

	if (!is_thief(tx, thief) || !has_waited(tx, thief))
		return 0;
	for (uint32_t looks = 0; count && looks < OWNERS_LOOKS && !tx->corrupt; looks++) {
		uint32_t i = first_of(tx, heap, places, count), place = places[i];
		uint32_t w = tqi_tag_index(tqi_heap_at(tx, heap, place).tag);

		if (last_of(tx, thief, tqi_worker_at(tx, w)))
			return w;
		places[i] = places[--count];
		for (uint32_t next = tqi_heap_children(place), k = 0; k < 4; k++)
			if (next + k < TQI_HEAP_ROOT + heap->length)
				places[count++] = next + k;
	}
	return 0;
}

bool tqi_steal_is_possible(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	return find_owner(tx, worker) != 0;
}

/* As many as the thief may have; the class of the last one, 0 none. */
static uint32_t take_over(struct tqi_tx *tx, uint32_t w, uint32_t owner)
{
	struct tqi_worker *thief = tqi_worker_at(tx, w), *from = tqi_worker_at(tx, owner);
	uint32_t class_ = 0, count = from->assigned_count, index;

	for (uint32_t i = 0;
	     i < thief->steal_max && (index = last_of(tx, thief, from)) && !tx->corrupt; i++) {
		class_ = tqi_lane_at(tx, tqi_task_at(tx, index)->lane)->class_;
		tqi_assigned_take(tx, from, index);
		tqi_assigned_enter(tx, w, index, true);
		TQI_ADD(tx, tqi_stream_of(tx, tqi_task_at(tx, index))->stolen, 1);
		TQI_ADD(tx, thief->stolen, 1);
		tqi_trace_steal(tx, index, w, owner);
	}
	tqi_assigned_follow(tx, owner, count);
	tqi_assigned_follow(tx, w, 0);
	return class_;
}

uint32_t tqi_steal(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_worker *thief = tqi_worker_at(tx, w);
	uint32_t owner = find_owner(tx, thief), class_ = owner ? take_over(tx, w, owner) : 0;

	if (!class_)
		return 0;
	TQI_SET(tx, thief->stole_ns, tx->now_ns);
	if (tqi_worker_at(tx, owner)->assigned || thief->assigned_count > 1)
		tqi_wake_for(tx, class_); /* AS-3 */
	return tqi_assigned_next(tx, w);
}

uint64_t tqi_steal_due(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);

	if (!is_thief(tx, worker) || has_waited(tx, worker))
		return UINT64_MAX;
	return worker->stole_ns + worker->steal_interval_ns;
}

bool tqi_ready_any(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	struct tqi_turn turn;

	return tqi_ready_choose(tx, worker, &turn) || turn.is_unsettled ||
	       tqi_steal_is_possible(tx, worker);
}
