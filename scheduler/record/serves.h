/* SPDX-License-Identifier: MIT */
/* What a queue lets start, and what a worker serves: as their records, or copies of them, say. */
#ifndef TQI_SCHEDULER_RECORD_SERVES_H
#define TQI_SCHEDULER_RECORD_SERVES_H

#include "scheduler/record/records.h"

/* SV-4: whether its servers, if it has any, leave room. */
static inline bool tqi_queue_has_room(struct tqi_tx *tx, const struct tqi_queue *queue)
{
	if (!(queue->flags & TQI_QUEUE_SERVED))
		return true;
	return !queue->carry_at && tqi_pool_at(tx, queue->home)->rooms.length;
}

/* Somebody has set it: it is not given back (UN-1). */
static inline void tqi_queue_keep(struct tqi_tx *tx, struct tqi_queue *queue)
{
	if (!(queue->flags & TQI_QUEUE_CONFIGURED))
		TQI_SET(tx, queue->flags, queue->flags | TQI_QUEUE_CONFIGURED);
}

/* Whether something of a queue may start now, as far as it is up to the queue. */
static inline bool tqi_queue_may_start(struct tqi_tx *tx, const struct tqi_queue *queue)
{
	return !(queue->flags & TQI_QUEUE_PAUSED) && tqi_queue_has_room(tx, queue);
}

/* Whether it takes an operator before anything of it can. */
static inline bool tqi_queue_is_stuck(const struct tqi_queue *queue)
{
	return (queue->flags & TQI_QUEUE_PAUSED) ||
	       ((queue->flags & TQI_QUEUE_SERVED) && !queue->servers);
}
/* A2, SV-8: whether tasks assigned to workers may start, or be stolen. */
static inline bool tqi_queue_keeps_assigned(const struct tqi_queue *queue)
{
	return !(queue->flags & (TQI_QUEUE_PAUSED | TQI_QUEUE_SERVED));
}

/* Whether a worker, or a copy of one, serves a kind, a queue; a class. */
static inline bool tqi_worker_serves_kind(const struct tqi_worker *worker, uint32_t kind)
{
	return worker->kinds[kind / 64 & 3] >> (kind % 64) & 1;
}
static inline bool tqi_worker_serves_queue(const struct tqi_worker *worker, uint32_t queue)
{
	for (uint32_t i = 0; i < worker->queue_count && i < TQ_WORKER_QUEUES_MAX; i++)
		if (worker->queues[i] == queue)
			return true;
	return false;
}

/* Whether those kinds are all that there are, or will be: no name is among them. */
static inline bool tqi_kinds_are_all(const uint64_t kinds[4])
{
	return kinds[0] & 1; /* of kind 0, which is none */
}
/* Whether a worker has a queue of this number, which it does not name before. */
static inline bool tqi_worker_has_queue(const struct tqi_worker *worker, uint32_t place)
{
	if (place >= worker->queue_count)
		return false;
	for (uint32_t i = 0; i < place; i++)
		if (worker->queues[i] == worker->queues[place])
			return false;
	return true;
}

static inline bool tqi_worker_serves(const struct tqi_worker *worker, const struct tqi_class *class)
{
	return tqi_worker_serves_kind(worker, class->kind) &&
	       tqi_worker_serves_queue(worker, class->queue);
}

#endif
