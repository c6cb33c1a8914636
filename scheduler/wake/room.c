/* SPDX-License-Identifier: MIT */
/* Submitters asleep for room. */
#include "scheduler/wake/room.h"

#include "scheduler/record/queue_set.h"
#include "shm/list.h"
#include "shm/lock.h"

#define QUEUES_LOOKS 32 /* queues looked at in one search: journal space, and some 2 us */
#define DEAD_LOOKS 16	/* dead sleepers passed over on one list: a keeper buries them */

TQI_LINKS(peer_links, tqi_waiter_at, tqi_waiter, peer_older, peer_newer)

static inline struct tqi_list list_of(struct tqi_tx *tx, uint32_t q)
{
	struct tqi_room *room = &tqi_root(tx)->room;

	if (!q)
		return (struct tqi_list){ peer_links, &room->oldest, &room->newest };
	struct tqi_queue *queue = tqi_queue_at(tx, q);

	return (struct tqi_list){ peer_links, &queue->room_oldest, &queue->room_newest };
}

static void set_put(struct tqi_tx *tx, uint32_t q, bool in)
{
	struct tqi_queue_set *queues = &tqi_root(tx)->room.queues;

	if (q && tqi_queue_set_has(queues, q) != in)
		tqi_queue_set_flip(tx, queues, q);
}

void tqi_room_enter(struct tqi_tx *tx, uint32_t w)
{
	uint32_t q = tqi_waiter_at(tx, w)->subject;

	tqi_list_append(tx, list_of(tx, q), w);
	set_put(tx, q, true);
}

void tqi_room_leave(struct tqi_tx *tx, uint32_t w)
{
	uint32_t q = tqi_waiter_at(tx, w)->subject;
	const struct tqi_list list = list_of(tx, q);

	tqi_list_remove(tx, list, w);
	if (!*list.first)
		set_put(tx, q, false);
}

void tqi_room_opens(struct tqi_tx *tx, uint32_t q)
{
	if (tqi_queue_at(tx, q)->room_oldest)
		set_put(tx, q, true);
}

/* The oldest one that lives; 0 none among the first, and whether there are more in `ret_more`. */
static uint32_t oldest_of(struct tqi_tx *tx, uint32_t q, bool *ret_more)
{
	uint32_t w = *list_of(tx, q).first;

	for (uint32_t i = 0; w && i < DEAD_LOOKS && !tx->corrupt; i++) {
		struct tqi_waiter *s = tqi_waiter_at(tx, w);

		if (!tqi_mutex_owner_died(&s->mutex))
			return w;
		w = s->peer_newer;
	}
	*ret_more |= w != 0;
	return 0;
}

/* The next queue of the set, in turns; 0 none. */
static uint32_t queue_behind(const struct tqi_queue_set *queues, uint32_t q)
{
	uint32_t next = tqi_queue_set_next(queues, q + 1);

	return next ? next : tqi_queue_set_next(queues, 1);
}

/* The same of all queues in the set: of the one whose turn it is. */
static uint32_t oldest_of_a_queue(struct tqi_tx *tx, bool *ret_more)
{
	const struct tqi_room *room = &tqi_root(tx)->room;
	uint32_t q = room->turn, first = 0, w;

	for (uint32_t i = 0; i < QUEUES_LOOKS && !tx->corrupt; i++) {
		q = queue_behind(&room->queues, q);
		if (!q || q == first)
			return 0;
		first = first ? first : q;
		if (!tqi_room_has_depth(tx, q))
			set_put(tx, q, false); /* RO-2 */
		else if ((w = oldest_of(tx, q, ret_more)))
			return w;
	}
	*ret_more |= queue_behind(&room->queues, q) != 0;
	return 0;
}

uint32_t tqi_room_next(struct tqi_tx *tx)
{
	struct tqi_room *room = &tqi_root(tx)->room;
	bool more = false;
	uint32_t any = oldest_of(tx, 0, &more), w = oldest_of_a_queue(tx, &more);

	if (any && (!w || tqi_waiter_at(tx, any)->turn < tqi_waiter_at(tx, w)->turn))
		w = any;
	const uint32_t q = w ? tqi_waiter_at(tx, w)->subject : 0, again = !w && more; /* RO-3 */

	if (q && q != room->turn)
		TQI_SET(tx, room->turn, q);
	if (again != room->again)
		TQI_SET(tx, room->again, again);
	return tx->corrupt ? 0 : w;
}
