/* SPDX-License-Identifier: MIT */
/* The chain of sleepers. */
#include "shm/wait.h"

#include "shm/lock.h"

#define BUSY_MAX 8 /* owners dying in the same microseconds */

/* WT-5. */
static void wake_behind(struct tqi_tx *tx, uint32_t newer)
{
	uint32_t w = tx->core->waiter_oldest;

	if (newer)
		tqi_tx_wake(tx, newer);
	for (uint32_t i = 1; i < TQI_KEEPERS && w; i++)
		w = tqi_waiter_at(tx, w)->newer;
	if (w)
		tqi_tx_wake(tx, w);
}

static void count_work(struct tqi_tx *tx, const struct tqi_waiter *s, uint32_t by)
{
	TQI_ADD(tx, tx->core->waiter_count, by);
	if (s->interest == TQI_WAITER_FOR_WORK)
		TQI_ADD(tx, tx->core->waiter_for_work, by);
}

static struct tqi_waiter_list *list_of(struct tqi_tx *tx, const struct tqi_waiter *s)
{
	return &tx->core->waiter_lists[s->list % TQI_WAITER_LISTS];
}

/* Last of those who sleep for the same. */
static void list_enter(struct tqi_tx *tx, uint32_t w, struct tqi_waiter *s)
{
	struct tqi_waiter_list *list = list_of(tx, s);

	TQI_SET(tx, s->turn, tx->core->waiter_turn + 1);
	TQI_SET(tx, tx->core->waiter_turn, s->turn);
	TQI_SET(tx, s->list_older, list->newest);
	TQI_SET(tx, s->list_newer, 0u);
	if (list->newest)
		TQI_SET(tx, tqi_waiter_at(tx, list->newest)->list_newer, w);
	else
		TQI_SET(tx, list->oldest, w);
	TQI_SET(tx, list->newest, w);
}

static void list_leave(struct tqi_tx *tx, const struct tqi_waiter *s)
{
	struct tqi_waiter_list *list = list_of(tx, s);

	if (s->list_older)
		TQI_SET(tx, tqi_waiter_at(tx, s->list_older)->list_newer, s->list_newer);
	else
		TQI_SET(tx, list->oldest, s->list_newer);
	if (s->list_newer)
		TQI_SET(tx, tqi_waiter_at(tx, s->list_newer)->list_older, s->list_older);
	else
		TQI_SET(tx, list->newest, s->list_older);
}

static void append(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);
	uint32_t newest = tx->core->waiter_newest;

	TQI_SET(tx, s->state, TQI_WAITER_LISTED);
	TQI_SET(tx, s->older, newest);
	TQI_SET(tx, s->newer, 0u);
	if (newest)
		TQI_SET(tx, tqi_waiter_at(tx, newest)->newer, w);
	else
		TQI_SET(tx, tx->core->waiter_oldest, w);
	TQI_SET(tx, tx->core->waiter_newest, w);
	list_enter(tx, w, s);
	count_work(tx, s, 1);
}

static bool is_keeper(struct tqi_tx *tx, uint32_t w)
{
	return tqi_waiter_keeper(tx, w) < TQI_KEEPERS;
}

static void unlink_listed(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);
	bool keeper = is_keeper(tx, w);

	if (s->older)
		TQI_SET(tx, tqi_waiter_at(tx, s->older)->newer, s->newer);
	else
		TQI_SET(tx, tx->core->waiter_oldest, s->newer);
	if (s->newer)
		TQI_SET(tx, tqi_waiter_at(tx, s->newer)->older, s->older);
	else
		TQI_SET(tx, tx->core->waiter_newest, s->older);
	list_leave(tx, s);
	count_work(tx, s, (uint32_t)-1);
	if (keeper)
		wake_behind(tx, s->newer);
	else if (s->newer)
		tqi_tx_wake(tx, s->newer);
}

static void transit_insert(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);
	uint32_t head = tx->core->waiter_transit;

	TQI_SET(tx, s->state, TQI_WAITER_TRANSIT);
	TQI_SET(tx, s->older, 0u);
	TQI_SET(tx, s->newer, head);
	if (head)
		TQI_SET(tx, tqi_waiter_at(tx, head)->older, w);
	TQI_SET(tx, tx->core->waiter_transit, w);
}

