/* SPDX-License-Identifier: MIT */
/* Which task is best for a worker. */
#include "scheduler/order/fair.h"
#include "scheduler/order/lane.h"
#include "scheduler/order/policy.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/order/tournament.h"
#include "scheduler/limit/server.h"
#include "scheduler/record/task_record.h"

static bool can_run(const struct tqi_worker *worker, const struct tqi_class *class)
{
	return tqi_worker_serves_kind(worker, class->kind);
}

/* The first one of a class that can start; NULL none.  It may take several transactions (LM-6). */
static const struct tqi_heap_entry *first_of(struct tqi_tx *tx, struct tqi_class *class,
					     uint32_t order, struct tqi_turn *turn)
{
	const struct tqi_heap *heap = tqi_class_heap(class, order);

	if (class->lane_count > 1 && !tqi_lane_clear(tx, class, order))
		turn->is_unsettled = true;
	return heap->length ? &heap->root : NULL;
}

/* Not where heads are compared as what they would be in the queue's era (PO-5). */
static inline bool tournament_decides(struct tqi_tx *tx, const struct tqi_queue *queue,
				      const struct tqi_chain *chain)
{
	return chain->tournaments && tqi_class_at(tx, chain->first)->edf == queue->edf;
}

/*
 * The class with the best head of a band.  One that turns out to wait for limits lets the
 * next one come to the top.
 */
static struct tqi_class *best_of_band(struct tqi_tx *tx, const struct tqi_worker *worker,
				      const struct tqi_tournament *t, uint32_t order,
				      struct tqi_turn *turn)
{
	uint32_t c;

	while (t && order < t->orders && (c = tqi_tournament_best(t, order, worker->kinds)) &&
	       !tx->corrupt) {
		struct tqi_class *class = tqi_class_at(tx, c);
		const struct tqi_heap_entry before = tqi_class_heap(class, order)->root;
		uint32_t stores = tx->undo_count;
		const struct tqi_heap_entry *first = first_of(tx, class, order, turn);

		if (turn->is_unsettled)
			return NULL;
		if (first && tqi_entry_is(first, &before))
			return class;
		if (tx->undo_count == stores)
			tx->corrupt = true; /* it would be the best one for ever */
	}
	return NULL;
}

/* A head, as it stands now: `rank` decides, then `urgency`. */
struct head {
	int64_t urgency;
	uint64_t tag; /* sequence and lane; 0 none */
	uint32_t rank;
	uint32_t band;
};

static bool is_before(const struct head *a, const struct head *b)
{
	if (!b->tag || a->rank != b->rank)
		return !b->tag || a->rank > b->rank;
	return a->urgency > b->urgency ||
	       (a->urgency == b->urgency && (int64_t)(a->tag - b->tag) < 0);
}

/* PO-5: by what it would be in the queue's era. */
static struct head foreign_head(struct tqi_tx *tx, const struct tqi_queue *queue,
				const struct tqi_class *class)
{
	uint32_t first = tqi_lane_first(tx, tqi_tag_index(class->open.root.tag), TQI_BY_KEY);
	const struct tqi_task *task = tqi_task_at(tx, first);
	const struct tqi_worth w = tqi_worth_of(tx, task);
	uint32_t band = tqi_policy_band(queue, w.priority), rate = queue->ageing[band];
	int64_t key = tqi_policy_key(rate, task->ready_ns, w.priority);

	if (queue->edf)
		return (struct head){ w.deadline_ns < INT64_MAX ? -(int64_t)w.deadline_ns
								: -INT64_MAX,
				      class->open.root.tag, band, class->band };
	return (struct head){ tqi_policy_urgency(rate, tx->now_ns, key), class->open.root.tag, 0,
			      class->band };
}

