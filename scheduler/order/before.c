/* SPDX-License-Identifier: MIT */
/* Starts that nobody makes. */
#include "scheduler/order/before.h"

#include <string.h>

#include "scheduler/limit/limit.h"
#include "scheduler/order/fair.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/record/task_record.h"

#define ROUNDS_FOR_EACH 4 /* a start that takes more transactions is a damaged segment's */

/* OV-3. */
static void next_transaction(struct tqi_tx *tx)
{
	if (!tx->corrupt)
		tqi_tx_begin(tx, tx->now_ns);
}

/* What waits for the same limits is to be counted, too: so they have room. */
static void make_way(struct tqi_tx *tx, const struct tqi_task *task)
{
	const struct tqi_limit_change none = { .size = TQI_LIMIT_NONE, .has_rate = true };
	struct tqi_queue *queue = tqi_queue_at(tx, task->queue);
	const uint32_t *limits = tqi_limits_of(tx, task);

	TQI_SET(tx, queue->flags, queue->flags & ~(uint32_t)(TQI_QUEUE_PAUSED | TQI_QUEUE_SERVED));
	for (uint32_t i = 0; limits && i < TQ_LIMITS_MAX && limits[i] && !tx->corrupt; i++) {
		tqi_limit_set(tx, tqi_limit_at(tx, tqi_need_limit(limits[i]))->name, &none);
		next_transaction(tx);
	}
}

/* What a claim does about the order (scheduler/task/claim.c). */
static void start(struct tqi_tx *tx, uint32_t index, const struct tqi_turn *turn)
{
	const struct tqi_class *class = tqi_class_of(tx, tqi_task_at(tx, index));

	tqi_ready_leave(tx, index);
	if (turn->queue)
		tqi_ready_take_turn(tx, turn);
	if (class->tenant)
		tqi_fair_begin(tx, class);
}

uint32_t tqi_count_before(struct tqi_tx *tx, uint32_t index, const uint64_t kinds[4], uint32_t most,
			  bool *ret_is_all)
{
	struct tqi_worker worker = { .queue_count = 1 };
	uint32_t count = 0, next;
	struct tqi_turn turn;

	*ret_is_all = false;
	memcpy(worker.kinds, kinds, sizeof(worker.kinds));
	worker.queues[0] = tqi_task_at(tx, index)->queue;
	make_way(tx, tqi_task_at(tx, index));
	for (uint32_t i = 0; count < most && i < ROUNDS_FOR_EACH * most && !tx->corrupt; i++) {
		next = tqi_ready_choose(tx, &worker, &turn);
		*ret_is_all = !tx->corrupt && !turn.is_unsettled && (!next || next == index);
		if (*ret_is_all)
			break;
		if (next && !turn.is_unsettled) {
			count += !tqi_task_is_over(tx, tqi_task_at(tx, next));
			start(tx, next, &turn);
		}
		next_transaction(tx);
	}
	return count;
}
