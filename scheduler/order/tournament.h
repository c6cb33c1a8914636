/* SPDX-License-Identifier: MIT */
/*
 * Tournaments: the best among the kinds that a worker serves, without a look at each.
 *
 * TN-1  A chain that has had more than TQI_CHAIN_SHORT classes has one for each band that its
 *     classes are in, until one class is left.  There each of them has a place by its kind,
 *     and its first lane's entry by key and, where the era is aged, by age.  In both orders
 *     groups of 16 kinds have a best one, and so has the whole.
 * TN-2  The place follows the head of its class in the same transaction.  That costs a group
 *     and the row of groups at most, whatever the number of kinds.
 * TN-3  It is a help, no truth: where memory lacks there is none, and the chain is walked; so
 *     is that of an earlier era whose heads are compared as what they would be (PO-5).
 * TN-4  A queue with more streams than that has one of them once it has tenants, its contest:
 *     a stream's entry is the first of its heap of tenants (FA-5).
 */
#ifndef TQI_SCHEDULER_ORDER_TOURNAMENT_H
#define TQI_SCHEDULER_ORDER_TOURNAMENT_H

#include "scheduler/order/lane.h"
#include "scheduler/record/stream.h"

#define TQI_CHAIN_SHORT 4 /* classes: to look at so many costs no more than a tournament */

/* The first entry of a heap; that of nothing if there is none. */
static inline const struct tqi_heap_entry *tqi_heap_head(const struct tqi_heap *heap)
{
	static const struct tqi_heap_entry nothing = { 0, 0 };

	return heap->length ? &heap->root : &nothing;
}
/* Of a class, in an order; of a stream's tenants. */
static inline const struct tqi_heap_entry *tqi_class_head(const struct tqi_class *class_,
							  uint32_t order)
{
	return tqi_heap_head(order == TQI_BY_AGE ? &class_->oldest : &class_->open);
}
static inline const struct tqi_heap_entry *tqi_stream_head(const struct tqi_stream *stream)
{
	return tqi_heap_head(&stream->tenants);
}

/* Bytes of one in an era that is aged, or is not. */
static inline uint64_t tqi_tournament_bytes(bool aged)
{
	return aged ? sizeof(struct tqi_tournament) : offsetof(struct tqi_tournament, first[1]);
}

/* The chain that a class stands in. */
static inline struct tqi_chain *tqi_chain_of(struct tqi_tx *tx, const struct tqi_class *class_)
{
	return &(class_->tenant ? tqi_tenant_at(tx, class_->tenant)->chains
				: tqi_queue_at(tx, class_->queue)->chains)[class_->era & 1];
}

/* The next one of its chain; 0 none, or the chain leads round in a circle. */
static inline uint32_t tqi_class_next(struct tqi_tx *tx, const struct tqi_class *class_,
				      uint32_t *steps)
{
	return class_->next && tqi_table_walks(tx, TQI_CLASSES, steps) ? class_->next : 0;
}

/* Of a chain's tournaments that of a band; NULL there is none. */
static inline struct tqi_tournament *tqi_tournament_at(struct tqi_tx *tx, uint32_t tournaments,
						       uint32_t band)
{
	if (!tournaments)
		return NULL;
	const struct tqi_tournaments *t = tqi_unit(tx, tournaments);

	return t->bands[band % TQ_BANDS] ? tqi_unit(tx, t->bands[band % TQ_BANDS]) : NULL;
}

/* The class for a kind and band; 0 none, or not known here. */
static inline uint32_t tqi_tournament_class(struct tqi_tx *tx, uint32_t tournaments, uint32_t kind,
					    uint32_t band)
{
	const struct tqi_tournament *t = tqi_tournament_at(tx, tournaments, band);

	return t ? t->of[kind % TQI_TOURNAMENT_KINDS] : 0;
}

/* A class has come into its chain, empty; it has left it. */
void tqi_tournament_join(struct tqi_tx *tx, uint32_t class_);
void tqi_tournament_leave(struct tqi_tx *tx, const struct tqi_class *class_);
/* The heads of a class have changed. */
void tqi_tournament_follow(struct tqi_tx *tx, uint32_t class_);
/* All of a chain, anew from its classes' heads, where it has so many. */
void tqi_tournament_make(struct tqi_tx *tx, struct tqi_chain *chain);

/* A queue with tenants: its streams have a contest from now on, if there are so many. */
void tqi_contest_make(struct tqi_tx *tx, struct tqi_queue *queue);
/* The first tenant of a stream has changed. */
void tqi_contest_follow(struct tqi_tx *tx, const struct tqi_stream *stream);

/* Who has the best head of those that serve: class, or stream; 0 none. */
uint32_t tqi_tournament_best(const struct tqi_tournament *t, uint32_t order,
			     const uint64_t kinds[4]);

#endif
