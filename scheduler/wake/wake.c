/* SPDX-License-Identifier: MIT */
/* Waking. */
#include "scheduler/wake/wake.h"

#include "scheduler/record/serves.h"
#include "scheduler/wake/asleep.h"
#include "scheduler/wake/room.h"
#include "scheduler/wake/sleepers.h"

#define POPS_SLICE 16 /* sleepers popped in one hold: journal space */

void tqi_wake_for(struct tqi_tx *tx, uint32_t class_)
{
	if (!tx->core->waiter_for_work)
		return;
	const struct tqi_class *class = tqi_class_at(tx, class_);
	uint32_t w = tqi_queue_may_start(tx, tqi_queue_at(tx, class->queue))
			     ? tqi_asleep_for(tx, class)
			     : 0;

	if (w)
		tqi_sleep_pop(tx, w);
}

void tqi_wake_room(struct tqi_tx *tx)
{
	uint32_t w = tqi_root(tx)->room_waiters ? tqi_room_next(tx) : 0;

	if (w)
		tqi_sleep_pop(tx, w);
}

void tqi_wake_room_in(struct tqi_tx *tx, uint32_t queue)
{
	if (!tqi_root(tx)->room_waiters)
		return;
	tqi_room_opens(tx, queue);
	tqi_wake_room(tx);
}

static void wake_stopper(struct tqi_tx *tx, uint32_t worker)
{
	uint32_t w = tqi_worker_at(tx, worker)->stopper;

	if (w)
		tqi_tx_wake(tx, w);
}

void tqi_wake_master(struct tqi_tx *tx, uint32_t master)
{
	if (master)
		wake_stopper(tx, master);
}

void tqi_wake_worker(struct tqi_tx *tx, uint32_t worker)
{
	uint32_t w = tqi_worker_at(tx, worker)->asleep;

	if (w)
		tqi_tx_wake(tx, w);
}

void tqi_wake_stoppers(struct tqi_tx *tx, uint32_t worker)
{
	wake_stopper(tx, worker);
	tqi_wake_master(tx, tqi_worker_at(tx, worker)->master);
}

static bool is_called(struct tqi_tx *tx, struct tqi_waiter *slot)
{
	(void)tx;
	(void)slot;
	return true;
}

bool tqi_wake_all(struct tqi_tx *tx)
{
	tqi_sleep_call(tx, TQI_SLEEPERS_ALL, POPS_SLICE, is_called);
	return tx->core->waiter_count != 0;
}
