/* SPDX-License-Identifier: MIT */
/* Walks along the lists of sleepers. */
#include "scheduler/wake/sleepers.h"

#include "scheduler/wake/asleep.h"
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

void tqi_sleep_unlist(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	tqi_asleep_wake(tx, w);
	if (s->state == TQI_WAITER_LISTED && s->interest == TQI_INTEREST_ROOM)
		tqi_room_leave(tx, w);
	if (tqi_root(tx)->leaving_at == w)
		TQI_SET(tx, tqi_root(tx)->leaving_at, tqi_leaving_next(tx, w));
}

void tqi_sleep_pop(struct tqi_tx *tx, uint32_t waiter)
{
	tqi_sleep_unlist(tx, waiter);
	tqi_waiter_pop(tx, waiter);
}

void tqi_sleepers_begin(struct tqi_tx *tx, struct tqi_sleepers *walk, uint32_t lists)
{
	walk->steps = 0;
	for (uint32_t i = 0; i < TQI_WAITER_LISTS; i++)
		walk->at[i] = lists >> i & 1 ? tx->core->waiter_lists[i].newest : 0;
}

uint32_t tqi_sleepers_next(struct tqi_tx *tx, struct tqi_sleepers *walk)
{
	uint32_t *newest = NULL;
	uint64_t turn = 0;

	for (uint32_t i = 0; i < TQI_WAITER_LISTS; i++)
		if (walk->at[i] && tqi_waiter_at(tx, walk->at[i])->turn >= turn) {
			newest = &walk->at[i];
			turn = tqi_waiter_at(tx, *newest)->turn;
		}
	if (!newest || !tqi_table_walks(tx, TQI_WAITERS, &walk->steps))
		return 0;
	uint32_t w = *newest;

	*newest = tqi_waiter_at(tx, w)->list_older;
	return w;
}

bool tqi_sleep_call(struct tqi_tx *tx, uint32_t lists, uint32_t count,
		    bool (*is_called)(struct tqi_tx *tx, struct tqi_waiter *slot))
{
	struct tqi_sleepers walk;
	bool woken = false;
	uint32_t w;

	tqi_sleepers_begin(tx, &walk, lists);
	while (count && (w = tqi_sleepers_next(tx, &walk))) {
		if (!is_called(tx, tqi_waiter_at(tx, w)))
			continue;
		tqi_sleep_pop(tx, w);
		woken = true;
		count = tqi_tx_is_filling(tx) ? 0 : count - 1;
	}
	return woken;
}

const struct tqi_worker *tqi_sleepers_worker(struct tqi_tx *tx, struct tqi_waiter *s)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, s->subject);

	return !tqi_mutex_owner_died(&s->mutex) && worker->state == TQI_WORKER_LIVE ? worker : NULL;
}
