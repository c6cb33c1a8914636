/* SPDX-License-Identifier: MIT */
/*
 * Submitters asleep for room, by queue: whoever makes some finds one that can use it, and meets
 * none of those whose queue is full.
 *
 * RO-1  A listed sleeper for room stands on the list of its subject, oldest first: of a queue
 *     whose depth it may wait for, or, with 0, of the root.
 * RO-2  A queue with such sleepers that is not full is in the root's set of them.  Whoever
 *     makes it less full puts it there, and the search that finds it full takes it out: so
 *     it is met in vain once for each time that something has left it, or come to sleep.
 * RO-3  A search ends after some queues, or some dead sleepers; the keeper goes on with it.
 */
#ifndef TQI_SCHEDULER_WAKE_ROOM_H
#define TQI_SCHEDULER_WAKE_ROOM_H

#include "scheduler/record/records.h"

/* A slot that sleeps for room has just been listed, or is about to leave the list. */
void tqi_room_enter(struct tqi_tx *tx, uint32_t slot);
void tqi_room_leave(struct tqi_tx *tx, uint32_t slot);

/* A queue may be less full than it was. */
void tqi_room_opens(struct tqi_tx *tx, uint32_t queue);

/*
 * Of those whose queue is not full: of the queue whose turn it is, or for no queue's depth,
 * whoever waits longest; 0 none.  It is to be popped.
 */
uint32_t tqi_room_next(struct tqi_tx *tx);

/* Whether the queue of a sleeper for room, its subject, has place for a task. */
static inline bool tqi_room_has_depth(struct tqi_tx *tx, uint32_t q)
{
	return !q || tqi_queue_at(tx, q)->waiting < tqi_queue_at(tx, q)->depth_max;
}

#endif
