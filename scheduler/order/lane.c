/* SPDX-License-Identifier: MIT */
/* Lanes with limits: made and freed, parked and opened. */
#include "scheduler/order/lane.h"

#include <errno.h>
#include <string.h>

#include "scheduler/order/fair.h"
#include "scheduler/limit/limit.h"

/* Records: found by class and limits, and made. */

uint64_t tqi_lane_hash(struct tqi_tx *tx, uint32_t c, const uint32_t limits[TQ_LIMITS_MAX],
		       bool is_parking)
{
	uint32_t words[TQ_LIMITS_MAX + 2] = { c, is_parking };

	memcpy(words + 2, limits, TQ_LIMITS_MAX * sizeof(*limits));
	return tqi_hash_bytes(tqi_root(tx)->seed, words, sizeof(words));
}

static uint32_t find(struct tqi_tx *tx, uint32_t c, const uint32_t limits[TQ_LIMITS_MAX],
		     bool is_parking)
{
	const struct tqi_hash_index *index = &tqi_root(tx)->named.lanes;

	if (!index->count)
		return 0;
	uint32_t l = tqi_hash_first(tx, index, TQI_LANES, tqi_lane_hash(tx, c, limits, is_parking));

	for (; l && !tx->corrupt; l = tqi_hash_next(tx, index, TQI_LANES, l)) {
		const struct tqi_lane *lane = tqi_lane_at(tx, l);

		if (lane->class_ == c && lane->is_parking == is_parking &&
		    memcmp(lane->limits, limits, sizeof(lane->limits)) == 0)
			return l;
	}
	return 0;
}

uint32_t tqi_parking_find(struct tqi_tx *tx, uint32_t c, uint32_t limit)
{
	const uint32_t limits[TQ_LIMITS_MAX] = { limit };

	return find(tx, c, limits, true);
}

/* A record of the index, and a place in its class's heap; 0 no memory. */
static uint32_t take(struct tqi_tx *tx, uint32_t c, const uint32_t limits[TQ_LIMITS_MAX],
		     bool is_parking)
{
	struct tqi_class *class = tqi_class_at(tx, c);
	bool full;

	for (uint32_t o = 0; o < tqi_class_orders(class); o++)
		if (tqi_heap_reserve(tx, tqi_class_heap(class, o), class->lane_count + 1) < 0)
			return 0;
	uint32_t l = tqi_table_take(tx, TQI_LANES, &full);

	if (!l)
		return 0;
	struct tqi_lane *lane = tqi_lane_at(tx, l);

	tqi_table_clear(lane, sizeof(*lane));
	TQI_INIT(lane->class_, c);
	TQI_INIT(lane->is_parking, is_parking);
	memcpy(lane->limits, limits, sizeof(lane->limits));
	if (tqi_hash_add(tx, &tqi_root(tx)->named.lanes, TQI_LANES, l,
			 tqi_lane_hash(tx, c, limits, is_parking)) < 0) {
		tqi_table_give(tx, TQI_LANES, l);
		return 0;
	}
	TQI_ADD(tx, class->lane_count, 1);
	return l;
}

static void give(struct tqi_tx *tx, uint32_t l)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);

	tqi_hash_remove(tx, &tqi_root(tx)->named.lanes, TQI_LANES, l);
	tqi_heap_free(tx, &lane->tasks);
	tqi_heap_free(tx, &lane->ages);
	TQI_ADD(tx, tqi_class_at(tx, lane->class_)->lane_count, -1);
	tqi_table_give(tx, TQI_LANES, l);
}

/* One member less; false: there is none left, and the record goes. */
static bool shrink(struct tqi_tx *tx, uint32_t l)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);

	if (!lane->members) {
		give(tx, l);
		return false;
	}
	tqi_heap_trim(tx, &lane->tasks, lane->members);
	tqi_heap_trim(tx, &lane->ages, lane->members);
	return true;
}

/* Another lane may park there. */
static int parking_join(struct tqi_tx *tx, uint32_t c, uint32_t limit)
{
	const uint32_t limits[TQ_LIMITS_MAX] = { limit };
	uint32_t p = tqi_parking_find(tx, c, limit);
	bool found = p;

	if (!found)
		p = take(tx, c, limits, true);
	if (!p)
		return -ENOMEM;
	struct tqi_lane *parking = tqi_lane_at(tx, p);

	if (tqi_lane_reserve(tx, parking, parking->members + 1) < 0) {
		if (!found)
			give(tx, p);
		return -ENOMEM;
	}
	TQI_ADD(tx, parking->members, 1);
	return 0;
}

