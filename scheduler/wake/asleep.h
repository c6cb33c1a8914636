/* SPDX-License-Identifier: MIT */
/*
 * Workers asleep for work, by queue, by set of kinds and by what else they do: whoever has
 * something to start in a queue finds the newest that can, and meets none of those who wait
 * for other things.
 *
 * SL-1  A worker is in here <=> its wait slot is listed, not in transit; `asleep` is the slot.
 *     One record has at most one such slot: a dead owner's goes when the record is taken
 *     apart, or when the next owner falls asleep.
 * SL-2  For each of its queues it stands in the stack of those of them that sleep with the
 *     same kinds, and do or do not take commands, and steal.  The newest leads the stack; the
 *     leaders of a queue are chained from `asleep` of the queue, in no order, and the root has
 *     the set of queues that have any.
 * SL-3  Kinds change only outside of here (tqi_worker_set_kinds() takes it out and in again).
 *
 * A link (`tqi_rank_ref`) is a worker's index and the number of the queue among its own.
 */
#ifndef TQI_SCHEDULER_WAKE_ASLEEP_H
#define TQI_SCHEDULER_WAKE_ASLEEP_H

#include "scheduler/record/records.h"

/* `slot`, of this worker, has just been listed, or is about to leave the list. */
void tqi_asleep_enter(struct tqi_tx *tx, uint32_t worker, uint32_t slot);
void tqi_asleep_leave(struct tqi_tx *tx, uint32_t worker);
/* A slot, of whomever, is about to leave the list, if it is there. */
void tqi_asleep_wake(struct tqi_tx *tx, uint32_t slot);

#define TQI_ASLEEP_STEALS (1u << 31) /* beside the flags of a worker */
/* What a worker does beside tasks of its kinds; who stand in one stack do the same. */
static inline uint32_t tqi_asleep_sort(const struct tqi_worker *worker)
{
	return (worker->flags & (TQI_WORKER_COMMANDS | TQI_WORKER_MASTER)) |
	       (worker->steal_max ? TQI_ASLEEP_STEALS : 0);
}

/*
 * The newest that serves this class, its slot; 0 none.  Where one has long been in transit,
 * others of its stop domain come last (shm/domain.h).
 */
uint32_t tqi_asleep_for(struct tqi_tx *tx, const struct tqi_class *class);
/* The newest that serves this queue and takes commands, in the same way; 0 none. */
uint32_t tqi_asleep_commanded(struct tqi_tx *tx, uint32_t queue);
/*
 * The newest that could start something, whatever it is, in the same way; 0 none.  What is
 * ready can be started by all of a stack or by none, what can be stolen is each one's own to
 * say: of a stack some are asked.
 */
typedef bool tqi_asleep_can_start(struct tqi_tx *tx, const struct tqi_worker *worker);
uint32_t tqi_asleep_startable(struct tqi_tx *tx, tqi_asleep_can_start *can_start);

/* The rank that a reference names, and the reference of a worker's rank. */
struct tqi_rank *tqi_rank_at(struct tqi_tx *tx, uint32_t ref);
static inline uint32_t tqi_rank_ref(uint32_t worker, uint32_t place)
{
	return worker * TQ_WORKER_QUEUES_MAX + place;
}
static inline uint32_t tqi_rank_worker(uint32_t ref)
{
	return ref / TQ_WORKER_QUEUES_MAX;
}

#endif
