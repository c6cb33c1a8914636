/* SPDX-License-Identifier: MIT */
/* The model: the order inside a queue, computed for every task at the time of the look. */
#include "tests/property/model_parts.h"

#include <errno.h>
#include <string.h>

#define POINT 1000000
#define MS 1000000u

/* Whether bands differ in anything. */
static bool is_banded(const struct model_queue *q)
{
	bool banded = q->hybrid || q->edf;

	for (uint32_t b = 1; b < TQ_BANDS; b++)
		banded |= q->ageing[b] != q->ageing[0];
	return banded;
}

static bool is_aged(const struct model_queue *q)
{
	return q->max_wait_ns != NEVER;
}

static void set_flags(struct model_queue *q, bool moving)
{
	bool banded = is_banded(q), shared = q->fair || (moving && q->has_tenant);

	q->flags &= TQ_QUEUE_PAUSED | TQ_QUEUE_DRAINING | TQI_QUEUE_SERVED;
	q->flags |= (banded ? TQI_QUEUE_BANDED : 0) | (moving ? TQI_QUEUE_MOVING : 0) |
		    (shared ? TQI_QUEUE_SHARED : 0) |
		    (banded || moving || is_aged(q) ? TQI_QUEUE_ORDERED : 0);
}

static uint32_t band_in(const struct model_queue *q, int32_t priority)
{
	uint32_t band = 0;

	for (uint32_t b = 1; is_banded(q) && b < TQ_BANDS; b++)
		if (priority >= q->band_from[b - 1])
			band = b;
	return band;
}

uint32_t model_band(const struct model *m, const struct model_task *t)
{
	return band_in(&m->queues[t->queue], model_worth(t).priority);
}

void model_home(const struct model *m, struct model_task *t)
{
	const struct model_queue *q = &m->queues[t->queue];

	t->era = q->era;
	t->band = model_band(m, t);
	t->rate = q->ageing[t->band];
	t->edf = q->edf;
	t->aged = is_aged(q);
	t->fair = q->fair;
}

/* In millionths of a point; whole milliseconds count. */
static int64_t urgency(const struct model *m, const struct model_task *t, uint32_t rate)
{
	int64_t ms = (int64_t)(m->now_ns / MS) - (int64_t)(t->ready_ns / MS);

	return (int64_t)model_worth(t).priority * POINT + rate * ms;
}

static int64_t deadline_key(const struct model_task *t)
{
	uint64_t deadline = model_worth(t).deadline_ns;

	return deadline < INT64_MAX ? (int64_t)deadline : INT64_MAX;
}

int64_t model_key(const struct model_task *t)
{
	return t->edf ? deadline_key(t)
		      : t->rate * (int64_t)(t->ready_ns / MS) -
				(int64_t)model_worth(t).priority * POINT;
}

/* Of one class. */
static bool is_ahead(const struct model_task *a, const struct model_task *b)
{
	int64_t x = model_key(a), y = model_key(b);

	return x != y ? x < y : model_sequence_before(a->sequence, b->sequence);
}

/* Heads of classes; what is of another sort of order is seen as it will be. */
static bool is_before(const struct model *m, const struct model_task *a, const struct model_task *b)
{
	const struct model_queue *q = &m->queues[a->queue];
	const struct model_task *of[2] = { a, b };
	uint32_t rank[2] = { 0, 0 };
	int64_t rest[2];

	for (int i = 0; i < 2; i++) {
		uint32_t band = of[i]->edf == q->edf ? of[i]->band : model_band(m, of[i]);

		rank[i] = q->edf ? band : 0;
		rest[i] = q->edf ? -deadline_key(of[i])
				 : urgency(m, of[i], of[i]->edf ? q->ageing[band] : of[i]->rate);
	}
	if (rank[0] != rank[1])
		return rank[0] > rank[1];
	return rest[0] != rest[1] ? rest[0] > rest[1]
				  : model_sequence_before(a->sequence, b->sequence);
}

/* Among which tasks is chosen: of a queue, those of a tenant, or those in no tenant's class. */
struct look {
	const struct model_worker *w;
	uint32_t queue;
	bool fair;
	uint32_t tenant;
	uint32_t full; /* limits that hold a task back */
};

static bool can_start(const struct model_task *t, const struct look *l)
{
	return model_in_lane(t) && !(t->limits & l->full) && t->queue == l->queue &&
	       (l->w->kinds >> t->kind & 1) && t->fair == l->fair &&
	       (!l->fair || t->tenant == l->tenant);
}

/* FA-1, FA-6. */
static struct look look_at(const struct model *m, const struct model_worker *w, uint32_t queue,
			   uint32_t limits)
{
	uint32_t full = model_full(m) | limits;
	struct look best = { w, queue, false, 0, full };

	for (uint32_t x = 0; x <= MODEL_TENANTS; x++) {
		const struct look l = { w, queue, true, x, full };
		bool found = false;

		for (uint32_t i = 1; i < m->task_slots && !found; i++)
			found = can_start(&m->tasks[i], &l);
		if (found && (!best.fair || model_tenant_before(m, queue, x, best.tenant)))
			best = l;
	}
	return best;
}

