/* SPDX-License-Identifier: MIT */
/* The model: the order inside a queue, computed for every task at the time of the look. */
#include "tests/property/model_parts.h"

#include <errno.h>
#include <string.h>

#define POINT 1000000
#define MS 1000000u

/* Whether bands differ in anything. */
static bool is_banded(const uint32_t *ageing, uint32_t hybrid)
{
	bool banded = hybrid;

	for (uint32_t b = 1; b < TQ_BANDS; b++)
		banded |= ageing[b] != ageing[0];
	return banded;
}

static void set_flags(struct model_queue *q, bool moving)
{
	bool banded = is_banded(q->ageing, q->hybrid);

	q->flags &= TQ_QUEUE_PAUSED | TQ_QUEUE_DRAINING;
	q->flags |= (banded ? TQI_QUEUE_BANDED : 0) | (moving ? TQI_QUEUE_MOVING : 0) |
		    (banded || moving ? TQI_QUEUE_ORDERED : 0);
}

void model_home(const struct model *m, struct model_task *t)
{
	const struct model_queue *q = &m->queues[t->queue];

	t->era = q->era;
	t->band = 0;
	for (uint32_t b = 1; is_banded(q->ageing, q->hybrid) && b < TQ_BANDS; b++)
		if (t->priority >= q->band_from[b - 1])
			t->band = b;
	t->rate = q->ageing[t->band];
}

/* In millionths of a point; whole milliseconds count. */
static int64_t urgency(const struct model *m, const struct model_task *t)
{
	int64_t ms = (int64_t)(m->now_ns / MS) - (int64_t)(t->ready_ns / MS);

	return (int64_t)t->priority * POINT + t->rate * ms;
}

int64_t model_key(const struct model_task *t)
{
	return t->rate * (int64_t)(t->ready_ns / MS) - (int64_t)t->priority * POINT;
}

bool model_is_before(const struct model *m, const struct model_task *a, const struct model_task *b)
{
	int64_t x = urgency(m, a), y = urgency(m, b);

	return x != y ? x > y : model_sequence_before(a->sequence, b->sequence);
}

/* The most urgent of a band, or (TQ_BANDS) of all. */
static uint32_t best_of_band(const struct model *m, const struct model_worker *w, uint32_t queue,
			     uint32_t band)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];

		if (model_in_lane(t) && t->queue == queue && (w->kinds >> t->kind & 1) &&
		    (band == TQ_BANDS || t->band == band) &&
		    (!best || model_is_before(m, t, &m->tasks[best])))
			best = i;
	}
	return best;
}

static uint32_t best_of_least(const struct model *m, const struct model_worker *w, uint32_t queue)
{
	uint32_t best = 0;

	for (uint32_t b = 0; b < TQ_BANDS && !best; b++)
		best = best_of_band(m, w, queue, b);
	return best;
}

uint32_t model_best_of(const struct model *m, const struct model_worker *w, uint32_t queue)
{
	const struct model_queue *q = &m->queues[queue];

	return q->hybrid && q->hybrid_count >= q->hybrid ? best_of_least(m, w, queue)
							 : best_of_band(m, w, queue, TQ_BANDS);
}

void model_take_turn(struct model *m, const struct model_worker *w, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];
	struct model_queue *q = &m->queues[t->queue];

	if (t->band == m->tasks[best_of_least(m, w, t->queue)].band)
		q->hybrid_count = 0;
	else if (q->hybrid_count < q->hybrid)
		q->hybrid_count++;
}

static bool is_of_era(const struct model *m, const struct model_task *t)
{
	return t->era == m->queues[t->queue].era;
}

static bool has_earlier(const struct model *m, uint32_t queue)
{
	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];

		if (t->queue == queue && t->state != TQ_FREE && !model_state_is_final(t->state) &&
		    !is_of_era(m, t))
			return true;
	}
	return false;
}

uint32_t model_moving(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		n += !!(m->queues[q].flags & TQI_QUEUE_MOVING);
	return n;
}

int model_policy(struct model *m, uint32_t queue, const struct tqi_policy *change)
{
	struct model_queue *q = &m->queues[queue], n = *q;
	bool bounds = false;

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (change->ageing[b])
			n.ageing[b] = change->ageing[b] == TQ_OFF ? 0 : change->ageing[b];
	for (uint32_t b = 0; b < TQ_BANDS - 1; b++)
		bounds |= change->band_from[b] != 0;
	if (bounds)
		memcpy(n.band_from, change->band_from, sizeof(n.band_from));
	if (change->hybrid)
		n.hybrid = change->hybrid == TQ_OFF ? 0 : change->hybrid;
	if (n.hybrid != q->hybrid)
		n.hybrid_count = 0;
	for (uint32_t b = 1; b < TQ_BANDS - 1; b++)
		if (n.band_from[b] <= n.band_from[b - 1])
			return -EINVAL;
	bool era = memcmp(n.ageing, q->ageing, sizeof(n.ageing)) ||
		   is_banded(n.ageing, n.hybrid) != is_banded(q->ageing, q->hybrid) ||
		   (is_banded(n.ageing, n.hybrid) &&
		    memcmp(n.band_from, q->band_from, sizeof(n.band_from)));

	if (era && (q->flags & TQI_QUEUE_MOVING))
		return -EBUSY;
	n.era += era;
	*q = n;
	if (!era)
		return 0;
	bool moving = has_earlier(m, queue);

	set_flags(q, moving);
	if (moving)
		m->sweep_left = m->sweep_count = m->task_slots;
	return 0;
}

bool model_policy_move(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (!(m->queues[t->queue].flags & TQI_QUEUE_MOVING) || is_of_era(m, t) ||
	    !model_has_done(m, MODEL_MOVED, task))
		return false;
	model_home(m, t);
	return true;
}

void model_policy_round(struct model *m)
{
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		if ((m->queues[q].flags & TQI_QUEUE_MOVING) && !has_earlier(m, q))
			set_flags(&m->queues[q], false);
}
