/* SPDX-License-Identifier: MIT */
/* Limits by key: their records, sizes and slots. */
#include "scheduler/limit/limit.h"

#include <errno.h>
#include <string.h>

#include "scheduler/record/name.h"
#include "scheduler/record/task_record.h"

uint32_t tqi_limit_find(struct tqi_tx *tx, const char *name, uint32_t bytes)
{
	return tqi_name_seek(tx, TQI_LIMITS, (struct tqi_name){ name, bytes, 0 });
}

/* All but the link of a record that nothing refers to (TX-3). */
static void fill(struct tqi_limit *limit, const char *name, uint32_t bytes)
{
	tqi_table_clear(limit, sizeof(*limit));
	TQI_INIT(limit->size, TQI_LIMIT_NONE);
	TQI_INIT(limit->bytes, (uint8_t)bytes);
	memcpy(limit->name, name, bytes);
}

/* Found or made. */
static int make(struct tqi_tx *tx, const char *name, uint32_t *ret_limit)
{
	uint32_t bytes = (uint32_t)strnlen(name, TQ_KEY_MAX), x = tqi_limit_find(tx, name, bytes);
	bool full;

	*ret_limit = x;
	if (x)
		return 0;
	x = tqi_table_take(tx, TQI_LIMITS, &full);
	if (!x)
		return full ? TQ_EFULL : -ENOMEM;
	fill(tqi_limit_at(tx, x), name, bytes);
	*ret_limit = x;
	return tqi_name_enter(tx, TQI_LIMITS, x);
}

/* Nothing names it, and nothing was set: it goes. */
static void drop_unused(struct tqi_tx *tx, uint32_t x)
{
	const struct tqi_limit *limit = tqi_limit_at(tx, x);

	if (limit->tasks || tqi_limit_is_set(limit))
		return;
	tqi_name_leave(tx, TQI_LIMITS, x);
	tqi_table_give(tx, TQI_LIMITS, x);
}

uint32_t tqi_limits_full(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX])
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++) {
		const uint32_t x = tqi_need_limit(limits[i]);

		if (tqi_limit_is_full(tqi_limit_at(tx, x), tx->now_ns))
			return x;
	}
	return 0;
}

uint32_t tqi_limits_holding(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX])
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++)
		if (tqi_limit_holds_back(tqi_limit_at(tx, tqi_need_limit(limits[i])),
					 tqi_need_weight(limits[i]), tx->now_ns))
			return limits[i];
	return 0;
}

bool tqi_limits_gather(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX])
{
	bool lacks = false;

	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++) {
		struct tqi_limit *limit = tqi_limit_at(tx, tqi_need_limit(limits[i]));
		const uint32_t places = tqi_limit_places(limit, tqi_need_weight(limits[i]));

		if (tqi_limit_has_free(limit, places))
			continue;
		TQI_SET(tx, limit->needed, places);
		lacks = true;
	}
	return lacks;
}

const uint32_t *tqi_limits_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	if (!(task->flags & TQI_TASK_EXTRA))
		return NULL;
	const uint32_t *limits = tqi_task_extra(tx, task)->limits;

	return limits[0] ? limits : NULL;
}

/* Into its place among those before; false: it is there already, and the larger weight counts. */
static bool insert(uint32_t limits[TQ_LIMITS_MAX], uint32_t count, uint32_t need)
{
	const uint32_t x = tqi_need_limit(need);
	uint32_t at = count;

	for (uint32_t i = 0; i < count; i++) {
		if (tqi_need_limit(limits[i]) != x)
			continue;
		if (limits[i] < need)
			limits[i] = need;
		return false;
	}
	for (; at > 0 && tqi_need_limit(limits[at - 1]) > x; at--)
		limits[at] = limits[at - 1];
	limits[at] = need;
	return true;
}

int tqi_limits_join(struct tqi_tx *tx, const char *const *keys, const uint32_t *weights,
		    uint32_t count, uint32_t ret_limits[TQ_LIMITS_MAX])
{
	uint32_t joined = 0;

	memset(ret_limits, 0, TQ_LIMITS_MAX * sizeof(*ret_limits));
	for (uint32_t i = 0; i < count && i < TQ_LIMITS_MAX; i++) {
		uint32_t x;
		int r = make(tx, keys[i], &x);

		if (r < 0)
			return r;
		if (!insert(ret_limits, joined, tqi_need(x, weights ? weights[i] : 1)))
			continue;
		joined++;
		TQI_ADD(tx, tqi_limit_at(tx, x)->tasks, 1);
	}
	return 0;
}

void tqi_limits_leave(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX])
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++) {
		const uint32_t x = tqi_need_limit(limits[i]);

		TQI_ADD(tx, tqi_limit_at(tx, x)->tasks, -1);
		drop_unused(tx, x);
	}
}

void tqi_slots_take(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX])
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++) {
		const uint32_t x = tqi_need_limit(limits[i]), weight = tqi_need_weight(limits[i]);
		struct tqi_limit *limit = tqi_limit_at(tx, x);

		TQI_ADD(tx, limit->used, weight);
		if (!limit->rate)
			continue;
		tqi_bucket_take(tx, limit, weight);
		tqi_bucket_book(tx, x);
	}
}

