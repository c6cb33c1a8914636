/* SPDX-License-Identifier: MIT */
/* Sleeping workers by queue and kinds. */
#include "scheduler/wake/asleep.h"

#include <string.h>

#include "scheduler/record/queue_set.h"
#include "scheduler/record/serves.h"
#include "scheduler/record/stream.h"
#include "shm/list.h"
#include "shm/domain.h"
#include "shm/lock.h"

#define STALLED_LOOKS 256 /* ranks of one stack passed over because they stall: some 20 us */

struct tqi_rank *tqi_rank_at(struct tqi_tx *tx, uint32_t ref)
{
	return &tqi_worker_at(tx, tqi_rank_worker(ref))->ranks[ref % TQ_WORKER_QUEUES_MAX];
}

static bool has_same_kinds(struct tqi_tx *tx, const struct tqi_worker *worker, uint32_t ref)
{
	return memcmp(worker->kinds, tqi_worker_at(tx, tqi_rank_worker(ref))->kinds,
		      sizeof(worker->kinds)) == 0;
}

/* The leader of those with the same kinds; 0 none. */
static uint32_t leader_like(struct tqi_tx *tx, const struct tqi_queue *queue,
			    const struct tqi_worker *worker)
{
	uint32_t ref = queue->asleep, steps = 0;

	while (ref && !has_same_kinds(tx, worker, ref) && tqi_table_walks(tx, TQI_WORKERS, &steps))
		ref = tqi_rank_at(tx, ref)->next;
	return tx->corrupt ? 0 : ref;
}

TQI_LINKS(rank_links, tqi_rank_at, tqi_rank, prev, next)

/* The stacks of a queue, by who leads them. */
static inline struct tqi_list leaders_of(struct tqi_queue *queue)
{
	return (struct tqi_list){ rank_links, &queue->asleep, NULL };
}

static uint64_t turn_of(struct tqi_tx *tx, uint32_t ref)
{
	return tqi_waiter_at(tx, tqi_worker_at(tx, tqi_rank_worker(ref))->asleep)->turn;
}

/* On top of its stack; below newer ones when only its kinds have changed. */
static void rank_enter(struct tqi_tx *tx, const struct tqi_worker *worker, uint32_t q, uint32_t ref)
{
	struct tqi_queue *queue = tqi_queue_at(tx, q);
	struct tqi_rank *rank = tqi_rank_at(tx, ref);
	uint32_t above = 0, below = leader_like(tx, queue, worker), steps = 0;

	while (below && turn_of(tx, below) > turn_of(tx, ref) &&
	       tqi_table_walks(tx, TQI_WORKERS, &steps)) {
		above = below;
		below = tqi_rank_at(tx, below)->below;
	}
	TQI_SET(tx, rank->above, above);
	TQI_SET(tx, rank->below, below);
	if (!queue->asleep)
		tqi_queue_set_flip(tx, &tqi_root(tx)->asleep_queues, q);
	if (above)
		TQI_SET(tx, tqi_rank_at(tx, above)->below, ref);
	else if (below)
		tqi_list_put(tx, leaders_of(queue), ref, tqi_rank_at(tx, below)->prev,
			     tqi_rank_at(tx, below)->next);
	else
		tqi_list_push(tx, leaders_of(queue), ref);
	if (below)
		TQI_SET(tx, tqi_rank_at(tx, below)->above, ref);
}

static void rank_leave(struct tqi_tx *tx, uint32_t q, uint32_t ref)
{
	const struct tqi_rank *rank = tqi_rank_at(tx, ref);
	struct tqi_queue *queue = tqi_queue_at(tx, q);

	if (rank->below)
		TQI_SET(tx, tqi_rank_at(tx, rank->below)->above, rank->above);
	if (rank->above) {
		TQI_SET(tx, tqi_rank_at(tx, rank->above)->below, rank->below);
		return;
	}
	if (rank->below)
		tqi_list_put(tx, leaders_of(queue), rank->below, rank->prev, rank->next);
	else
		tqi_list_remove(tx, leaders_of(queue), ref);
	if (!queue->asleep)
		tqi_queue_set_flip(tx, &tqi_root(tx)->asleep_queues, q);
}

void tqi_asleep_enter(struct tqi_tx *tx, uint32_t w, uint32_t slot)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	tqi_asleep_leave(tx, w);
	TQI_SET(tx, worker->asleep, slot);
	for (uint32_t i = 0; i < TQ_WORKER_QUEUES_MAX && !tx->corrupt; i++)
		if (tqi_worker_has_queue(worker, i))
			rank_enter(tx, worker, worker->queues[i], tqi_rank_ref(w, i));
}

void tqi_asleep_leave(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	if (!worker->asleep)
		return;
	for (uint32_t i = 0; i < TQ_WORKER_QUEUES_MAX && !tx->corrupt; i++)
		if (tqi_worker_has_queue(worker, i))
			rank_leave(tx, worker->queues[i], tqi_rank_ref(w, i));
	TQI_SET(tx, worker->asleep, 0u);
}

