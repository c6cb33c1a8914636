/* SPDX-License-Identifier: MIT */
/* Limits, and the lanes that wait for them: RC-8, LM-3 to LM-5. */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/record/name.h"
#include "scheduler/order/lane.h"
#include "scheduler/limit/limit.h"

bool tqi_check_limit_is_sound(const struct tqi_limit *limit)
{
	return limit->bytes > 0 && limit->bytes <= TQ_KEY_MAX &&
	       strnlen(limit->name, TQ_KEY_MAX + 1) == limit->bytes && limit->size > 0;
}

bool tqi_check_bucket_is_sound(const struct tqi_limit *limit)
{
	const struct tqi_rate rate = { limit->interval_ns, limit->rate, limit->burst };

	return tqi_rate_is_valid(&rate) && limit->tokens <= limit->burst &&
	       limit->owed <= (limit->rate && !limit->tokens ? TQ_WEIGHT_MAX : 0) &&
	       limit->part < (limit->rate ? limit->interval_ns : 1) &&
	       limit->filled_ns <= INT64_MAX && limit->next_ns == tqi_bucket_next_ns(limit);
}

bool tqi_check_limits_are_sound(struct tqi_check *c, const uint32_t limits[TQ_LIMITS_MAX])
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX; i++) {
		const uint32_t x = tqi_need_limit(limits[i]);
		bool follows = i && x <= tqi_need_limit(limits[i - 1]);

		if (!limits[i] ? i + 1 < TQ_LIMITS_MAX && limits[i + 1]
			       : follows || tqi_need_weight(limits[i]) > TQ_WEIGHT_MAX ||
					 !tqi_check_record_in_use(c, TQI_LIMITS, x))
			return false;
	}
	return true;
}

/* A task's own side: the lane that it is in, and what it adds up to. */
void tqi_check_task_limits(struct tqi_check *c, uint32_t index, const struct tqi_task *t,
			   const struct tqi_lane *lane)
{
	static const uint32_t none[TQ_LIMITS_MAX];
	const struct tqi_extra *extra = tqi_check_extra(c, t);
	const uint32_t *limits = extra ? extra->limits : none;

	if (!tqi_check_limits_are_sound(c, limits)) {
		tqi_check_fault(c, "task %u: its limits make no sense", index);
		return;
	}
	if (lane && memcmp(lane->limits, limits, sizeof(none)) != 0)
		tqi_check_fault(c, "task %u: lane %u is not of its limits", index, t->lane);
	for (uint32_t i = 0; i < TQ_LIMITS_MAX && limits[i]; i++) {
		struct tqi_check_limit *sum = &c->limits[tqi_need_limit(limits[i])];

		sum->tasks++;
		sum->used += t->state == TQ_RUNNING ? tqi_need_weight(limits[i]) : 0;
		sum->waiting += t->state == TQ_READY && !(t->flags & TQI_TASK_HELD);
	}
}

/* Indexes: each entry once, where it belongs. */

static uint64_t hash_of_lane(struct tqi_tx *tx, uint32_t l)
{
	const struct tqi_lane *lane = tqi_lane_at(tx, l);

	return tqi_lane_hash(tx, lane->class_, lane->limits, lane->is_parking);
}

static uint64_t hash_of(struct tqi_check *c, const struct tqi_check_index *i, uint32_t record)
{
	if (i->hash)
		return i->hash(c->tx, record);
	const struct tqi_name name = tqi_name_of(c->tx, i->table, record);

	return tqi_name_hash(c->tx, &name);
}

/* False: what follows cannot be read. */
static bool check_entry(struct tqi_check *c, const struct tqi_check_index *i, uint32_t bucket,
			uint32_t record)
{
	const struct tqi_hash_node *node = tqi_check_record_in_use(c, i->table, record);

	if (!node || (c->marks[i->table][record] & TQI_SEEN_LINKED)) {
		tqi_check_fault(c, "%s: bucket %u broken at %u", i->name, bucket, record);
		return false;
	}
	c->marks[i->table][record] |= TQI_SEEN_LINKED;
	if (node->hash != hash_of(c, i, record) || tqi_hash_bucket(i->index, node->hash) != bucket)
		tqi_check_fault(c, "%s: %u is in bucket %u, where it does not belong", i->name,
				record, bucket);
	return true;
}