static void transit_remove(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);

	if (s->older)
		TQI_SET(tx, tqi_waiter_at(tx, s->older)->newer, s->newer);
	else
		TQI_SET(tx, tx->core->waiter_transit, s->newer);
	if (s->newer)
		TQI_SET(tx, tqi_waiter_at(tx, s->newer)->older, s->older);
}

static void unlink_any(struct tqi_tx *tx, uint32_t w)
{
	if (tqi_waiter_at(tx, w)->state == TQI_WAITER_LISTED)
		unlink_listed(tx, w);
	else
		transit_remove(tx, w);
}

/* Make the mutex at first use (it is never used for anything else), then lock it (WT-1). */
static bool take_mutex(struct tqi_waiter *s)
{
	if (s->mutex_made == 0) {
		tqi_lock_init(&s->mutex);
		TQI_INIT(s->mutex_made, 1);
	}
	return tqi_mutex_take(&s->mutex) == 0;
}

/*
 * A free slot.  One whose last owner is just dying, killed between its commit
 * and the release of its mutex, is passed over: the kernel is still to mark it.
 */
static uint32_t take_slot(struct tqi_tx *tx, bool *ret_full)
{
	uint32_t busy[BUSY_MAX], count = 0, w;

	for (;;) {
		w = tqi_table_take(tx, TQI_TABLE_WAITERS, ret_full);
		if (!w || take_mutex(tqi_waiter_at(tx, w)))
			break;
		if (count == BUSY_MAX) {
			tqi_table_give(tx, TQI_TABLE_WAITERS, w);
			*ret_full = true;
			w = 0;
			break;
		}
		busy[count++] = w;
	}
	while (count > 0)
		tqi_table_give(tx, TQI_TABLE_WAITERS, busy[--count]);
	return w;
}

uint32_t tqi_waiter_enter(struct tqi_tx *tx, const struct tqi_ident *owner,
			  const struct tqi_waiter_wish *wish, bool *ret_full)
{
	uint32_t w = take_slot(tx, ret_full);

	if (!w)
		return 0;
	struct tqi_waiter *s = tqi_waiter_at(tx, w);

	tx->taken = &s->mutex;
	TQI_INIT(s->owner, *owner);
	TQI_INIT(s->until_ns, UINT64_MAX);
	TQI_INIT(s->until_wall_ns, UINT64_MAX);
	TQI_INIT(s->interest, wish->interest);
	TQI_INIT(s->subject, wish->subject);
	TQI_INIT(s->list, wish->list);
	TQI_INIT(s->edges, 0);
	TQI_INIT(s->told, 0);
	TQI_INIT(s->attempt, 0);
	append(tx, w);
	return w;
}

void tqi_waiter_relink(struct tqi_tx *tx, uint32_t w)
{
	if (tqi_waiter_at(tx, w)->state != TQI_WAITER_TRANSIT)
		return;
	transit_remove(tx, w);
	append(tx, w);
}

static void release(struct tqi_tx *tx, uint32_t w)
{
	unlink_any(tx, w);
	TQI_SET(tx, tqi_waiter_at(tx, w)->state, TQI_WAITER_FREE);
	tqi_table_give(tx, TQI_TABLE_WAITERS, w);
}

void tqi_waiter_leave(struct tqi_tx *tx, uint32_t w)
{
	release(tx, w);
	tx->release = &tqi_waiter_at(tx, w)->mutex;
	if (TQI_PLANTED(early_release)) {
		pthread_mutex_unlock(tx->release);
		tx->release = NULL;
	}
}

void tqi_waiter_bury(struct tqi_tx *tx, uint32_t w)
{
	release(tx, w); /* OWNER_DIED stays in the mutex for the next taker */
}

void tqi_waiter_pop(struct tqi_tx *tx, uint32_t w)
{
	unlink_listed(tx, w);
	transit_insert(tx, w);
	tqi_tx_wake(tx, w);
}

uint32_t tqi_waiter_keeper(struct tqi_tx *tx, uint32_t w)
{
	uint32_t at = tx->core->waiter_oldest, place = 0;

	while (place < TQI_KEEPERS && at && at != w) {
		at = tqi_waiter_at(tx, at)->newer;
		place++;
	}
	return at == w ? place : TQI_KEEPERS;
}

void tqi_waiter_wake_now(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);

	tqi_add_release32(&s->word, 1);
	tx->seg->ops->futex_wake(tx->seg->ops->ctx, &s->word, 1);
}
