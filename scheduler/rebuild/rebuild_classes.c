/* SPDX-License-Identifier: MIT */
/* Queues and their classes; a class for tasks whose own was lost. */
#include <string.h>

#include "scheduler/order/policy.h"
#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/record/queue_set.h"

static bool lane_is_free(struct tqi_check *c, uint32_t l)
{
	return tqi_check_record(c, TQI_LANES, l) && !c->marks[TQI_LANES][l];
}

static uint32_t find_lane(struct tqi_check *c, uint32_t k)
{
	for (uint32_t l = 1; l < c->count[TQI_LANES]; l++)
		if (lane_is_free(c, l) && tqi_lane_at(c->tx, l)->class_ == k)
			return l;
	return 0;
}

/* The lane that class and lane agree on; else one of them is believed. */
static uint32_t lane_of(struct tqi_check *c, uint32_t k, uint32_t plain)
{
	if (lane_is_free(c, plain) && tqi_lane_at(c->tx, plain)->class_ == k)
		return plain;
	uint32_t l = find_lane(c, k);

	return l ? l : lane_is_free(c, plain) ? plain : 0;
}

/* The class of its era that tasks of that kind and band come into; 0 none. */
static uint32_t find_class(struct tqi_check *c, const struct tqi_queue *queue, uint32_t kind,
			   uint32_t band)
{
	for (uint32_t k = queue->classes; k;) {
		const struct tqi_class *class = tqi_class_at(c->tx, k);

		if (class->kind == kind && class->band == band && class->era == queue->era)
			return k;
		k = class->next;
	}
	return 0;
}

uint32_t tqi_rebuild_band(struct tqi_check *c, const struct tqi_queue *queue,
			  const struct tqi_task *t)
{
	return tqi_policy_band(queue, tqi_worth_in(t, tqi_check_extra(c, t)).priority);
}

uint32_t tqi_rebuild_class_find(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_queue *queue = tqi_queue_at(c->tx, t->queue);

	return find_class(c, queue, t->kind, tqi_rebuild_band(c, queue, t));
}

/* Of a kind and band there is one class for each of two eras. */
static bool is_one_too_many(struct tqi_check *c, const struct tqi_queue *queue,
			    const struct tqi_class *class)
{
	uint32_t others = 0;

	for (uint32_t k = queue->classes; k;) {
		const struct tqi_class *other = tqi_class_at(c->tx, k);

		others += other->kind == class->kind && other->band == class->band;
		k = other->next;
	}
	return others > 1 ||
	       (class->era == queue->era && find_class(c, queue, class->kind, class->band));
}

/* Empty, into its queue's chain. */
static void link_class(struct tqi_check *c, uint32_t k, uint32_t l)
{
	struct tqi_class *class = tqi_class_at(c->tx, k);
	struct tqi_queue *queue = tqi_queue_at(c->tx, class->queue);
	struct tqi_lane *lane = tqi_lane_at(c->tx, l);

	lane->class_ = k;
	class->tenant = 0;
	class->plain = l;
	class->lane_count = 1;
	class->next = queue->classes;
	queue->classes = k;
	c->marks[TQI_CLASSES][k] |= TQI_SEEN_LINKED;
	c->marks[TQI_LANES][l] |= TQI_SEEN_LINKED;
}

/* One of the present era, or of the one before. */
static void mend_era(struct tqi_class *class, const struct tqi_queue *queue)
{
	if (class->era == queue->era)
		tqi_policy_give(queue, class);
	else
		class->era = queue->era - 1;
	if (class->rate > TQ_AGEING_MAX)
		class->rate = 0;
	class->edf = class->edf != 0;
	class->aged = class->aged != 0;
	class->watched = class->watched != 0;
}

/* One that makes no sense stays out, and is free. */
static void mend_class(struct tqi_check *c, uint32_t k)
{
	struct tqi_class *class = tqi_check_record(c, TQI_CLASSES, k);
	const struct tqi_queue *queue = class ? tqi_check_record(c, TQI_QUEUES, class->queue)
					      : NULL;

	if (!queue || !tqi_check_record(c, TQI_KINDS, class->kind) || class->band >= TQ_BANDS ||
	    class->tenant) /* those are made anew */
		return;
	mend_era(class, queue);
	if (is_one_too_many(c, queue, class))
		return;
	uint32_t l = lane_of(c, k, class->plain);

	if (l)
		link_class(c, k, l);
}

/* For tasks whose class was lost: in a record of a lost one. */
uint32_t tqi_rebuild_class(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_queue *queue = tqi_queue_at(c->tx, t->queue);
	uint32_t k = 1, l = 1;

	while (k < c->count[TQI_CLASSES] &&
	       (!tqi_check_record(c, TQI_CLASSES, k) || c->marks[TQI_CLASSES][k]))
		k++;
	while (l < c->count[TQI_LANES] && !lane_is_free(c, l))
		l++;
	if (k >= c->count[TQI_CLASSES] || l >= c->count[TQI_LANES])
		return 0;
	struct tqi_class *class = tqi_class_at(c->tx, k);

	class->queue = t->queue;
	class->kind = t->kind;
	class->band = tqi_rebuild_band(c, queue, t);
	class->era = queue->era;
	tqi_policy_give(queue, class);
	link_class(c, k, l);
	return l;
}

/* A policy that cannot be is the default one.  Whether tasks are on their way: see below. */
static void mend_policy(struct tqi_queue *queue)
{
	bool sound = queue->hybrid <= TQ_HYBRID_MAX && queue->edf <= 1 && queue->max_wait_ns &&
		     queue->fair <= 1 && !(queue->fair && queue->hybrid);

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		sound &= queue->ageing[b] <= (queue->edf ? 0 : TQ_AGEING_MAX);
	for (uint32_t b = 1; b < TQ_BANDS - 1; b++)
		sound &= queue->band_from[b] > queue->band_from[b - 1];
	if (!sound) {
		memset(queue->ageing, 0, sizeof(queue->ageing));
		queue->hybrid = queue->edf = queue->fair = 0;
		tqi_policy_init(queue);
		queue->era++;
	}
	if (queue->hybrid_count > queue->hybrid)
		queue->hybrid_count = queue->hybrid;
	if (queue->batch > TQ_BATCH_MAX)
		queue->batch = 0;
	queue->overdue_turn = queue->overdue_turn && queue->max_wait_ns != UINT64_MAX;
	queue->flags &= ~TQI_QUEUE_MOVING;
	queue->flags = (queue->flags & ~TQI_POLICY_FLAGS) | tqi_policy_flags(queue);
}

void tqi_rebuild_moving(struct tqi_check *c, uint32_t q)
{
	struct tqi_queue *queue = tqi_queue_at(c->tx, q);

	if (queue->flags & TQI_QUEUE_MOVING)
		return;
	queue->flags |= TQI_QUEUE_MOVING | TQI_QUEUE_ORDERED;
	tqi_root(c->tx)->moving++;
	tqi_queue_set_flip(c->tx, &tqi_root(c->tx)->moving_queues, q);
}

void tqi_rebuild_classes(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (queue)
			mend_policy(queue);
	}
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++)
		mend_class(c, k);
}
