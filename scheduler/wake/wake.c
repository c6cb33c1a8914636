/* SPDX-License-Identifier: MIT */
/* Waking. */
#include "scheduler/wake/wake.h"

#include "scheduler/record/serves.h"
#include "scheduler/wake/asleep.h"
#include "scheduler/wake/called.h"
#include "scheduler/wake/room.h"
#include "scheduler/wake/sleepers.h"
#include "shm/lock.h"

#define DEAD_POPS 16 /* dead ones popped beside: each is met once, and a keeper buries them */

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

bool tqi_wake_called(struct tqi_tx *tx, uint32_t count)
{
	uint32_t dead = 0, w;
	bool woken = false;

	while (count && dead < DEAD_POPS && (w = tqi_root(tx)->called.oldest) && !tx->corrupt) {
		bool lives = !tqi_mutex_owner_died(&tqi_waiter_at(tx, w)->mutex);

		tqi_sleep_pop(tx, w);
		woken |= lives;
		dead += !lives;
		count = tqi_tx_is_filling(tx) ? 0 : count - lives;
	}
	return woken;
}

void tqi_wake_waiters(struct tqi_tx *tx, struct tqi_waiter_list *subject)
{
	if (tqi_called_all(tx, subject))
		tqi_wake_called(tx, TQI_WAKE_POPS);
}

bool tqi_wake_all(struct tqi_tx *tx)
{
	uint32_t pops = 0, w;

	for (uint32_t i = 0; i < TQI_WAITER_LISTS; i++)
		while (pops < TQI_WAKE_POPS && (w = tx->core->waiter_lists[i].newest) &&
		       !tx->corrupt && !(pops && tqi_tx_is_filling(tx))) {
			tqi_sleep_pop(tx, w);
			pops++;
		}
	return tx->core->waiter_count != 0;
}
