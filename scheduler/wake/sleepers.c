/* SPDX-License-Identifier: MIT */
/* Walks along the lists of sleepers. */
#include "scheduler/wake/sleepers.h"

#include "scheduler/wake/asleep.h"
#include "shm/lock.h"

void tqi_sleep_pop(struct tqi_tx *tx, uint32_t waiter)
{
	tqi_asleep_wake(tx, waiter);
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
