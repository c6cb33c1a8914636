/* SPDX-License-Identifier: MIT */
/* Queues with a policy that can be; classes and lanes are made anew, as tasks join them. */
#include <errno.h>
#include <string.h>

#include "scheduler/order/policy.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/order/tournament.h"
#include "scheduler/rebuild/rebuild_state.h"

/* A policy that cannot be is the default one.  No tasks are on their way: all join its era. */
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

void tqi_rebuild_queues(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (queue)
			mend_policy(queue);
	}
}

/* Into the lane that follows from its place; a ready one into the heaps. */
static int join(struct tqi_check *c, uint32_t index, struct tqi_task *t)
{
	const struct tqi_place place = tqi_place_of(c->tx, t);

	t->lane = tqi_lane_join(c->tx, &place);
	if (t->lane && t->state == TQ_READY)
		tqi_ready_reenter(c->tx, index);
	return t->lane ? 0 : -ENOMEM;
}

/* What is best among the kinds of a queue, and of a tenant; without memory it does without (TN-3). */
static void hold_tournaments(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (queue)
			tqi_tournament_make(c->tx, &queue->chains[queue->era & 1]);
		if (queue && queue->tenant)
			tqi_contest_make(c->tx, queue);
	}
	for (uint32_t t = 1; t < c->count[TQI_TENANTS]; t++) {
		if (!(c->marks[TQI_TENANTS][t] & TQI_SEEN_LINKED))
			continue;
		struct tqi_tenant *tenant = tqi_tenant_at(c->tx, t);

		tqi_tournament_make(c->tx,
				    &tenant->chains[tqi_queue_at(c->tx, tenant->queue)->era & 1]);
	}
}

int tqi_rebuild_order(struct tqi_check *c)
{
	int r = 0;

	for (uint32_t i = 1; i < c->count[TQI_TASKS] && r == 0; i++) {
		struct tqi_task *t = tqi_task_at(c->tx, i);

		if (t->state != TQ_FREE && !tqi_state_is_final(t->state))
			r = join(c, i, t);
	}
	if (r == 0)
		hold_tournaments(c);
	return r;
}
