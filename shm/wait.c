/* SPDX-License-Identifier: MIT */
/* Wait slots: the chain of those in use, lists of those who sleep, those in transit. */
#include "shm/wait.h"

#include "shm/domain.h"
#include "shm/list.h"
#include "shm/lock.h"

#define BUSY_MAX 8 /* owners dying in the same microseconds */

TQI_LINKS(chain_links, tqi_waiter_at, tqi_waiter, older, newer)
TQI_LINKS(list_links, tqi_waiter_at, tqi_waiter, list_older, list_newer)

/* All of them; those with one interest, or in transit. */
static inline struct tqi_list chain_of(struct tqi_core *core)
{
	return (struct tqi_list){ chain_links, &core->waiter_oldest, &core->waiter_newest };
}

static inline struct tqi_list of_interest(struct tqi_waiter_list *list)
{
	return (struct tqi_list){ list_links, &list->oldest, &list->newest };
}

static struct tqi_waiter_list *list_of(struct tqi_tx *tx, const struct tqi_waiter *s)
{
	return &tx->core->waiter_lists[s->list % TQI_WAITER_LISTS];
}

static void count_work(struct tqi_tx *tx, const struct tqi_waiter *s, uint32_t by)
{
	TQI_ADD(tx, tx->core->waiter_count, by);
	if (s->interest == TQI_WAITER_FOR_WORK)
		TQI_ADD(tx, tx->core->waiter_for_work, by);
}

/* It sleeps: others find it. */
static void list(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);

	TQI_SET(tx, s->state, TQI_WAITER_LISTED);
	TQI_SET(tx, s->turn, tx->core->waiter_turn + 1);
	TQI_SET(tx, tx->core->waiter_turn, s->turn);
	tqi_list_append(tx, of_interest(list_of(tx, s)), w);
	tqi_domain_enter(tx, w);
	count_work(tx, s, 1);
}

static void unlist(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	tqi_list_remove(tx, of_interest(list_of(tx, s)), w);
	tqi_domain_leave(tx, w);
	count_work(tx, s, (uint32_t)-1);
}

static void transit_enter(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);

	TQI_SET(tx, s->state, TQI_WAITER_TRANSIT);
	TQI_SET(tx, s->popped_ns, tx->now_ns);
	tqi_list_append(tx, of_interest(&tx->core->waiter_transit), w);
	if (s->interest == TQI_WAITER_FOR_WORK)
		TQI_ADD(tx, tx->core->waiter_coming, 1);
}

static void transit_leave(struct tqi_tx *tx, uint32_t w)
{
	tqi_list_remove(tx, of_interest(&tx->core->waiter_transit), w);
	if (tqi_waiter_at(tx, w)->interest == TQI_WAITER_FOR_WORK)
		TQI_ADD(tx, tx->core->waiter_coming, -1);
}

void tqi_waiter_append(struct tqi_tx *tx, uint32_t w)
{
	tqi_list_append(tx, chain_of(tx->core), w);
	list(tx, w);
}

/* From the chain (WT-5). */
static void detach(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	tqi_list_remove(tx, chain_of(tx->core), w);
	if (s->newer)
		tqi_tx_wake(tx, s->newer);
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
	TQI_INIT(s->domain, wish->domain);
	tqi_waiter_append(tx, w);
	return w;
}

void tqi_waiter_relink(struct tqi_tx *tx, uint32_t w)
{
	if (tqi_waiter_at(tx, w)->state != TQI_WAITER_TRANSIT)
		return;
	transit_leave(tx, w);
	list(tx, w);
}

static void release(struct tqi_tx *tx, uint32_t w)
{
	if (tqi_waiter_at(tx, w)->state == TQI_WAITER_LISTED)
		unlist(tx, w);
	else
		transit_leave(tx, w);
	detach(tx, w);
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
	unlist(tx, w);
	transit_enter(tx, w);
	tqi_tx_wake(tx, w);
}

void tqi_waiter_wake_now(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);

	tqi_add_release32(&s->word, 1);
	tx->seg->ops->futex_wake(tx->seg->ops->ctx, &s->word, 1);
}
