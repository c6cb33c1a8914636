/* SPDX-License-Identifier: MIT */
/* Classes and lanes: found or made for a task, and given back. */
#ifndef TQI_SCHEDULER_ORDER_CLASS_H
#define TQI_SCHEDULER_ORDER_CLASS_H

#include "scheduler/record/records.h"

/* What a task's lane follows from. */
struct tqi_place {
	uint32_t queue;
	uint32_t kind;
	int32_t priority;
	uint32_t tenant;	/* of its fair key; 0 none */
	const uint32_t *limits; /* NULL none */
};
/* Of a task; in another queue, once its record names the tenant there. */
struct tqi_place tqi_place_of(struct tqi_tx *tx, const struct tqi_task *task);

/*
 * Lane of the queue's era for a task, with room for one more member in every heap;
 * 0 = no memory: nothing half-made is left.
 */
uint32_t tqi_lane_room(struct tqi_tx *tx, const struct tqi_place *place);
/*
 * The same of a task without rare settings where nothing is to be looked for: its queue has no
 * bands and no tenants, and the newest class is of its kind, and has room.  0: it is not so.
 */
static inline uint32_t tqi_lane_newest(struct tqi_tx *tx, const struct tqi_queue *queue,
				       uint32_t kind)
{
	const struct tqi_chain *chain = &queue->chains[queue->era & 1];

	if (((queue->flags & TQI_QUEUE_BANDED) | queue->fair | chain->tournaments) || !chain->first)
		return 0;
	const struct tqi_class *class = tqi_class_at(tx, chain->first);

	if (class->kind != kind || class->band || class->aged)
		return 0;
	const struct tqi_lane *lane = tqi_lane_at(tx, class->plain);

	return lane->tasks.capacity > lane->members ? class->plain : 0;
}
/* The same as the first, and the member is in. */
uint32_t tqi_lane_join(struct tqi_tx *tx, const struct tqi_place *place);
/* A member leaves; it has left, and is not counted any more: memory may go back. */
void tqi_lane_leave(struct tqi_tx *tx, uint32_t lane);
void tqi_lane_shrink_all(struct tqi_tx *tx, uint32_t lane);
static inline void tqi_lane_left(struct tqi_tx *tx, uint32_t l, const struct tqi_lane *lane)
{
	if (lane->limits[0] | tqi_class_at(tx, lane->class_)->tenant) /* others stay as they are */
		tqi_lane_shrink_all(tx, l);
}

/* Of a task that is not finished. */
static inline struct tqi_class *tqi_class_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_class_at(tx, tqi_lane_at(tx, task->lane)->class_);
}

/*
 * Free the classes of an earlier era that have no members, as many as a transaction has room
 * for.  False: there may be more, and it goes on in the next one.
 */
bool tqi_chain_clear(struct tqi_tx *tx, const struct tqi_chain *chain);
/* The same of a queue's classes of one kind, none of which has a member. */
bool tqi_class_clear(struct tqi_tx *tx, const struct tqi_queue *queue, uint32_t kind);

#endif