static struct head head_of(struct tqi_tx *tx, const struct tqi_queue *queue,
			   const struct tqi_class *class)
{
	const struct tqi_heap_entry *entry = &class->open.root;

	if (class->edf != queue->edf)
		return foreign_head(tx, queue, class);
	if (class->edf)
		return (struct head){ -entry->key, entry->tag, class->band, class->band };
	return (struct head){ tqi_policy_urgency(class->rate, tx->now_ns, entry->key), entry->tag,
			      0, class->band };
}

/* The best head so far, and the best one of the least urgent band. */
struct heads {
	struct head best, least;
};

static void consider(struct heads *heads, const struct head *head)
{
	uint32_t least = heads->least.band;

	if (is_before(head, &heads->best))
		heads->best = *head;
	if (head->band < least || (head->band == least && is_before(head, &heads->least)))
		heads->least = *head;
}

static void consider_bands(struct tqi_tx *tx, const struct tqi_worker *worker,
			   const struct tqi_queue *queue, const struct tqi_chain *chain,
			   struct heads *heads, struct tqi_turn *turn)
{
	for (uint32_t b = 0; b < TQ_BANDS; b++) {
		const struct tqi_class *class = best_of_band(
			tx, worker, tqi_tournament_at(tx, chain->tournaments, b), TQI_BY_KEY, turn);
		const struct head head = class ? head_of(tx, queue, class) : (struct head){ 0 };

		if (class)
			consider(heads, &head);
	}
}

static void consider_chain(struct tqi_tx *tx, const struct tqi_worker *worker,
			   const struct tqi_queue *queue, const struct tqi_chain *chain,
			   struct heads *heads, struct tqi_turn *turn)
{
	uint32_t c = chain->first, steps = 0;

	if (tournament_decides(tx, queue, chain)) {
		consider_bands(tx, worker, queue, chain, heads, turn);
		return;
	}
	while (c) {
		struct tqi_class *class = tqi_class_at(tx, c);

		if (can_run(worker, class) && first_of(tx, class, TQI_BY_KEY, turn)) {
			const struct head head = head_of(tx, queue, class);

			consider(heads, &head);
		}
		c = tqi_class_next(tx, class, &steps);
	}
}

/* PO-1, PO-5, PO-7: classes of several rates, bands or eras, compared now; equal ones by sequence. */
static uint32_t most_urgent(struct tqi_tx *tx, const struct tqi_worker *worker,
			    const struct tqi_queue *queue, struct tqi_turn *turn)
{
	struct heads heads = { { 0, 0, 0, 0 }, { 0, 0, 0, TQ_BANDS } };

	for (const struct tqi_chain *chain = turn->chains; chain < turn->chains + 2; chain++)
		consider_chain(tx, worker, queue, chain, &heads, turn);
	if (queue->hybrid && queue->hybrid_count >= queue->hybrid)
		heads.best = heads.least;
	turn->is_least = heads.best.band == heads.least.band;
	return tqi_tag_index(heads.best.tag);
}

static __attribute__((noinline)) void first_of_bands(struct tqi_tx *tx,
						     const struct tqi_worker *worker,
						     const struct tqi_chain *chain, uint32_t order,
						     struct tqi_heap_entry *best,
						     struct tqi_turn *turn)
{
	for (uint32_t b = 0; b < TQ_BANDS; b++) {
		struct tqi_class *class = best_of_band(
			tx, worker, tqi_tournament_at(tx, chain->tournaments, b), order, turn);
		const struct tqi_heap_entry *first = class ? &tqi_class_heap(class, order)->root
							   : NULL;

		if (first && (!best->tag || tqi_entry_before(first, best)))
			*best = *first;
	}
}

/*
 * *best: of it and the first ones of a chain's classes that the worker can run the first one.
 * Inline: each claim comes here.
 */
