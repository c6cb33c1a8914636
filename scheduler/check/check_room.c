/* SPDX-License-Identifier: MIT */
/* Submitters asleep for room (RO-1, RO-2), and how far those have come that may leave (LV-1). */
#include "scheduler/check/check_state.h"
#include "scheduler/record/queue_set.h"
#include "scheduler/wake/room.h"

/* Those of a queue, 0 of none, oldest first; returns their number. */
static uint32_t check_list(struct tqi_check *c, uint32_t q, uint32_t oldest, uint32_t newest)
{
	struct tqi_check_list list = {
		TQI_CHECK_LIST(TQI_WAITERS, tqi_waiter, peer_older, peer_newer),
		.name = "submitters asleep, queue", .owner = q, .next = oldest
	};
	const struct tqi_waiter *s;
	uint64_t turn = 0;

	while ((s = tqi_check_next(c, &list))) {
		if (s->state != TQI_WAITER_LISTED || s->interest != TQI_INTEREST_ROOM ||
		    s->subject != q || s->turn <= turn)
			tqi_check_break(c, &list);
		turn = s->turn;
	}
	tqi_check_list_end(c, &list, "newest", newest);
	return list.count;
}

/* RO-2 */
static uint32_t check_queue(struct tqi_check *c, uint32_t q, const struct tqi_queue *queue)
{
	bool listed = tqi_queue_set_has(&tqi_root(c->tx)->room.queues, q);

	if (listed ? !queue->room_oldest : queue->room_oldest && tqi_room_has_depth(c->tx, q))
		tqi_check_fault(c, "queue %u: %s those with room for submitters", q,
				listed ? "among" : "not among");
	return check_list(c, q, queue->room_oldest, queue->room_newest);
}

static uint32_t count_asleep(struct tqi_check *c)
{
	uint32_t n = 0;

	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++) {
		const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, w);

		n += s && s->state == TQI_WAITER_LISTED && s->interest == TQI_INTEREST_ROOM;
	}
	return n;
}

/* LV-1: it is a sleeper that may leave. */
static void check_leaving(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, root->leaving_at);

	if (root->leaving_at &&
	    (!s || s->state != TQI_WAITER_LISTED || s->interest != TQI_INTEREST_WORK))
		tqi_check_fault(c, "root: leaving_at is %u", root->leaving_at);
	if (root->leaving_again > 1 || (root->leaving_again && !root->leaving_at))
		tqi_check_fault(c, "root: leaving_again is %u", root->leaving_again);
}

void tqi_check_room(struct tqi_check *c)
{
	const struct tqi_room *room = &tqi_root(c->tx)->room;
	uint32_t n = check_list(c, 0, room->oldest, room->newest);

	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		const struct tqi_queue *queue = tqi_check_record_in_use(c, TQI_QUEUES, q);

		if (queue)
			n += check_queue(c, q, queue);
	}
	tqi_check_equal(c, "root", 0, "submitters asleep", n, count_asleep(c));
	if (room->again > 1)
		tqi_check_fault(c, "root: room.again is %u", room->again);
	check_leaving(c);
}