static void parking_leave(struct tqi_tx *tx, uint32_t c, uint32_t limit)
{
	uint32_t p = tqi_parking_find(tx, c, limit);

	if (!p) {
		tx->corrupt = true;
		return;
	}
	TQI_ADD(tx, tqi_lane_at(tx, p)->members, -1);
	shrink(tx, p);
}

static uint32_t make(struct tqi_tx *tx, uint32_t c, const uint32_t limits[TQ_LIMITS_MAX])
{
	uint32_t joined = 0, l = 0;

	while (joined < TQ_LIMITS_MAX && limits[joined] &&
	       parking_join(tx, c, tqi_need_limit(limits[joined])) == 0)
		joined++;
	if (joined == TQ_LIMITS_MAX || !limits[joined])
		l = take(tx, c, limits, false);
	while (!l && joined > 0)
		parking_leave(tx, c, tqi_need_limit(limits[--joined]));
	return l;
}

uint32_t tqi_lane_find(struct tqi_tx *tx, uint32_t c, const uint32_t limits[TQ_LIMITS_MAX])
{
	uint32_t l = find(tx, c, limits, false);

	return l ? l : make(tx, c, limits);
}

void tqi_lane_shrink(struct tqi_tx *tx, uint32_t l)
{
	const struct tqi_lane *lane = tqi_lane_at(tx, l);

	if (shrink(tx, l))
		return;
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && lane->limits[i] && !tx->corrupt; i++)
		parking_leave(tx, lane->class_, tqi_need_limit(lane->limits[i]));
}

/* Parkings: open, closed, empty. */

static struct tqi_limit *limit_of(struct tqi_tx *tx, const struct tqi_lane *parking)
{
	return tqi_limit_at(tx, parking->limits[0]);
}

TQI_LINKS(parking_links, tqi_lane_at, tqi_lane, prev, next)

static inline struct tqi_list closed_of(struct tqi_limit *limit)
{
	return (struct tqi_list){ parking_links, &limit->closed, NULL };
}

static void tighten(struct tqi_tx *tx, uint32_t x)
{
	tqi_list_remove(tx, tqi_loosened_list(tqi_root(tx)), x);
	TQI_SET(tx, tqi_limit_at(tx, x)->loosened, 0);
}

static void list(struct tqi_tx *tx, uint32_t p, struct tqi_lane *parking)
{
	tqi_list_push(tx, closed_of(limit_of(tx, parking)), p);
	TQI_SET(tx, parking->state, TQI_PARKING_CLOSED);
}

static void unlist(struct tqi_tx *tx, uint32_t p, const struct tqi_lane *parking)
{
	struct tqi_limit *limit = limit_of(tx, parking);

	tqi_list_remove(tx, closed_of(limit), p);
	if (!limit->closed && limit->loosened)
		tighten(tx, parking->limits[0]);
}

static void parking_follow(struct tqi_tx *tx, uint32_t p, const struct tqi_heads *before);

/*
 * The one way in which a head changes upwards: a lane or a parking stands by its first ones, which
 * were `before`, in the heaps of parking `p`, or (0) of its class, and these follow.
 */
static void stand(struct tqi_tx *tx, uint32_t l, uint32_t p, const struct tqi_heads *before,
		  bool is_there, bool is_to_be)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l), *parking = p ? tqi_lane_at(tx, p) : NULL;
	struct tqi_class *class = tqi_class_at(tx, lane->class_);
	const struct tqi_heads parked = p ? tqi_lane_heads(parking)
					  : (struct tqi_heads){ .length = 0 };

	for (uint32_t o = 0; o < tqi_class_orders(class); o++)
		tqi_lane_stand(tx, l, lane, o,
			       p ? tqi_lane_heap(parking, o) : tqi_class_heap(class, o), before,
			       is_there, is_to_be);
	if (p)
		parking_follow(tx, p, &parked);
	else if (class->watched)
		tqi_class_follow(tx, lane->class_);
}

/* By what it has now. */
static void come(struct tqi_tx *tx, uint32_t l, uint32_t p)
{
	const struct tqi_heads heads = tqi_lane_heads(tqi_lane_at(tx, l));

	stand(tx, l, p, &heads, false, true);
}