static inline __attribute__((always_inline)) void first_of_chain(
	struct tqi_tx *tx, const struct tqi_worker *worker, const struct tqi_chain *chain,
	uint32_t order, struct tqi_heap_entry *best, struct tqi_turn *turn)
{
	uint32_t c = chain->first, steps = 0;

	if (chain->tournaments) {
		first_of_bands(tx, worker, chain, order, best, turn);
		return;
	}
	while (c) {
		struct tqi_class *class = tqi_class_at(tx, c);
		const struct tqi_heap_entry *first =
			can_run(worker, class) ? first_of(tx, class, order, turn) : NULL;

		if (first && (!best->tag || tqi_entry_before(first, best)))
			*best = *first;
		c = tqi_class_next(tx, class, &steps);
	}
}

/* PO-6: lane of the task that has been ready longest, if it is overdue; 0 none. */
static __attribute__((noinline)) uint32_t most_overdue(struct tqi_tx *tx,
						       const struct tqi_worker *worker,
						       const struct tqi_queue *queue,
						       struct tqi_turn *turn)
{
	struct tqi_heap_entry oldest = { 0, 0 };

	for (const struct tqi_chain *chain = turn->chains; chain < turn->chains + 2; chain++)
		first_of_chain(tx, worker, chain, TQI_BY_AGE, &oldest, turn);
	if (!oldest.tag || tx->now_ns - (uint64_t)oldest.key < queue->max_wait_ns)
		return 0;
	return tqi_tag_index(oldest.tag);
}

/* Whose turns of the overdue are counted: the queue's, or a tenant's. */
static uint32_t *overdue_turn(struct tqi_tx *tx, struct tqi_queue *queue,
			      const struct tqi_turn *turn)
{
	return turn->tenant ? &tqi_tenant_at(tx, turn->tenant)->overdue_turn : &queue->overdue_turn;
}

static bool has_turn_of_overdue(struct tqi_tx *tx, struct tqi_queue *queue,
				const struct tqi_turn *turn)
{
	return queue->max_wait_ns != UINT64_MAX && !*overdue_turn(tx, queue, turn);
}

/* Bands, rates, eras or turns decide. */
static __attribute__((noinline)) uint32_t best_by_policy(struct tqi_tx *tx,
							 const struct tqi_worker *worker,
							 uint32_t q, struct tqi_turn *turn)
{
	struct tqi_queue *queue = tqi_queue_at(tx, q);
	uint32_t lane = has_turn_of_overdue(tx, queue, turn) ? most_overdue(tx, worker, queue, turn)
							     : 0;
	uint32_t order = lane ? TQI_BY_AGE : TQI_BY_KEY;

	turn->queue = queue->hybrid || queue->max_wait_ns != UINT64_MAX ? q : 0;
	turn->is_overdue = lane != 0;
	if (!lane)
		lane = most_urgent(tx, worker, queue, turn);
	return lane && !turn->is_unsettled ? tqi_lane_first(tx, lane, order) : 0;
}

/* In two chains of classes: the queue's own, or a tenant's.  Inline: each claim comes here. */
static inline __attribute__((always_inline)) uint32_t best_of_classes(
	struct tqi_tx *tx, const struct tqi_worker *worker, uint32_t q,
	const struct tqi_queue *queue, struct tqi_turn *turn)
{
	if (queue->flags & TQI_QUEUE_ORDERED)
		return best_by_policy(tx, worker, q, turn);
	struct tqi_heap_entry first = { 0, 0 };

	first_of_chain(tx, worker, &turn->chains[queue->era & 1], TQI_BY_KEY, &first, turn);
	uint32_t lane = tqi_tag_index(first.tag);

	return lane && !turn->is_unsettled ? tqi_lane_first(tx, lane, TQI_BY_KEY) : 0;
}

/*
 * FA-1.  A tenant whose tasks turn out to wait for limits competes no more, and the next
 * one's turn has come.
 */
