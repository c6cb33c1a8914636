/* SPDX-License-Identifier: MIT */
/*
 * Token buckets of limits: how many attempts may begin in a time.
 *
 * LM-7  A limit with a rate gets `rate` tokens an interval, one after the other, and keeps
 *     at most `burst`; each start takes one, or as many as its weight says, as soon as one is
 *     there: what is missing is owed, and the next token comes when that has been made up
 *     for.  No end gives any back.  In whole numbers:
 *     `part` is what of the next token was there at filled_ns, in intervals / rate, so
 *     nothing is lost or gained however often somebody looks.
 * LM-8  `next_ns` is when the next token comes, while there is none; else 0.  Only then, and
 *     while tasks wait, the limit is in the root's heap of refills: nobody polls.
 */
#ifndef TQI_SCHEDULER_LIMIT_BUCKET_H
#define TQI_SCHEDULER_LIMIT_BUCKET_H

#include "scheduler/record/records.h"

/* Settings of a bucket; rate 0: none. */
struct tqi_rate {
	uint64_t interval_ns;
	uint32_t rate;
	uint32_t burst;
};

/* No sum of LM-7 can overflow: all are below (rate + burst) * interval. */
static inline bool tqi_rate_is_valid(const struct tqi_rate *r)
{
	if (!r->rate)
		return !r->burst && !r->interval_ns;
	return r->burst && r->interval_ns &&
	       r->interval_ns <= (uint64_t)INT64_MAX / ((uint64_t)r->rate + r->burst);
}

/* What is there at a time that is not before filled_ns, or (negative) owed; the rest in *ret_part. */
static inline int64_t tqi_bucket_tokens(const struct tqi_limit *limit, uint64_t now_ns,
					uint64_t *ret_part)
{
	uint64_t missing = (uint64_t)limit->burst - limit->tokens + limit->owed;
	uint64_t need = missing * limit->interval_ns - (missing ? limit->part : 0);
	uint64_t elapsed = now_ns > limit->filled_ns ? now_ns - limit->filled_ns : 0;

	*ret_part = 0;
	if (!limit->rate || elapsed >= need / limit->rate + (need % limit->rate != 0))
		return limit->burst;
	uint64_t units = elapsed * limit->rate + limit->part;

	*ret_part = units % limit->interval_ns;
	return (int64_t)limit->tokens - limit->owed + (int64_t)(units / limit->interval_ns);
}

/* When the next token comes to a bucket that has none; 0 it has some, or there is no bucket. */
uint64_t tqi_bucket_next_ns(const struct tqi_limit *limit);

/* Another rate, or none: what is there stays, as far as it finds room.  -ENOMEM. */
int tqi_bucket_set(struct tqi_tx *tx, uint32_t limit, const struct tqi_rate *rate);
/* Count what has come until now. */
void tqi_bucket_fill(struct tqi_tx *tx, struct tqi_limit *limit);
/* An attempt of this weight begins. */
void tqi_bucket_take(struct tqi_tx *tx, struct tqi_limit *limit, uint32_t weight);
/* Into the heap of refills, or out of it, or to another time there, as LM-8 says. */
void tqi_bucket_book(struct tqi_tx *tx, uint32_t limit);

/* When the first of those that are waited for comes; UINT64_MAX none. */
static inline uint64_t tqi_bucket_due(const struct tqi_tx *tx)
{
	const struct tqi_heap *refills = &tqi_root(tx)->limit.refills;

	return refills->length ? (uint64_t)refills->root.key : UINT64_MAX;
}

#endif
