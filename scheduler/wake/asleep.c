/* SPDX-License-Identifier: MIT */
/* Sleeping workers by queue, and by what they do. */
#include "scheduler/wake/asleep.h"

#include <string.h>

#include "scheduler/record/queue_set.h"
#include "scheduler/record/serves.h"
#include "scheduler/record/stream.h"
#include "shm/list.h"
#include "shm/domain.h"
#include "shm/lock.h"

#define STALLED_LOOKS 256 /* ranks of one stack passed over because they stall: some 20 us */
#define THIEVES_ASKED 16  /* of one stack; each may go through the lists of 32 workers */
#define COMMANDS UINT32_MAX /* in the place of a kind: who takes commands */

struct tqi_rank *tqi_rank_at(struct tqi_tx *tx, uint32_t ref)
{
	return &tqi_worker_at(tx, tqi_rank_worker(ref))->ranks[ref % TQ_WORKER_QUEUES_MAX];
}

static bool is_alike(struct tqi_tx *tx, const struct tqi_worker *worker, uint32_t ref)
{
	const struct tqi_worker *other = tqi_worker_at(tx, tqi_rank_worker(ref));

	return memcmp(worker->kinds, other->kinds, sizeof(worker->kinds)) == 0 &&
	       tqi_asleep_sort(worker) == tqi_asleep_sort(other);
}

/* The leader of those that do the same; 0 none. */
static uint32_t leader_like(struct tqi_tx *tx, const struct tqi_queue *queue,
			    const struct tqi_worker *worker)
{
	uint32_t ref = queue->asleep, steps = 0;

	while (ref && !is_alike(tx, worker, ref) && tqi_table_walks(tx, TQI_WORKERS, &steps))
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

/* Whether those of a stack serve this kind; COMMANDS: take commands. */
static bool serves(const struct tqi_worker *leader, uint32_t kind)
{
	const uint32_t takers = TQI_WORKER_COMMANDS | TQI_WORKER_MASTER;

	return kind == COMMANDS ? (leader->flags & takers) == TQI_WORKER_COMMANDS
				: tqi_worker_serves_kind(leader, kind);
}

static uint32_t newest_for(struct tqi_tx *tx, uint32_t q, uint32_t kind,
			   const struct tqi_stalls *stalls)
{
	uint32_t best = 0, steps = 0;

	for (uint32_t leader = tqi_queue_at(tx, q)->asleep;
	     leader && tqi_table_walks(tx, TQI_WORKERS, &steps);
	     leader = tqi_rank_at(tx, leader)->next) {
		if (!serves(tqi_worker_at(tx, tqi_rank_worker(leader)), kind))
			continue;
		uint32_t ref = newest_of(tx, leader, stalls);

		if (ref)
			best = newer_of(tx, best, ref);
	}
	return tx->corrupt ? 0 : best;
}

/* Nobody's sleep is a reason to leave work alone: if there are none else, those that stall. */
static uint32_t one_for(struct tqi_tx *tx, uint32_t q, uint32_t kind)
{
	struct tqi_stalls stalls;

	tqi_stalls_find(tx, &stalls);
	uint32_t best = newest_for(tx, q, kind, &stalls);

	return best || !stalls.count ? best : newest_for(tx, q, kind, &(struct tqi_stalls){ 0 });
}

uint32_t tqi_asleep_for(struct tqi_tx *tx, const struct tqi_class *class)
{
	return one_for(tx, class->queue, class->kind);
}

uint32_t tqi_asleep_commanded(struct tqi_tx *tx, uint32_t q)
{
	return one_for(tx, q, COMMANDS);
}

/* The newest of a stack that could start something; 0 none, or not newer than the best so far. */
static uint32_t startable_in(struct tqi_tx *tx, uint32_t leader, uint32_t best,
			     tqi_asleep_can_start *can_start, const struct tqi_stalls *stalls)
{
	uint32_t asks = tqi_worker_at(tx, tqi_rank_worker(leader))->steal_max ? THIEVES_ASKED : 1;
	uint32_t steps = 0;

	for (uint32_t ref = newest_of(tx, leader, stalls);
	     ref && asks && newer_of(tx, best, ref) != best &&
	     tqi_table_walks(tx, TQI_WORKERS, &steps);
	     ref = newest_of(tx, tqi_rank_at(tx, ref)->below, stalls), asks--)
		if (can_start(tx, tqi_worker_at(tx, tqi_rank_worker(ref))))
			return ref;
	return 0;
}

/* Of a queue with unfinished tasks, or that had some since it was met last. */
static uint32_t startable_of(struct tqi_tx *tx, const struct tqi_queue *queue, uint32_t best,
			     tqi_asleep_can_start *can_start, const struct tqi_stalls *stalls)
{
	uint32_t steps = 0, before = best;

	for (uint32_t leader = queue->asleep; leader && tqi_table_walks(tx, TQI_WORKERS, &steps);
	     leader = tqi_rank_at(tx, leader)->next) {
		uint32_t ref = startable_in(tx, leader, best, can_start, stalls);

		if (ref)
			best = newer_of(tx, best, ref);
	}
	if (best == before)
		tqi_streams_rest(tx, queue);
	return best;
}

/* Queues without unfinished tasks are not met: who serves others as well stands in theirs. */
static uint32_t newest_startable(struct tqi_tx *tx, tqi_asleep_can_start *can_start,
				 const struct tqi_stalls *stalls)
{
	const struct tqi_queue_set *asleep = &tqi_root(tx)->asleep_queues;
	const struct tqi_queue_set *busy = &tqi_root(tx)->busy_queues;
	uint32_t best = 0;

	for (uint32_t q = tqi_queue_set_next_of(asleep, busy, 1); q && !tx->corrupt;
	     q = tqi_queue_set_next_of(asleep, busy, q + 1))
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
