/* SPDX-License-Identifier: MIT */
/* Names of queues and kinds, classes and lanes: found, or made on first use. */
#ifndef TQI_SCHEDULER_ORDER_QUEUE_H
#define TQI_SCHEDULER_ORDER_QUEUE_H

#include "scheduler/order/fair.h"
#include "scheduler/order/policy.h"
#include "scheduler/record/records.h"

/*
 * Record of a queue or kind by name; 0 = none.  With `make`, a missing one is
 * made: 0 then means no memory or, with *ret_full, that the table is full, and the
 * transaction must be aborted.
 */
uint32_t tqi_queue_find(struct tqi_tx *tx, const char *name);
uint32_t tqi_queue_make(struct tqi_tx *tx, const char *name, bool *ret_full);
uint32_t tqi_kind_make(struct tqi_tx *tx, const char *name, bool *ret_full);

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
/* The same, and the member is in. */
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

/* Whether unfinished tasks are in a class. */
static inline bool tqi_class_has_members(struct tqi_tx *tx, const struct tqi_class *class_)
{
	return class_->lane_count > 1 || tqi_lane_at(tx, class_->plain)->members;
}

/* Changes of settings; 0 = leave it. */
struct tqi_queue_settings {
	uint64_t depth_max;
	uint64_t timeout_ns;
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	uint32_t attempts_max;
	uint32_t batch; /* TQ_OFF none */
	struct tqi_policy policy;
};
/* 0, or as tqi_policy_set(): then the transaction must be aborted. */
int tqi_queue_set(struct tqi_tx *tx, uint32_t queue, const struct tqi_queue_settings *settings);

/* Pause, drain and their opposites. */
void tqi_queue_flag(struct tqi_tx *tx, uint32_t queue, uint32_t flag, bool on);
/* Condemn what waits now; returns how many.  Swept in slices, honoured at once. */
uint32_t tqi_queue_purge(struct tqi_tx *tx, uint32_t queue);

#endif