/* Nobody of its own class is before it. */
static bool is_head(const struct model *m, const struct look *l, const struct model_task *t)
{
	if (!(m->queues[t->queue].flags & TQI_QUEUE_MOVING))
		return true; /* all are of one sort: what is before is before across classes, too */
	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *o = &m->tasks[i];

		if (o != t && can_start(o, l) && o->kind == t->kind && o->band == t->band &&
		    o->era == t->era && is_ahead(o, t))
			return false;
	}
	return true;
}

/* The most urgent of a band, or (TQ_BANDS) of all. */
static uint32_t best_of_band(const struct model *m, const struct look *l, uint32_t band)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];

		if (can_start(t, l) && (band == TQ_BANDS || t->band == band) && is_head(m, l, t) &&
		    (!best || is_before(m, t, &m->tasks[best])))
			best = i;
	}
	return best;
}

static uint32_t best_of_least(const struct model *m, const struct look *l)
{
	uint32_t best = 0;

	for (uint32_t b = 0; b < TQ_BANDS && !best; b++)
		best = best_of_band(m, l, b);
	return best;
}

/* What starts for being overdue; 0 none, or it is not their turn. */
static uint32_t overdue(const struct model *m, const struct look *l)
{
	const struct model_queue *q = &m->queues[l->queue];
	bool had = l->fair ? m->tenants[l->queue][l->tenant].overdue_turn : q->overdue_turn;
	uint32_t best = 0;

	for (uint32_t i = 1; is_aged(q) && !had && i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i], *b = &m->tasks[best];

		if (can_start(t, l) && t->aged && m->now_ns - t->ready_ns >= q->max_wait_ns &&
		    (!best || t->ready_ns < b->ready_ns ||
		     (t->ready_ns == b->ready_ns &&
		      model_sequence_before(t->sequence, b->sequence))))
			best = i;
	}
	return best;
}

uint32_t model_best_of(const struct model *m, const struct model_worker *w, uint32_t queue)
{
	const struct model_queue *q = &m->queues[queue];
	const struct look l = look_at(m, w, queue, 0);
	uint32_t best = overdue(m, &l);

	if (best)
		return best;
	return q->hybrid && q->hybrid_count >= q->hybrid ? best_of_least(m, &l)
							 : best_of_band(m, &l, TQ_BANDS);
}

/* Some task that may start and has none of these limits. */
uint32_t model_best_but(const struct model *m, const struct model_worker *w, uint32_t queue,
			uint32_t limits)
{
	const struct look l = look_at(m, w, queue, limits);

	return best_of_band(m, &l, TQ_BANDS);
}

void model_take_turn(struct model *m, const struct model_worker *w, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];
	struct model_queue *q = &m->queues[t->queue];
	const struct look l = { w, t->queue, t->fair, t->tenant, model_full(m) };
	uint32_t *turn = t->fair ? &m->tenants[t->queue][t->tenant].overdue_turn : &q->overdue_turn;

	if (!is_aged(q) && !q->hybrid)
		return;
	*turn = overdue(m, &l) != 0;
	if (*turn)
		return;
	if (t->band == m->tasks[best_of_least(m, &l)].band)
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
	if (change->edf)
		n.edf = change->edf == TQ_OFF ? 0 : change->edf;
	if (change->max_wait_ns)
		n.max_wait_ns = change->max_wait_ns;
	if (change->fair)
		n.fair = change->fair == TQ_OFF ? 0 : change->fair;
	if (n.max_wait_ns != q->max_wait_ns)
		n.overdue_turn = 0;
	for (uint32_t b = 1; b < TQ_BANDS - 1; b++)
		if (n.band_from[b] <= n.band_from[b - 1])
			return -EINVAL;
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (n.edf && n.ageing[b])
			return -ENOTSUP;
	if (n.fair && n.hybrid)
		return -ENOTSUP;
	bool era = memcmp(n.ageing, q->ageing, sizeof(n.ageing)) || n.edf != q->edf ||
		   n.fair != q->fair || is_aged(&n) != is_aged(q) ||
		   is_banded(&n) != is_banded(q) ||
		   (is_banded(&n) && memcmp(n.band_from, q->band_from, sizeof(n.band_from)));

	if (era && (q->flags & TQI_QUEUE_MOVING))
		return -EBUSY;
	n.era += era;
	n.configured = true;
	*q = n;
	if (n.fair)
		model_tenant_own(m, queue);
	if (!era)
		return 0;
	/* Very many empty classes take a round of the sweep. */
	bool moving = has_earlier(m, queue) || !model_has_done(m, MODEL_THROUGH, queue);

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
	const bool assigned = t->assigned;

	t->assigned = 0;
	model_home(m, t);
	if (assigned) /* anybody's again */
		model_wake_for(m, t->queue, t->kind);
	return true;
}

void model_policy_round(struct model *m)
{
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		if ((m->queues[q].flags & TQI_QUEUE_MOVING) && !has_earlier(m, q) &&
		    (!m->rounding || model_has_done(m, MODEL_THROUGH, q)))
			set_flags(&m->queues[q], false);
}
