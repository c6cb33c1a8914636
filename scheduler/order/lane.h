/* SPDX-License-Identifier: MIT */
/*
 * Lanes of tasks with limits, and where they wait for one.
 *
 * LM-3  The tasks of a class with the same limits and weights form a lane, which is there while
 *     it has members.  It stands by its first task in its class's heap, or in that of a
 *     *parking*: of one of its limits, and its class.  There it costs nobody anything.
 *     A parking is there, with room for all of them, while lanes of its class name its limit.
 * LM-4  A lane is parked, at a full limit, when it gets its first task or when a claim meets
 *     it at the head of its class.  So lanes in the class's heap may be unable to start, if
 *     nobody has met them since.
 * LM-5  A parking with lanes is *open*: in its class's heap, by its first lane's first task; or
 *     *closed*, and listed with its limit.  A claim that meets an open one of a full limit
 *     closes it.  A limit with room and closed parkings is on the root's list of loosened
 *     ones; whoever looks for a task opens these first.
 * LM-6  Each such move costs the same whatever the number of tasks; as many as the journal
 *     has room for are made in a hold, at most 64, and the claim goes on in the next.
 */
#ifndef TQI_SCHEDULER_ORDER_LANE_H
#define TQI_SCHEDULER_ORDER_LANE_H

#include "scheduler/limit/bucket.h"
#include "scheduler/record/records.h"

/*
 * A lane has its tasks, a parking its lanes, and a class both by key and, where the
 * class is aged (PO-6), by age.  A lane or a parking is in the heaps of both orders at the
 * same places, or in none.
 */
enum tqi_order {
	TQI_BY_KEY,
	TQI_BY_AGE,
	TQI_ORDERS
};

static inline uint32_t tqi_class_orders(const struct tqi_class *class_)
{
	return class_->aged ? TQI_ORDERS : TQI_BY_AGE;
}

static inline struct tqi_heap *tqi_lane_heap(struct tqi_lane *lane, uint32_t order)
{
	return order == TQI_BY_AGE ? &lane->ages : &lane->tasks;
}

static inline struct tqi_heap *tqi_class_heap(struct tqi_class *class_, uint32_t order)
{
	return order == TQI_BY_AGE ? &class_->oldest : &class_->open;
}

static inline uint32_t tqi_lane_family(uint32_t order)
{
	return order == TQI_BY_AGE ? TQI_FAMILY_OLDEST : TQI_FAMILY_OPEN;
}

/* The first ones of a lane or parking, in each order. */
struct tqi_heads {
	uint32_t length; /* 0: there are none */
	struct tqi_heap_entry first[TQI_ORDERS];
};

static inline struct tqi_heads tqi_lane_heads(const struct tqi_lane *lane)
{
	return (struct tqi_heads){ lane->tasks.length, { lane->tasks.root, lane->ages.root } };
}

static inline bool tqi_entry_is(const struct tqi_heap_entry *a, const struct tqi_heap_entry *b)
{
	return a->key == b->key && a->tag == b->tag;
}

/* A lane's entry in a heap of lanes: the key and sequence of its first task. */
static inline struct tqi_heap_entry tqi_lane_entry(const struct tqi_heap_entry *first,
						   uint32_t lane)
{
	return (struct tqi_heap_entry){ first->key,
					(first->tag & ~(uint64_t)TQI_INDEX_MASK) | lane };
}

/*
 * In one order, where a lane or a parking stands follows its first one: in this heap, that of
 * its class, or (a lane) of a parking.  `is_there`: it has stood there by the first one of
 * `before`; `is_to_be`: it stands there from now on.
 */
static inline void tqi_lane_stand(struct tqi_tx *tx, uint32_t l, struct tqi_lane *lane,
				  uint32_t order, struct tqi_heap *heap,
				  const struct tqi_heads *before, bool is_there, bool is_to_be)
{
	const struct tqi_heap_entry *first = &tqi_lane_heap(lane, order)->root;

	if (is_there && is_to_be && tqi_entry_is(first, &before->first[order]))
		return;
	tqi_heap_follow(tx, heap, tqi_lane_family(order), tqi_lane_entry(first, l), is_there,
			is_to_be);
}

/* Room for `members` tasks, or lanes of a parking.  -ENOMEM. */
static inline int tqi_lane_reserve(struct tqi_tx *tx, struct tqi_lane *lane, uint32_t members)
{
	int r = tqi_heap_reserve(tx, &lane->tasks, members);

	if (r == 0 && tqi_class_at(tx, lane->class_)->aged)
		r = tqi_heap_reserve(tx, &lane->ages, members);
	return r;
}

/* The lane of a class for these limits, found or made; 0 no memory: nothing half-made is left. */
uint32_t tqi_lane_find(struct tqi_tx *tx, uint32_t class_, const uint32_t limits[TQ_LIMITS_MAX]);
/* A member has left a lane with limits: memory goes back, and after the last one the lane. */
void tqi_lane_shrink(struct tqi_tx *tx, uint32_t lane);

/* The first tasks of a lane with limits have changed from `before`. */
void tqi_lane_follow(struct tqi_tx *tx, uint32_t lane, const struct tqi_heads *before);

/* Open what was loosened, also by time; false: it goes on in the next transaction. */
bool tqi_lane_open(struct tqi_tx *tx);
static inline bool tqi_lane_has_to_open(const struct tqi_tx *tx)
{
	return tqi_root(tx)->limit.loosened || tqi_bucket_due(tx) <= tx->now_ns;
}
/*
 * Move what cannot start away from the head of a class with such lanes, in one order,
 * until what stands there can, or nothing does; false: it goes on in the next transaction.
 */
bool tqi_lane_clear(struct tqi_tx *tx, struct tqi_class *class_, uint32_t order);

/* The first task of a lane, or of the first lane of a parking. */
static inline uint32_t tqi_lane_first(struct tqi_tx *tx, uint32_t l, uint32_t order)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);

	if (lane->is_parking)
		lane = tqi_lane_at(tx, tqi_tag_index(tqi_lane_heap(lane, order)->root.tag));
	return tqi_tag_index(tqi_lane_heap(lane, order)->root.tag);
}

/* Hash in the root's index. */
uint64_t tqi_lane_hash(struct tqi_tx *tx, uint32_t class_, const uint32_t limits[TQ_LIMITS_MAX],
		       bool is_parking);
/* The parking of a limit and class; 0 none. */
uint32_t tqi_parking_find(struct tqi_tx *tx, uint32_t class_, uint32_t limit);

#endif