/* LM-5: one with closed parkings has room. */
static void loosen(struct tqi_tx *tx, uint32_t x)
{
	struct tqi_limit *limit = tqi_limit_at(tx, x);

	if (limit->loosened)
		return;
	tqi_list_push(tx, tqi_loosened_list(tqi_root(tx)), x);
	TQI_SET(tx, limit->loosened, 1);
}

/*
 * It has room, which it had not.  Who is to be woken for those who wait is decided at
 * the end of the transaction: whoever makes room often takes the next task itself.
 */
static void has_room(struct tqi_tx *tx, uint32_t x, const struct tqi_limit *limit)
{
	if (limit->closed)
		loosen(tx, x);
	if (limit->waiting)
		tx->pass_on = true;
}

void tqi_slots_give(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX])
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++) {
		const uint32_t x = tqi_need_limit(limits[i]);
		struct tqi_limit *limit = tqi_limit_at(tx, x);
		bool full = tqi_limit_is_full(limit, tx->now_ns);

		TQI_SET(tx, limit->used, limit->used - tqi_need_weight(limits[i]));
		if (limit->needed && tqi_limit_has_places(limit))
			TQI_SET(tx, limit->needed, 0u); /* LM-10: they have come together */
		if (!full || tqi_limit_is_full(limit, tx->now_ns))
			continue;
		TQI_SET(tx, limit->full_ns, tx->now_ns);
		has_room(tx, x, limit);
	}
}

bool tqi_limits_were_full(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX],
			  uint64_t since_ns)
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++)
		if (tqi_limit_at(tx, tqi_need_limit(limits[i]))->full_ns > since_ns)
			return true;
	return false;
}

void tqi_limits_wait(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX], int change)
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++) {
		const uint32_t x = tqi_need_limit(limits[i]);
		struct tqi_limit *limit = tqi_limit_at(tx, x);

		TQI_ADD(tx, limit->waiting, change);
		if (limit->next_ns && limit->booked != (limit->waiting != 0))
			tqi_bucket_book(tx, x);
	}
}

bool tqi_limits_refill(struct tqi_tx *tx)
{
	while (tqi_bucket_due(tx) <= tx->now_ns && !tx->corrupt) {
		uint32_t x = tqi_tag_index(tqi_root(tx)->limit.refills.root.tag);
		struct tqi_limit *limit = tqi_limit_at(tx, x);

		if (tqi_tx_is_filling(tx))
			return false;
		tqi_bucket_fill(tx, limit);
		tqi_bucket_book(tx, x);
		if (!tqi_limit_is_full(limit, tx->now_ns))
			has_room(tx, x, limit);
		else if (limit->next_ns)
			tx->corrupt = true; /* LM-8: its time had come */
	}
	return true;
}

void tqi_limits_freshen(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX])
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++) {
		struct tqi_limit *limit = tqi_limit_at(tx, tqi_need_limit(limits[i]));

		if (limit->next_ns && limit->next_ns <= tx->now_ns && !limit->waiting)
			tqi_bucket_fill(tx, limit);
	}
}

/* LM-9, after other settings. */
static void note_full(struct tqi_tx *tx, struct tqi_limit *limit, bool was_full)
{
	if (limit->next_ns > tx->now_ns)
		TQI_SET(tx, limit->full_ns, limit->next_ns);
	else if (was_full && !tqi_limit_is_full(limit, tx->now_ns))
		TQI_SET(tx, limit->full_ns, tx->now_ns);
}

static int set(struct tqi_tx *tx, uint32_t x, const struct tqi_limit_change *change)
{
	struct tqi_limit *limit = tqi_limit_at(tx, x);
	/* Booked: a token may have come that nobody has noticed. */
	bool is_full = tqi_limit_is_full(limit, tx->now_ns), full = limit->booked || is_full;
	int r = change->has_rate ? tqi_bucket_set(tx, x, &change->rate) : 0;

	if (r < 0)
		return r;
	if (change->size && change->size != limit->size)
		TQI_SET(tx, limit->size, change->size);
	if (limit->needed)
		TQI_SET(tx, limit->needed, 0u);
	note_full(tx, limit, is_full);
	if (full && !tqi_limit_is_full(limit, tx->now_ns))
		has_room(tx, x, limit);
	drop_unused(tx, x);
	return 0;
}

static bool takes_away(const struct tqi_limit_change *change)
{
	return (!change->size || change->size == TQI_LIMIT_NONE) &&
	       !(change->has_rate && change->rate.rate);
}

int tqi_limit_set(struct tqi_tx *tx, const char *name, const struct tqi_limit_change *change)
{
	uint32_t x = tqi_limit_find(tx, name, (uint32_t)strnlen(name, TQ_KEY_MAX));

	if (takes_away(change) && (!x || !tqi_limit_is_set(tqi_limit_at(tx, x))))
		return -ENOENT;
	int r = make(tx, name, &x);

	return r < 0 ? r : set(tx, x, change);
}