bool tqi_check_index(struct tqi_check *c, const struct tqi_check_index *i)
{
	uint32_t count = 0, before = c->faults;

	if (!tqi_check_heads(c, i->index, i->name))
		return false;
	for (uint32_t b = 0; b < i->index->buckets; b++) {
		uint32_t record = tqi_hash_head(c->tx, i->index, b);

		for (; record && check_entry(c, i, b, record); count++)
			record = ((struct tqi_hash_node *)tqi_table_at(c->tx, i->table, record))
					 ->next;
	}
	tqi_check_equal(c, i->name, 0, "count", i->index->count, count);
	return c->faults == before;
}

/* A limit's record. */
static void check_limit(struct tqi_check *c, uint32_t x)
{
	const struct tqi_limit *limit = tqi_check_record_in_use(c, TQI_LIMITS, x);
	const struct tqi_check_limit *sum = &c->limits[x];

	if (!limit)
		return;
	if (!tqi_check_limit_is_sound(limit))
		tqi_check_fault(c, "limit %u: no name, or size %u", x, limit->size);
	if (!(c->marks[TQI_LIMITS][x] & TQI_SEEN_LINKED))
		tqi_check_fault(c, "limit %u: not in the index", x);
	tqi_check_equal(c, "limit", x, "tasks", limit->tasks, sum->tasks);
	tqi_check_equal(c, "limit", x, "used", limit->used, sum->used);
	tqi_check_equal(c, "limit", x, "waiting", limit->waiting, sum->waiting);
	if (!limit->tasks && !tqi_limit_is_set(limit))
		tqi_check_fault(c, "limit %u: of no task, and not set", x);
	if (!tqi_check_bucket_is_sound(limit))
		tqi_check_fault(c, "limit %u: its tokens make no sense", x);
	if (limit->booked != (limit->waiting && limit->next_ns)) /* LM-8 */
		tqi_check_fault(c, "limit %u: %s the heap of refills", x,
				limit->booked ? "in" : "not in");
	c->rates += limit->rate != 0;
	if (limit->needed &&
	    (limit->needed > limit->size || tqi_limit_has_places(limit))) /* LM-10 */
		tqi_check_fault(c, "limit %u: %u places are needed, which are free", x,
				limit->needed);
	if (limit->closed && tqi_limit_has_places(limit) && !limit->booked && !limit->loosened)
		tqi_check_fault(c, "limit %u: it has room, and closed parkings", x);
	if (limit->loosened && !limit->closed)
		tqi_check_fault(c, "limit %u: loosened, without closed parkings", x);
}

/* LM-5: the closed parkings of a limit. */
static void check_closed(struct tqi_check *c, uint32_t x)
{
	const struct tqi_limit *limit = tqi_check_record_in_use(c, TQI_LIMITS, x);
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_LANES, tqi_lane, prev, next),
				       .mark = TQI_SEEN_CLOSED, .name = "closed parkings of limit",
				       .owner = x, .next = limit ? limit->closed : 0 };
	const struct tqi_lane *parking;

	while ((parking = tqi_check_next(c, &list)))
		if (!parking->is_parking || parking->limits[0] != x ||
		    parking->state != TQI_PARKING_CLOSED)
			tqi_check_break(c, &list);
}

static void check_loosened(struct tqi_check *c)
{
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_LIMITS, tqi_limit, prev, next),
				       .mark = TQI_SEEN_CLOSED, .name = "loosened limits",
				       .next = tqi_root(c->tx)->limit.loosened };
	const struct tqi_limit *l;

	while ((l = tqi_check_next(c, &list)))
		if (l->loosened != 1)
			tqi_check_break(c, &list);
	if (list.broken)
		return;
	for (uint32_t x = 1; x < c->count[TQI_LIMITS]; x++) {
		const struct tqi_limit *limit = tqi_check_record_in_use(c, TQI_LIMITS, x);

		if (limit && limit->loosened && !(c->marks[TQI_LIMITS][x] & TQI_SEEN_CLOSED))
			tqi_check_fault(c, "limit %u: loosened, but not listed", x);
	}
}

