/* SPDX-License-Identifier: MIT */
/* Limits are believed with their names and sizes; what is used of them is counted anew. */
#include <string.h>

#include "scheduler/limit/limit.h"
#include "scheduler/rebuild/rebuild_state.h"

/* With a rate that cannot be it has none; with tokens that cannot be it begins full. */
static void mend_bucket(const struct tqi_check *c, struct tqi_limit *limit)
{
	const struct tqi_rate rate = { limit->interval_ns, limit->rate, limit->burst };

	if (!tqi_rate_is_valid(&rate))
		limit->interval_ns = limit->rate = limit->burst = limit->owed = 0;
	limit->next_ns = tqi_bucket_next_ns(limit);
	if (tqi_check_bucket_is_sound(limit))
		return;
	limit->tokens = limit->burst;
	limit->part = limit->next_ns = 0;
	limit->owed = 0;
	limit->filled_ns = c->tx->core->last_now_ns;
}

static void mend_limit(struct tqi_check *c, uint32_t x)
{
	struct tqi_limit *limit = tqi_check_record(c, TQI_LIMITS, x);

	if (!limit)
		return;
	mend_bucket(c, limit);
	if (!tqi_check_limit_is_sound(limit))
		limit->bytes = 0;
	else if (tqi_limit_is_set(limit))
		c->marks[TQI_LIMITS][x] |= TQI_SEEN_LINKED;
}

void tqi_rebuild_limits_begin(struct tqi_check *c)
{
	for (uint32_t x = 1; x < c->count[TQI_LIMITS]; x++)
		mend_limit(c, x);
}

/* Those that are there, each once, in order; of a weight that cannot be, the largest. */
static void mend_list(struct tqi_check *c, uint32_t limits[TQ_LIMITS_MAX])
{
	uint32_t kept[TQ_LIMITS_MAX] = { 0 }, count = 0;

	for (uint32_t i = 0; i < TQ_LIMITS_MAX; i++) {
		const uint32_t x = tqi_need_limit(limits[i]), weight = tqi_need_weight(limits[i]);
		const struct tqi_limit *limit = tqi_check_record(c, TQI_LIMITS, x);
		uint32_t at = count;

		if (!limit || !limit->bytes)
			continue;
		while (at > 0 && tqi_need_limit(kept[at - 1]) > x)
			at--;
		if (at > 0 && tqi_need_limit(kept[at - 1]) == x)
			continue;
		memmove(kept + at + 1, kept + at, (count - at) * sizeof(*kept));
		kept[at] = tqi_need(x, weight < TQ_WEIGHT_MAX ? weight : TQ_WEIGHT_MAX);
		count++;
	}
	memcpy(limits, kept, sizeof(kept));
}

void tqi_rebuild_task_limits(struct tqi_check *c, const struct tqi_task *t)
{
	struct tqi_extra *extra = tqi_check_extra(c, t);

	if (!extra)
		return;
	mend_list(c, extra->limits);
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && extra->limits[i]; i++) {
		const uint32_t need = extra->limits[i], x = tqi_need_limit(need);
		struct tqi_limit *limit = tqi_limit_at(c->tx, x);

		limit->tasks++;
		limit->used += t->state == TQ_RUNNING ? tqi_need_weight(need) : 0;
		c->marks[TQI_LIMITS][x] |= TQI_SEEN_LINKED;
	}
}

static int index_limit(struct tqi_check *c, uint32_t x)
{
	struct tqi_limit *limit = tqi_limit_at(c->tx, x);

	const struct tqi_rebuild_lost how = { "lost-limit", limit->name, &limit->bytes, false };
	int r = tqi_rebuild_name(c, TQI_LIMITS, x, &how);

	tqi_root(c->tx)->limit.rates += limit->rate != 0;
	if (r == 0)
		r = tqi_heap_reserve(c->tx, &tqi_root(c->tx)->limit.refills,
				     tqi_root(c->tx)->limit.rates);
	return r;
}

int tqi_rebuild_limits(struct tqi_check *c)
{
	int r = 0;

	for (uint32_t x = 1; x < c->count[TQI_LIMITS] && r == 0; x++)
		if (c->marks[TQI_LIMITS][x] & TQI_SEEN_LINKED)
			r = index_limit(c, x);
	return r;
}
