/* SPDX-License-Identifier: MIT */
/*
 * The model: limits by key, by counting all tasks; buckets by their level, in
 * tokens x interval, with as many bits as that takes.
 */
#include "tests/property/model_parts.h"

#include <errno.h>

static bool names(const struct model_task *t, uint32_t limit)
{
	return t->limits >> limit & 1;
}

struct model_limit model_limit(const struct model *m, uint32_t limit)
{
	struct model_limit sum = { 0 };

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];

		if (t->state == TQ_FREE || !names(t, limit))
			continue;
		sum.tasks++;
		sum.used += t->state == TQ_RUNNING;
		sum.waiting += model_in_lane(t);
	}
	return sum;
}

static model_level level_of(const struct model *m, uint32_t limit)
{
	const struct model_bucket *b = &m->buckets[limit];
	model_level level = b->level + (model_level)(m->now_ns - b->since_ns) * b->rate.rate;
	model_level most = (model_level)b->rate.burst * b->rate.interval_ns;

	return level < most ? level : most;
}

static bool has_token(const struct model *m, uint32_t limit)
{
	const struct model_bucket *b = &m->buckets[limit];

	return !b->rate.rate || level_of(m, limit) >= b->rate.interval_ns;
}

uint64_t model_tokens(const struct model *m, uint32_t limit)
{
	const struct model_bucket *b = &m->buckets[limit];

	return b->rate.rate ? (uint64_t)(level_of(m, limit) / b->rate.interval_ns) : 0;
}

/* When the next token comes to a bucket that has none. */
uint64_t model_next_token(const struct model *m, uint32_t limit)
{
	const struct model_bucket *b = &m->buckets[limit];
	model_level missing = b->rate.interval_ns - b->level;

	return b->since_ns + (uint64_t)((missing + b->rate.rate - 1) / b->rate.rate);
}

static bool is_full(const struct model *m, uint32_t limit, uint32_t used)
{
	return (m->limit_size[limit] != UINT32_MAX && used >= m->limit_size[limit]) ||
	       !has_token(m, limit);
}

/* Bit per limit that is full. */
uint32_t model_full(const struct model *m)
{
	uint32_t full = 0;

	for (uint32_t x = 1; x <= MODEL_LIMITS; x++)
		if (is_full(m, x, model_limit(m, x).used))
			full |= 1u << x;
	return full;
}

/* What has come so far is counted from here. */
static void settle(struct model *m, uint32_t limit)
{
	struct model_bucket *b = &m->buckets[limit];

	b->level = level_of(m, limit);
	b->since_ns = m->now_ns;
	b->empty = !has_token(m, limit);
}

/* Until when a bucket without a token is full. */
static void note_empty(struct model *m, uint32_t limit)
{
	if (!has_token(m, limit))
		m->full_ns[limit] = model_next_token(m, limit);
}

/* Whether one of its limits, or its queue's servers, were full since it became ready. */
bool model_was_throttled(const struct model *m, const struct model_task *t)
{
	const struct model_queue *q = &m->queues[t->queue];

	if ((q->flags & TQI_QUEUE_SERVED) && q->full_ns > t->ready_ns)
		return true;
	for (uint32_t x = 1; x <= MODEL_LIMITS; x++)
		if (names(t, x) && m->full_ns[x] > t->ready_ns)
			return true;
	return false;
}

void model_slots_take(struct model *m, const struct model_task *t)
{
	for (uint32_t x = 1; t->limits && x <= MODEL_LIMITS; x++) {
		if (!names(t, x) || !m->buckets[x].rate.rate)
			continue;
		settle(m, x);
		m->buckets[x].level -= m->buckets[x].rate.interval_ns;
		m->buckets[x].empty = !has_token(m, x);
		note_empty(m, x);
	}
}

/* An attempt of this running task is about to end. */
void model_slots_give(struct model *m, const struct model_task *t)
{
	for (uint32_t x = 1; t->limits && x <= MODEL_LIMITS; x++) {
		struct model_limit sum = model_limit(m, x);

		if (!names(t, x) || !is_full(m, x, sum.used) || is_full(m, x, sum.used - 1))
			continue;
		m->full_ns[x] = m->now_ns;
		m->pass_on |= sum.waiting != 0;
	}
}

/*
 * Tokens have come that somebody waits for.  `maybe`: nobody takes any afterwards, and whether
 * the core has come to see them is its to say: by a wake only if it has asked a sleeper, and
 * only as far as its journal had room.
 */
void model_refill(struct model *m, bool maybe)
{
	for (uint32_t x = 1; x <= MODEL_LIMITS; x++) {
		struct model_limit sum;

		if (!m->buckets[x].empty || !has_token(m, x))
			continue;
		sum = model_limit(m, x);
		if (!sum.waiting || (maybe && !model_has_done(m, MODEL_FILLED, x)))
			continue;
		settle(m, x);
		m->pass_on |= !is_full(m, x, sum.used);
	}
}

/* Bit per limit that has been seen without a token: that one has come is for keepers to see. */
uint32_t model_empty(const struct model *m)
{
	uint32_t empty = 0;

	for (uint32_t x = 1; x <= MODEL_LIMITS; x++)
		empty |= (uint32_t)m->buckets[x].empty << x;
	return empty;
}

/* A task becomes ready, and will wake somebody: nobody else waited for these tokens. */
void model_freshen(struct model *m, const struct model_task *t)
{
	for (uint32_t x = 1; t->limits && x <= MODEL_LIMITS; x++)
		if (names(t, x) && m->buckets[x].empty && has_token(m, x) &&
		    model_limit(m, x).waiting == model_in_lane(t))
			settle(m, x);
}

static void set_rate(struct model *m, uint32_t limit, const struct tqi_rate *rate)
{
	struct model_bucket *b = &m->buckets[limit];
	model_level tokens = rate->burst, part = 0;

	if (b->rate.rate) {
		tokens = level_of(m, limit) / b->rate.interval_ns;
		if (b->rate.rate == rate->rate && b->rate.interval_ns == rate->interval_ns)
			part = level_of(m, limit) % b->rate.interval_ns;
	}
	b->rate = *rate;
	b->level = tokens * rate->interval_ns + part;
	b->since_ns = m->now_ns;
	settle(m, limit); /* no more than it holds */
}

int model_limit_set(struct model *m, uint32_t limit, const struct tqi_limit_change *c)
{
	struct model_limit sum = model_limit(m, limit);
	bool full = is_full(m, limit, sum.used), before = m->buckets[limit].empty || full;
	bool is_set = m->limit_size[limit] != UINT32_MAX || m->buckets[limit].rate.rate;
	bool sets = (c->size && c->size != UINT32_MAX) || c->rate.rate;

	if (!sets && !is_set)
		return -ENOENT;
	if (c->size)
		m->limit_size[limit] = c->size;
	if (c->has_rate)
		set_rate(m, limit, &c->rate);
	if (full && !is_full(m, limit, sum.used))
		m->full_ns[limit] = m->now_ns;
	note_empty(m, limit);
	if (before && !is_full(m, limit, sum.used) && sum.waiting)
		m->pass_on = true;
	return 0;
}

void model_pass_on(struct model *m)
{
	if (m->pass_on)
		model_wake_any(m);
}
