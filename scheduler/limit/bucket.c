/* SPDX-License-Identifier: MIT */
/* Token buckets. */
#include "scheduler/limit/bucket.h"

#include <errno.h>

#include "shm/plant.h"

uint64_t tqi_bucket_next_ns(const struct tqi_limit *limit)
{
	if (!limit->rate || limit->tokens)
		return 0;
	uint64_t need = ((uint64_t)limit->owed + 1) * limit->interval_ns - limit->part;
	uint64_t after = need / limit->rate + (need % limit->rate != 0);
	uint64_t when = limit->filled_ns + after;

	return when > INT64_MAX ? INT64_MAX : when; /* the heap's last time */
}

/* The bucket as it is now; tokens below 0 are owed. */
static void store(struct tqi_tx *tx, struct tqi_limit *limit, int64_t level, uint64_t part)
{
	const uint32_t tokens = level > 0 ? (uint32_t)level : 0;
	const uint32_t owed = level < 0 ? (uint32_t)-level : 0;

	if (TQI_PLANTED(plain_token))
		limit->tokens = tokens;
	else
		TQI_SET(tx, limit->tokens, tokens);
	if (owed != limit->owed)
		TQI_SET(tx, limit->owed, owed);
	TQI_SET(tx, limit->part, part);
	TQI_SET(tx, limit->filled_ns, tx->now_ns);
	uint64_t next_ns = tqi_bucket_next_ns(limit);

	if (next_ns != limit->next_ns)
		TQI_SET(tx, limit->next_ns, next_ns);
}

void tqi_bucket_fill(struct tqi_tx *tx, struct tqi_limit *limit)
{
	uint64_t part;
	int64_t level = tqi_bucket_tokens(limit, tx->now_ns, &part);

	store(tx, limit, level, part);
}

/* So much can be owed that no sum of LM-7 overflows. */
static int64_t owed_most(const struct tqi_limit *limit)
{
	const int64_t all = limit->interval_ns ? (int64_t)(INT64_MAX / limit->interval_ns) : 0;
	const int64_t most = all - limit->rate - limit->burst;

	return most > 0 ? most : 0;
}

void tqi_bucket_take(struct tqi_tx *tx, struct tqi_limit *limit, uint32_t weight)
{
	uint64_t part;
	int64_t level = tqi_bucket_tokens(limit, tx->now_ns, &part) - weight;
	const int64_t least = -owed_most(limit);

	store(tx, limit, level < least ? least : level, part);
	if (limit->next_ns)
		TQI_SET(tx, limit->full_ns, limit->next_ns); /* LM-9 */
}

void tqi_bucket_book(struct tqi_tx *tx, uint32_t x)
{
	struct tqi_limit *limit = tqi_limit_at(tx, x);
	struct tqi_heap *refills = &tqi_root(tx)->limit.refills;
	struct tqi_heap_entry entry = { (int64_t)limit->next_ns, tqi_tag(0, x) };
	bool wanted = limit->waiting && limit->next_ns, present = limit->booked;

	tqi_heap_follow(tx, refills, TQI_FAMILY_REFILL, entry, present, wanted);
	if (wanted != present)
		TQI_SET(tx, limit->booked, wanted);
}

/* Room in the heap for one more limit that has a rate. */
static int count_rate(struct tqi_tx *tx, bool had, bool has)
{
	struct tqi_root *root = tqi_root(tx);

	if (has && !had && tqi_heap_reserve(tx, &root->limit.refills, root->limit.rates + 1) < 0)
		return -ENOMEM;
	if (has != had)
		TQI_ADD(tx, root->limit.rates, has ? 1 : -1);
	return 0;
}

int tqi_bucket_set(struct tqi_tx *tx, uint32_t x, const struct tqi_rate *rate)
{
	struct tqi_limit *limit = tqi_limit_at(tx, x);
	bool had = limit->rate;
	bool same = limit->rate == rate->rate && limit->interval_ns == rate->interval_ns;
	uint64_t part = 0;
	int64_t level = had ? tqi_bucket_tokens(limit, tx->now_ns, &part) : rate->burst;

	if (count_rate(tx, had, rate->rate) < 0)
		return -ENOMEM;
	TQI_SET(tx, limit->rate, rate->rate);
	TQI_SET(tx, limit->burst, rate->burst);
	TQI_SET(tx, limit->interval_ns, rate->interval_ns);
	if (level >= rate->burst || !rate->rate) {
		level = rate->burst;
		part = 0;
	}
	store(tx, limit, level, same ? part : 0);
	tqi_bucket_book(tx, x);
	return 0;
}
