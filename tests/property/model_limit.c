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
		sum.used += t->state == TQ_RUNNING ? t->weight[limit] : 0;
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

	return !b->rate.rate || level_of(m, limit) >= (model_level)b->rate.interval_ns;
}

/* Rounded down, also below 0. */
static model_level whole(model_level level, uint64_t interval_ns)
{
	model_level rest = level % (model_level)interval_ns;

	return level / (model_level)interval_ns - (rest < 0);
}

int64_t model_tokens(const struct model *m, uint32_t limit)
{
	const struct model_bucket *b = &m->buckets[limit];

	return b->rate.rate ? (int64_t)whole(level_of(m, limit), b->rate.interval_ns) : 0;
}

/* When the next token comes to a bucket that has none. */
uint64_t model_next_token(const struct model *m, uint32_t limit)
{
	const struct model_bucket *b = &m->buckets[limit];
	model_level missing = (model_level)b->rate.interval_ns - b->level;

	return b->since_ns + (uint64_t)((missing + b->rate.rate - 1) / b->rate.rate);
}

/* Whether fewer places are free than this, or (0) none. */
static bool lacks(const struct model *m, uint32_t limit, uint32_t used, uint32_t places)
{
	return m->limit_size[limit] != UINT32_MAX &&
	       used + (places ? places : 1) > m->limit_size[limit];
}

static bool is_full(const struct model *m, uint32_t limit, uint32_t used)
{
	return lacks(m, limit, used, m->limit_needed[limit]) || !has_token(m, limit);
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

bool model_gather(struct model *m, const struct model_task *t)
{
	bool any = false;

	for (uint32_t x = 1; t->limits && x <= MODEL_LIMITS; x++) {
		uint32_t size = m->limit_size[x];
		uint32_t places = t->weight[x] < size ? t->weight[x] : size;

		if (!names(t, x) || !lacks(m, x, model_limit(m, x).used, places))
			continue;
		m->limit_needed[x] = places;
		any = true;
	}
	return any;
}

void model_slots_take(struct model *m, const struct model_task *t)
{
	for (uint32_t x = 1; t->limits && x <= MODEL_LIMITS; x++) {
		if (!names(t, x) || !m->buckets[x].rate.rate)
			continue;
		settle(m, x);
		m->buckets[x].level -= (model_level)m->buckets[x].rate.interval_ns * t->weight[x];
		m->buckets[x].empty = !has_token(m, x);
		note_empty(m, x);
	}
}

/* An attempt of this running task is about to end. */
void model_slots_give(struct model *m, const struct model_task *t)
{
	for (uint32_t x = 1; t->limits && x <= MODEL_LIMITS; x++) {
		struct model_limit sum = model_limit(m, x);
		uint32_t used = sum.used - t->weight[x];

		if (!names(t, x))
			continue;
		bool full = is_full(m, x, sum.used);

		if (m->limit_needed[x] && !lacks(m, x, used, m->limit_needed[x]))
			m->limit_needed[x] = 0;
		if (!full || is_full(m, x, used))
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
		tokens = whole(level_of(m, limit), b->rate.interval_ns);
		if (b->rate.rate == rate->rate && b->rate.interval_ns == rate->interval_ns)
			part = level_of(m, limit) - tokens * (model_level)b->rate.interval_ns;
	}
	b->rate = *rate;
	b->level = tokens * (model_level)rate->interval_ns + part;
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
	m->limit_needed[limit] = 0;
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
