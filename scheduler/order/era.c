/* SPDX-License-Identifier: MIT */
/* The way of a queue's tasks into its present era, and to their places in it. */
#include "scheduler/order/policy.h"

#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/record/queue_set.h"
#include "scheduler/record/sweep_state.h"
#include "scheduler/record/task_record.h"
#include "scheduler/wake/wake.h"

#define QUEUES_SLICE 64 /* queues whose move may end in one hold: four entries each */

/* To the lane that follows from its place; false: no memory, it stays (PO-4). */
static bool carry_over(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_place place = tqi_place_of(tx, task);
	uint32_t lane = tqi_lane_join(tx, &place);

	if (!lane)
		return false;
	tqi_task_touch(tx, task);
	if (task->state == TQ_READY)
		tqi_ready_leave(tx, index);
	tqi_lane_leave(tx, task->lane);
	TQI_SET(tx, task->lane, lane);
	if (task->state == TQ_READY)
		tqi_ready_reenter(tx, index);
	return true;
}

/* One that a worker had taken beforehand is anybody's again. */
static void wake_if_freed(struct tqi_tx *tx, const struct tqi_task *task, bool assigned)
{
	if (assigned && !(task->flags & TQI_TASK_ASSIGNED))
		tqi_wake_for(tx, tqi_lane_at(tx, task->lane)->class_);
}

bool tqi_policy_move(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_queue *queue = tqi_queue_at(tx, task->queue);

	const bool assigned = task->flags & TQI_TASK_ASSIGNED;

	if (!(queue->flags & TQI_QUEUE_MOVING) || tqi_class_of(tx, task)->era == queue->era ||
	    !carry_over(tx, index))
		return false;
	wake_if_freed(tx, task, assigned);
	return true;
}

/* In its lane, by another key. */
static void rekey(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_worth worth = tqi_worth_of(tx, task);

	if (task->state != TQ_READY ||
	    task->key == tqi_policy_key_in(tqi_class_of(tx, task), task->ready_ns, &worth))
		return;
	tqi_task_touch(tx, task);
	tqi_ready_leave(tx, index);
	tqi_ready_reenter(tx, index);
}

/* What is of an earlier era comes to its band with the rest (PO-3). */
bool tqi_policy_place(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_queue *queue = tqi_queue_at(tx, task->queue);
	const struct tqi_class *class = tqi_class_of(tx, task);
	uint32_t band = tqi_policy_band(queue, tqi_worth_of(tx, task).priority);
	bool assigned = task->flags & TQI_TASK_ASSIGNED;

	if (class->era != queue->era || class->band == band)
		rekey(tx, index);
	else if (!carry_over(tx, index))
		return false;
	wake_if_freed(tx, task, assigned);
	return true;
}

/* What was on its way is there. */
static void end_move(struct tqi_tx *tx, uint32_t q, struct tqi_queue *queue)
{
	TQI_SET(tx, queue->flags, queue->flags & ~TQI_QUEUE_MOVING);
	tqi_policy_set_flags(tx, queue);
	TQI_ADD(tx, tqi_root(tx)->moving.count, -1);
	tqi_queue_set_flip(tx, &tqi_root(tx)->moving.queues, q);
}

void tqi_policy_round(struct tqi_tx *tx, uint32_t from)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t q = tqi_queue_set_next(&root->moving.queues, from), looks = 0;

	for (; q && looks < QUEUES_SLICE && !tx->corrupt; looks++) {
		struct tqi_queue *queue = tqi_queue_at(tx, q);

		if (!tqi_chain_clear(tx, tqi_policy_earlier(queue)))
			break;
		if (!tqi_policy_earlier(queue)->left)
			end_move(tx, q, queue);
		q = tqi_queue_set_next(&root->moving.queues, q + 1);
	}
	if (q != root->moving.at)
		TQI_SET(tx, root->moving.at, q);
}