static uint32_t best_of_tenants(struct tqi_tx *tx, const struct tqi_worker *worker, uint32_t q,
				struct tqi_turn *turn)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, q);
	uint32_t task = 0;

	while (!task && !turn->is_unsettled && !tx->corrupt) {
		turn->tenant = tqi_fair_tenant(tx, worker, queue, &turn->is_unsettled);
		if (!turn->tenant)
			return 0;
		uint32_t before = tx->undo_count;

		turn->chains = tqi_tenant_at(tx, turn->tenant)->chains;
		task = best_of_classes(tx, worker, q, queue, turn);
		if (!task && !turn->is_unsettled && tx->undo_count == before)
			tx->corrupt = true; /* it would be its turn for ever */
	}
	return task;
}

static __attribute__((noinline)) uint32_t best_of_queue(struct tqi_tx *tx,
							const struct tqi_worker *worker, uint32_t q,
							struct tqi_turn *turn)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, q);

	if (!tqi_queue_may_start(tx, queue))
		return 0;
	if (queue->flags & TQI_QUEUE_SHARED) {
		uint32_t task = best_of_tenants(tx, worker, q, turn);

		if (task || turn->is_unsettled)
			return task;
		turn->tenant = 0; /* FA-6; a fair queue has no classes of its own but then */
	}
	turn->chains = queue->chains;
	return best_of_classes(tx, worker, q, queue, turn);
}

/*
 * The first task of a queue where keys decide, and nothing else: no tenants, no servers, and no
 * limits in its few classes.  0: there is none, or there is more to it.
 */
static inline uint32_t first_by_key(struct tqi_tx *tx, const struct tqi_worker *worker,
				    const struct tqi_queue *queue)
{
	const struct tqi_chain *chain = &queue->chains[queue->era & 1];
	const uint32_t more = TQI_QUEUE_PAUSED | TQI_QUEUE_ORDERED | TQI_QUEUE_SHARED |
			      TQI_QUEUE_SERVED;
	const struct tqi_class *best = NULL;
	uint32_t c = chain->first, steps = 0;

	if ((queue->flags & more) | chain->tournaments)
		return 0;
	while (c) {
		const struct tqi_class *class = tqi_class_at(tx, c);

		if (class->lane_count > 1)
			return 0;
		if (class->open.length && can_run(worker, class) &&
		    (!best || tqi_entry_before(&class->open.root, &best->open.root)))
			best = class;
		c = tqi_class_next(tx, class, &steps);
	}
	return best ? tqi_tag_index(tqi_lane_at(tx, best->plain)->tasks.root.tag) : 0;
}

uint32_t tqi_ready_choose(struct tqi_tx *tx, const struct tqi_worker *worker,
			  struct tqi_turn *ret_turn)
{
	*ret_turn =
		(struct tqi_turn){ .is_unsettled = tqi_lane_has_to_open(tx) && !tqi_lane_open(tx) };
	for (uint32_t i = 0;
	     i < worker->queue_count && i < TQ_WORKER_QUEUES_MAX && !ret_turn->is_unsettled; i++) {
		const uint32_t q = worker->queues[i];
		uint32_t task = first_by_key(tx, worker, tqi_queue_at(tx, q));

		if (!task)
			task = best_of_queue(tx, worker, q, ret_turn);
		if (task)
			return task;
		ret_turn->queue = 0;
	}
	return 0;
}

void tqi_ready_take_turn(struct tqi_tx *tx, const struct tqi_turn *turn)
{
	struct tqi_queue *queue = tqi_queue_at(tx, turn->queue);
	uint32_t *overdue = overdue_turn(tx, queue, turn);

	if (turn->is_overdue != *overdue)
		TQI_SET(tx, *overdue, (uint32_t)turn->is_overdue);
	if (turn->is_overdue)
		return;
	uint32_t count = turn->is_least ? 0 : queue->hybrid_count + 1;

	if (count > queue->hybrid)
		count = queue->hybrid;
	if (count != queue->hybrid_count)
		TQI_SET(tx, queue->hybrid_count, count);
}
