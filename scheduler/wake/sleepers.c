/* SPDX-License-Identifier: MIT */
/* Walks along the lists of sleepers. */
#include "scheduler/wake/sleepers.h"

#include "scheduler/wake/asleep.h"
#include "scheduler/wake/called.h"
#include "scheduler/wake/room.h"
#include "shm/lock.h"

/* Newest of the workers that leave only as the segment shuts down; 0 they do not. */
static uint32_t leaving_others(struct tqi_tx *tx)
{
	return tqi_root(tx)->flags & TQI_ROOT_SHUTDOWN
		       ? tx->core->waiter_lists[TQI_INTEREST_WORK].newest
		       : 0;
}

uint32_t tqi_leaving_first(struct tqi_tx *tx)
{
	uint32_t w = tx->core->waiter_lists[TQI_SLEEPERS_EMPTY].newest;

	return w ? w : leaving_others(tx);
}

uint32_t tqi_leaving_next(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	if (s->list == TQI_SLEEPERS_EMPTY)
		return s->list_older ? s->list_older : leaving_others(tx);
	return leaving_others(tx) ? s->list_older : 0;
}

static void leave_peers(struct tqi_tx *tx, uint32_t w, uint32_t interest)
{
	if (interest == TQI_INTEREST_ROOM)
		tqi_room_leave(tx, w);
	else if (interest == TQI_INTEREST_COMMAND || interest == TQI_INTEREST_GROUP)
		tqi_called_leave(tx, w);
}

void tqi_sleep_unlist(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	tqi_asleep_wake(tx, w);
	if (s->state == TQI_WAITER_LISTED)
		leave_peers(tx, w, s->interest);
	if (tqi_root(tx)->leaving_at == w)
		TQI_SET(tx, tqi_root(tx)->leaving_at, tqi_leaving_next(tx, w));
}

void tqi_sleep_pop(struct tqi_tx *tx, uint32_t waiter)
{
	tqi_sleep_unlist(tx, waiter);
	tqi_waiter_pop(tx, waiter);
}

const struct tqi_worker *tqi_sleepers_worker(struct tqi_tx *tx, struct tqi_waiter *s)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, s->subject);

	return !tqi_mutex_owner_died(&s->mutex) && worker->state == TQI_WORKER_LIVE ? worker : NULL;
}
