/* SPDX-License-Identifier: MIT */
/* Waits of attempts. */
#include "scheduler/graph/behalf.h"

#include "scheduler/graph/inherit.h"
#include "scheduler/record/task_record.h"
#include "scheduler/wake/wake.h"

/* It begins to wait, or waits no more. */
static void count(struct tqi_tx *tx, const struct tqi_attempt *attempt, int by)
{
	struct tqi_worker *worker = tqi_worker_at(tx, attempt->worker);

	tqi_task_touch(tx, tqi_task_at(tx, attempt->task));
	TQI_ADD(tx, worker->waiting, by);
	tqi_wake_master(tx, worker->master);
}

void tqi_behalf_enter(struct tqi_tx *tx, uint32_t waiter, uint32_t a)
{
	if (!a)
		return;
	struct tqi_waiter *slot = tqi_waiter_at(tx, waiter);
	struct tqi_attempt *attempt = tqi_attempt_at(tx, a);
	uint32_t first = attempt->waits;

	TQI_INIT(slot->attempt, a);
	TQI_INIT(slot->attempt_life, attempt->waits_life);
	TQI_INIT(slot->attempt_prev, 0);
	TQI_INIT(slot->attempt_next, first);
	if (first)
		TQI_SET(tx, tqi_waiter_at(tx, first)->attempt_prev, waiter);
	TQI_SET(tx, attempt->waits, waiter);
	const struct tqi_worth worth = tqi_worth_of(tx, tqi_task_at(tx, attempt->task));

	tqi_inherit_lend(tx, waiter, &worth);
	if (!first)
		count(tx, attempt, 1);
}

void tqi_behalf_leave(struct tqi_tx *tx, uint32_t waiter)
{
	struct tqi_waiter *slot = tqi_waiter_at(tx, waiter);
	uint32_t a = tqi_behalf_of(tx, waiter);

	if (!slot->attempt)
		return;
	if (slot->attempt_next)
		TQI_SET(tx, tqi_waiter_at(tx, slot->attempt_next)->attempt_prev,
			slot->attempt_prev);
	if (slot->attempt_prev)
		TQI_SET(tx, tqi_waiter_at(tx, slot->attempt_prev)->attempt_next,
			slot->attempt_next);
	else if (a)
		TQI_SET(tx, tqi_attempt_at(tx, a)->waits, slot->attempt_next);
	TQI_SET(tx, slot->attempt, 0u);
	if (a && !tqi_attempt_at(tx, a)->waits)
		count(tx, tqi_attempt_at(tx, a), -1);
}

void tqi_behalf_end(struct tqi_tx *tx, uint32_t a)
{
	struct tqi_attempt *attempt = tqi_attempt_at(tx, a);

	if (!attempt->waits)
		return;
	TQI_SET(tx, attempt->waits, 0u);
	TQI_ADD(tx, attempt->waits_life, 1);
	count(tx, attempt, -1);
}