/* Whether the sleeper of a rank may be popped: its owner lives, and nothing that stops with it
 * stalls. */
static bool may_come(struct tqi_tx *tx, uint32_t ref, const struct tqi_stalls *stalls)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, tqi_rank_worker(ref));
	const struct tqi_waiter *s = tqi_waiter_at(tx, worker->asleep);

	return worker->state == TQI_WORKER_LIVE && !tqi_mutex_owner_died(&s->mutex) &&
	       !tqi_stalls_have(stalls, s->domain);
}

/* The newest of a stack that may be popped; 0 none, or none among the first when many stall. */
static uint32_t newest_of(struct tqi_tx *tx, uint32_t leader, const struct tqi_stalls *stalls)
{
	uint32_t steps = 0, looks = stalls->count ? STALLED_LOOKS : UINT32_MAX;

	for (uint32_t ref = leader; ref && looks && tqi_table_walks(tx, TQI_WORKERS, &steps);) {
		if (may_come(tx, ref, stalls))
			return ref;
		ref = tqi_rank_at(tx, ref)->below;
		looks--;
	}
	return 0;
}

/* Of `best`, a slot or 0, and the worker of `ref`, whose slot is the newer one. */
static uint32_t newer_of(struct tqi_tx *tx, uint32_t best, uint32_t ref)
{
	uint32_t slot = tqi_worker_at(tx, tqi_rank_worker(ref))->asleep;

	return best && tqi_waiter_at(tx, best)->turn > tqi_waiter_at(tx, slot)->turn ? best : slot;
}

static uint32_t newest_for(struct tqi_tx *tx, const struct tqi_class *class,
			   const struct tqi_stalls *stalls)
{
	uint32_t best = 0, steps = 0;

	for (uint32_t leader = tqi_queue_at(tx, class->queue)->asleep;
	     leader && tqi_table_walks(tx, TQI_WORKERS, &steps);
	     leader = tqi_rank_at(tx, leader)->next) {
		if (!tqi_worker_serves_kind(tqi_worker_at(tx, tqi_rank_worker(leader)),
					    class->kind))
			continue;
		uint32_t ref = newest_of(tx, leader, stalls);

		if (ref)
			best = newer_of(tx, best, ref);
	}
	return tx->corrupt ? 0 : best;
}

/* Nobody's sleep is a reason to leave work alone: if there are none else, those that stall. */
uint32_t tqi_asleep_for(struct tqi_tx *tx, const struct tqi_class *class)
{
	struct tqi_stalls stalls;

	tqi_stalls_find(tx, &stalls);
	uint32_t best = newest_for(tx, class, &stalls);

	return best || !stalls.count ? best : newest_for(tx, class, &(struct tqi_stalls){ 0 });
}

/*
 * Which of a queue's stacks have something to start does not depend on who asks; if the queue
 * has no unfinished tasks, none has: who serves others as well stands in theirs.
 */
static uint32_t startable_of(struct tqi_tx *tx, const struct tqi_queue *queue, uint32_t best,
			     tqi_asleep_can_start *can_start, const struct tqi_stalls *stalls)
{
	uint32_t steps = 0, before = best;

	if (!tqi_streams_are_busy(queue))
		return best;
	for (uint32_t leader = queue->asleep; leader && tqi_table_walks(tx, TQI_WORKERS, &steps);
	     leader = tqi_rank_at(tx, leader)->next) {
		uint32_t ref = newest_of(tx, leader, stalls);

		if (ref && newer_of(tx, best, ref) != best &&
		    can_start(tx, tqi_worker_at(tx, tqi_rank_worker(ref))))
			best = newer_of(tx, best, ref);
	}
	if (best == before)
		tqi_streams_rest(tx, queue);
	return best;
}

static uint32_t newest_startable(struct tqi_tx *tx, tqi_asleep_can_start *can_start,
				 const struct tqi_stalls *stalls)
{
	const struct tqi_queue_set *queues = &tqi_root(tx)->asleep_queues;
	uint32_t best = 0;

	for (uint32_t q = tqi_queue_set_next(queues, 1); q && !tx->corrupt;
	     q = tqi_queue_set_next(queues, q + 1))
		best = startable_of(tx, tqi_queue_at(tx, q), best, can_start, stalls);
	return tx->corrupt ? 0 : best;
}

uint32_t tqi_asleep_startable(struct tqi_tx *tx, tqi_asleep_can_start *can_start)
{
	struct tqi_stalls stalls;

	tqi_stalls_find(tx, &stalls);
	uint32_t best = newest_startable(tx, can_start, &stalls);

	return best || !stalls.count ? best
				     : newest_startable(tx, can_start, &(struct tqi_stalls){ 0 });
}

void tqi_asleep_wake(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	if (s->interest == TQI_INTEREST_WORK && tqi_worker_at(tx, s->subject)->asleep == w)
		tqi_asleep_leave(tx, s->subject);
}