/* A lane's record, but for its heap. */
static void check_parked(struct tqi_check *c, uint32_t l, const struct tqi_lane *lane)
{
	const struct tqi_lane *parking =
		lane->parking ? tqi_check_record_in_use(c, TQI_LANES, lane->parking) : NULL;
	bool named = false;

	if (!lane->parking)
		return;
	for (uint32_t i = 0; parking && i < TQ_LIMITS_MAX && lane->limits[i]; i++)
		named |= tqi_need_limit(lane->limits[i]) == parking->limits[0];
	if (!named || !parking->is_parking || parking->class_ != lane->class_ ||
	    !lane->tasks.length)
		tqi_check_fault(c, "lane %u: parked at %u", l, lane->parking);
}

static void check_lane(struct tqi_check *c, uint32_t l, bool asks)
{
	const struct tqi_lane *lane = tqi_check_record_in_use(c, TQI_LANES, l);
	const struct tqi_class *class = lane ? tqi_check_record_in_use(c, TQI_CLASSES, lane->class_)
					     : NULL;

	if (!lane)
		return;
	bool plain = class && class->plain == l;

	if (!class || plain == !!(c->marks[TQI_LANES][l] & TQI_SEEN_LINKED) ||
	    plain != !lane->limits[0] || lane->is_parking > 1 ||
	    !tqi_check_limits_are_sound(c, lane->limits)) {
		tqi_check_fault(c, "lane %u: of class %u, %sin the index", l, lane->class_,
				plain ? "plain, or " : "not ");
		return;
	}
	c->lanes[lane->class_].all++;
	c->lanes[lane->class_].parked += lane->parking != 0;
	if (lane->is_parking &&
	    (lane->parking || lane->limits[1] || lane->state > TQI_PARKING_CLOSED ||
	     (lane->state == TQI_PARKING_EMPTY) != !lane->tasks.length ||
	     (lane->state == TQI_PARKING_CLOSED) != !!(c->marks[TQI_LANES][l] & TQI_SEEN_CLOSED)))
		tqi_check_fault(c, "parking %u: state %u, %u lanes", l, lane->state,
				lane->tasks.length);
	if (lane->is_parking)
		return;
	check_parked(c, l, lane);
	for (uint32_t i = 0; asks && i < TQ_LIMITS_MAX && lane->limits[i]; i++) {
		const uint32_t x = tqi_need_limit(lane->limits[i]);
		uint32_t p = tqi_parking_find(c->tx, lane->class_, x);

		c->members[p]++; /* of none: 0 */
		if (!p)
			tqi_check_fault(c, "lane %u: no parking at limit %u", l, x);
	}
}

static bool expect_in_refills(struct tqi_check *c, uint32_t index, const struct tqi_check_heap *h,
			      struct tqi_heap_entry *entry)
{
	const struct tqi_limit *limit = tqi_limit_at(c->tx, index);

	(void)h;
	*entry = (struct tqi_heap_entry){ (int64_t)limit->next_ns, tqi_tag(0, index) };
	return limit->booked;
}

static void check_refills(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);

	tqi_check_heap(c, &(struct tqi_check_heap){ &root->limit.refills, TQI_FAMILY_REFILL,
						    TQI_LIMITS, TQI_SEEN_DUE, 0, "refills",
						    expect_in_refills });
	tqi_check_equal(c, "root", 0, "rates", root->limit.rates, c->rates);
	if (root->limit.refills.capacity < root->limit.rates)
		tqi_check_fault(c, "root: no refills for all of %u rates", root->limit.rates);
	for (uint32_t x = 1; x < c->count[TQI_LIMITS]; x++) {
		const struct tqi_limit *limit = tqi_check_record_in_use(c, TQI_LIMITS, x);

		if (limit && limit->booked && !(c->marks[TQI_LIMITS][x] & TQI_SEEN_DUE))
			tqi_check_fault(c, "limit %u: not in the heap of refills", x);
	}
}

void tqi_check_limits(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	const struct tqi_check_index limits = { &root->named.limits, TQI_LIMITS, "limit index",
						NULL };
	const struct tqi_check_index lanes = { &root->named.lanes, TQI_LANES, "lane index",
					       hash_of_lane };

	tqi_check_index(c, &limits);
	bool asks = tqi_check_index(c, &lanes);

	for (uint32_t x = 1; x < c->count[TQI_LIMITS]; x++) {
		check_limit(c, x);
		check_closed(c, x);
	}
	check_loosened(c);
	for (uint32_t l = 1; l < c->count[TQI_LANES]; l++)
		check_lane(c, l, asks);
	check_refills(c);
}
