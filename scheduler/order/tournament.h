/* SPDX-License-Identifier: MIT */
/*
 * Tournaments: the best among the kinds that a worker serves, without a look at each.
 *
 * TN-1  A queue with more than TQI_CHAIN_SHORT classes has one for each band that classes of
 *     its era are in.  There each of them, but tenants', has a place by its kind, and its
 *     first lane's entry by key and, where the era is aged, by age.  In both orders groups
 *     of 16 kinds have a best one, and so has the whole.
 * TN-2  The place follows the head of its class in the same transaction.  That costs a group
 *     and the row of groups at most, whatever the number of kinds.
 * TN-3  It is a help, no truth: where memory lacks there is none, and the chain is walked; an
 *     era begins without one.  While tasks are on their way to another era (PO-3) heads of
 *     both are compared, and the chain is walked, too.
 */
#ifndef TQI_SCHEDULER_ORDER_TOURNAMENT_H
#define TQI_SCHEDULER_ORDER_TOURNAMENT_H

#include "scheduler/order/lane.h"
#include "scheduler/record/records.h"

#define TQI_CHAIN_SHORT 4 /* classes: to look at so many costs no more than a tournament */

/* The best entry of a class in an order; that of nothing if there is none. */
static inline const struct tqi_heap_entry *tqi_class_head(const struct tqi_class *class_,
							  uint32_t order)
{
	static const struct tqi_heap_entry nothing = { 0, 0 };
	const struct tqi_heap *heap = order == TQI_BY_AGE ? &class_->oldest : &class_->open;

	return heap->length ? &heap->root : &nothing;
}

/* Bytes of one in an era that is aged, or is not. */
static inline uint64_t tqi_tournament_bytes(bool aged)
{
	return aged ? sizeof(struct tqi_tournament) : offsetof(struct tqi_tournament, first[1]);
}

/* The one of a band; NULL there is none. */
static inline struct tqi_tournament *tqi_tournament_at(struct tqi_tx *tx,
						       const struct tqi_queue *queue, uint32_t band)
{
	if (!queue->tournaments)
		return NULL;
	const struct tqi_tournaments *t = tqi_unit(tx, queue->tournaments);

	return t->bands[band % TQ_BANDS] ? tqi_unit(tx, t->bands[band % TQ_BANDS]) : NULL;
}

/* The class of the queue's era for a kind and band; 0 none, or not known here. */
static inline uint32_t tqi_tournament_class(struct tqi_tx *tx, const struct tqi_queue *queue,
					    uint32_t kind, uint32_t band)
{
	const struct tqi_tournament *t = tqi_tournament_at(tx, queue, band);

	return t ? t->classes[kind % TQI_TOURNAMENT_KINDS] : 0;
}

/* A class of the queue's era, not a tenant's, has come into the queue's chain, empty. */
void tqi_tournament_join(struct tqi_tx *tx, uint32_t class_);
/* The heads of a class that is watched have changed. */
void tqi_class_follow(struct tqi_tx *tx, uint32_t class_);
/* Another era begins. */
void tqi_tournament_drop(struct tqi_tx *tx, struct tqi_queue *queue);
/* All of a queue's, anew from its classes' heads, where it has so many; for a rebuild. */
void tqi_tournament_make(struct tqi_tx *tx, struct tqi_queue *queue);

/* The class with the best head of those that serve; 0 none. */
uint32_t tqi_tournament_best(const struct tqi_tournament *t, uint32_t order,
			     const uint64_t kinds[4]);

#endif