static void go(struct tqi_tx *tx, uint32_t l, uint32_t p)
{
	const struct tqi_heads heads = tqi_lane_heads(tqi_lane_at(tx, l));

	stand(tx, l, p, &heads, true, false);
}

static void open_parking(struct tqi_tx *tx, uint32_t p, struct tqi_lane *parking)
{
	come(tx, p, 0);
	TQI_SET(tx, parking->state, TQI_PARKING_OPEN);
}

static void close_parking(struct tqi_tx *tx, uint32_t p, struct tqi_lane *parking)
{
	go(tx, p, 0);
	list(tx, p, parking);
}

/* The last lane has left it. */
static void empty(struct tqi_tx *tx, uint32_t p, struct tqi_lane *parking)
{
	if (parking->state == TQI_PARKING_OPEN)
		go(tx, p, 0);
	else
		unlist(tx, p, parking);
	TQI_SET(tx, parking->state, TQI_PARKING_EMPTY);
}

/* Its first lanes have changed. */
static void parking_follow(struct tqi_tx *tx, uint32_t p, const struct tqi_heads *before)
{
	struct tqi_lane *parking = tqi_lane_at(tx, p);

	if (!parking->tasks.length)
		empty(tx, p, parking);
	else if (!before->length && tqi_limit_is_full(limit_of(tx, parking), tx->now_ns))
		list(tx, p, parking);
	else if (!before->length)
		open_parking(tx, p, parking);
	else if (parking->state == TQI_PARKING_OPEN)
		stand(tx, p, 0, before, true, true);
}

/* Lanes: in their class's heap, or parked. */

static void park(struct tqi_tx *tx, uint32_t l, uint32_t limit)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);
	uint32_t p = tqi_parking_find(tx, lane->class_, limit);

	TQI_SET(tx, lane->parking, p);
	TQI_ADD(tx, tqi_class_at(tx, lane->class_)->parked, 1);
	come(tx, l, p);
}

/* Out of the heaps that it is in. */
static void leave(struct tqi_tx *tx, uint32_t l)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);
	uint32_t p = lane->parking;

	if (p) {
		TQI_SET(tx, lane->parking, 0u);
		TQI_ADD(tx, tqi_class_at(tx, lane->class_)->parked, -1);
	}
	go(tx, l, p);
}

static void enter(struct tqi_tx *tx, uint32_t l)
{
	uint32_t full = tqi_limits_full(tx, tqi_lane_at(tx, l)->limits);

	if (full)
		park(tx, l, full);
	else
		come(tx, l, 0);
}

void tqi_lane_follow(struct tqi_tx *tx, uint32_t l, const struct tqi_heads *before)
{
	const struct tqi_lane *lane = tqi_lane_at(tx, l);

	if (!lane->tasks.length)
		leave(tx, l);
	else if (!before->length)
		enter(tx, l);
	else
		stand(tx, l, lane->parking, before, true, true);
}

bool tqi_lane_open(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);

	if (!tqi_limits_refill(tx))
		return false;
	while (root->limit.loosened && !tx->corrupt) {
		struct tqi_limit *limit = tqi_limit_at(tx, root->limit.loosened);
		uint32_t p = limit->closed;

		if (tqi_tx_is_filling(tx))
			return false;
		if (tqi_limit_is_full(limit, tx->now_ns)) { /* again */
			tighten(tx, root->limit.loosened);
			continue;
		}
		unlist(tx, p, tqi_lane_at(tx, p));
		open_parking(tx, p, tqi_lane_at(tx, p));
	}
	return true;
}

bool tqi_lane_clear(struct tqi_tx *tx, struct tqi_class *class, uint32_t order)
{
	const struct tqi_heap *heap = tqi_class_heap(class, order);

	while (heap->length && !tx->corrupt) {
		uint32_t l = tqi_tag_index(heap->root.tag), p = 0;
		struct tqi_lane *lane = tqi_lane_at(tx, l);

		if (lane->is_parking) {
			p = l;
			l = tqi_tag_index(tqi_lane_heap(lane, order)->root.tag);
		}
		bool closed = p && tqi_limit_is_full(limit_of(tx, lane), tx->now_ns);
		uint32_t full = closed ? 0 : tqi_limits_full(tx, tqi_lane_at(tx, l)->limits);

		if (!closed && !full)
			return true;
		if (tqi_tx_is_filling(tx))
			return false;
		if (closed) {
			close_parking(tx, p, lane);
		} else {
			leave(tx, l);
			park(tx, l, full);
		}
	}
	return true;
}
