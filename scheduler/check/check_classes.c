/* SPDX-License-Identifier: MIT */
/* Classes in the chains of their owners, lanes in classes, and the heaps of both. */
#include "scheduler/check/check_state.h"

#include "scheduler/order/lane.h"
#include "scheduler/order/run.h"
#include "scheduler/order/tournament.h"

/* A class's own fields; its queue's policy, if it is of its era. */
static void check_class(struct tqi_check *c, uint32_t k, const struct tqi_class *class,
			const struct tqi_queue *queue)
{
	const struct tqi_lane *lane = tqi_check_record_in_use(c, TQI_LANES, class->plain);
	bool aged = queue->max_wait_ns != UINT64_MAX;

	if (!tqi_check_record_in_use(c, TQI_KINDS, class->kind))
		tqi_check_fault(c, "class %u: kind %u", k, class->kind);
	if (!lane || lane->class_ != k)
		tqi_check_fault(c, "class %u: lane %u is not its own", k, class->plain);
	else if (class->lane_count == 1 && !lane->members && class->tenant)
		tqi_check_fault(c, "class %u: a tenant's, and empty", k);
	if (class->band >= TQ_BANDS || class->rate > TQ_AGEING_MAX)
		tqi_check_fault(c, "class %u: band %u ages at %u", k, class->band, class->rate);
	else if (class->era == queue->era && (class->rate != queue->ageing[class->band] ||
					      class->edf != queue->edf || class->aged != aged))
		tqi_check_fault(c, "class %u: policy %u/%u/%u is not its queue's", k, class->rate,
				class->edf, class->aged);
	if (class->era != queue->era &&
	    (!(queue->flags & TQI_QUEUE_MOVING) || class->era + 1 != queue->era))
		tqi_check_fault(c, "class %u: of era %u, in era %u of queue %u", k, class->era,
				queue->era, class->queue);
}

/* Its place in the tournament of its band; another one of its kind and band has it already. */
static void check_competitor(struct tqi_check *c, const struct tqi_check_owner *o, uint32_t k,
			     const struct tqi_class *class, const struct tqi_tournament *t)
{
	uint32_t limit = c->count[TQI_CLASSES]; /* the chain may be a ring */
	const struct tqi_class *other = class;

	while ((other = tqi_check_record_in_use(c, TQI_CLASSES, other->next)) && limit--)
		if (other->kind == class->kind && other->band == class->band) {
			tqi_check_fault(c, "class %u: not the only one of its band", k);
			return;
		}
	if (!t)
		return;
	if (!class->watched)
		tqi_check_fault(c, "class %u: nobody watches it", k);
	tqi_check_place(c, o, t, class->kind, k,
			(const struct tqi_heap_entry *[]){ tqi_class_head(class, TQI_BY_KEY),
							   tqi_class_head(class, TQI_BY_AGE) });
}

/* The classes of one era's parity, with their tournaments; how many these are. */
static uint32_t check_chain(struct tqi_check *c, const struct tqi_check_owner *o,
			    const struct tqi_chain *chain, uint32_t parity, uint32_t q,
			    uint32_t tenant)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);
	const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, chain->first);
	const struct tqi_tournament *bands[TQ_BANDS] = { NULL };
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_CLASSES, tqi_class, prev, next),
				       .mark = TQI_SEEN_LINKED,
				       .name = tenant ? "classes of tenant" : "classes of queue",
				       .owner = o->index, .next = chain->first };
	uint32_t places = 0;

	tqi_check_bands(c, o, chain->tournaments, class ? tqi_class_orders(class) : 0, bands);
	while ((class = tqi_check_next(c, &list))) {
		if (class->queue != q || class->tenant != tenant || (class->era & 1) != parity ||
		    !queue) {
			tqi_check_break(c, &list);
			continue;
		}
		c->eras[q].of[parity]++;
		check_class(c, list.at, class, queue);
		check_competitor(c, o, list.at, class, bands[class->band % TQ_BANDS]);
		if (chain->tournaments && !bands[class->band % TQ_BANDS])
			tqi_check_fault(c, "class %u: no tournament of band %u", list.at,
					class->band);
	}
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		places += tqi_check_count_places(bands[b]);
	tqi_check_equal(c, o->record, o->index, "kinds with a place", places,
			chain->tournaments ? list.count : 0);
	return list.count;
}

/* A tenant's come first: a queue counts them, too. */
void tqi_check_classes(struct tqi_check *c)
{
	for (uint32_t t = 1; t < c->count[TQI_TENANTS]; t++) {
		const struct tqi_tenant *tenant = tqi_check_record_in_use(c, TQI_TENANTS, t);

		for (uint32_t e = 0; tenant && e < 2; e++)
			tqi_check_equal(c, "tenant", t, "classes", tenant->chains[e].left,
					check_chain(c, &(struct tqi_check_owner){ "tenant", t },
						    &tenant->chains[e], e, tenant->queue, t));
	}
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		for (uint32_t e = 0; queue && e < 2; e++) {
			check_chain(c, &(struct tqi_check_owner){ "queue", q }, &queue->chains[e],
				    e, q, 0);
			tqi_check_equal(c, "queue", q, "classes", queue->chains[e].left,
					c->eras[q].of[e]);
		}
	}
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++)
		if (tqi_check_record_in_use(c, TQI_CLASSES, k) &&
		    !(c->marks[TQI_CLASSES][k] & TQI_SEEN_LINKED))
			tqi_check_fault(c, "class %u: in no chain", k);
}

/* RC-3. */
static bool is_in_lane(const struct tqi_task *t)
{
	return t->state == TQ_READY && !(t->flags & (TQI_TASK_HELD | TQI_TASK_ASSIGNED));
}

static const uint32_t families[2][TQI_ORDERS] = { { TQI_FAMILY_LANE, TQI_FAMILY_AGE },
						  { TQI_FAMILY_OPEN, TQI_FAMILY_OLDEST } };

static uint32_t order_of(const struct tqi_check_heap *h)
{
	return h->family == TQI_FAMILY_AGE || h->family == TQI_FAMILY_OLDEST;
}

/* RN-1: the first task of a run in its lane; PO-6: or any by its age. */
static bool expect_task(struct tqi_check *c, uint32_t index, const struct tqi_check_heap *h,
			struct tqi_heap_entry *entry)
{
	const struct tqi_task *t = tqi_task_at(c->tx, index);

	entry->key = order_of(h) == TQI_BY_AGE ? (int64_t)t->ready_ns : t->key;
	entry->tag = tqi_tag(t->sequence, index);
	return is_in_lane(t) && t->lane == h->owner && (order_of(h) == TQI_BY_AGE || !t->prev);
}

/* A lane, or an open parking, stands in its class by its first one. */
static bool expect_lane(struct tqi_check *c, uint32_t index, const struct tqi_check_heap *h,
			struct tqi_heap_entry *entry)
{
	struct tqi_lane *lane = tqi_lane_at(c->tx, index);
	const struct tqi_heap *first = tqi_lane_heap(lane, order_of(h));

	*entry = tqi_lane_entry(&first->root, index);
	return lane->class_ == h->owner && first->length && !lane->parking &&
	       (!lane->is_parking || lane->state == TQI_PARKING_OPEN);
}

/* Or a lane in a parking. */
static bool expect_parked(struct tqi_check *c, uint32_t index, const struct tqi_check_heap *h,
			  struct tqi_heap_entry *entry)
{
	struct tqi_lane *lane = tqi_lane_at(c->tx, index);
	const struct tqi_heap *first = tqi_lane_heap(lane, order_of(h));

	*entry = tqi_lane_entry(&first->root, index);
	return lane->parking == h->owner && first->length && !lane->is_parking;
}

/* RN-1: the task `next` of a run, which is behind `prev`. */
static bool follows(struct tqi_check *c, uint32_t l, uint32_t prev, uint32_t next)
{
	const struct tqi_task *before = tqi_task_at(c->tx, prev);
	const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, next);

	if (!t || !is_in_lane(t) || t->lane != l || t->prev != prev ||
	    (c->marks[TQI_TASKS][next] & TQI_SEEN_LANE))
		return false;
	const struct tqi_heap_entry first = tqi_run_entry(before, prev);
	const struct tqi_heap_entry second = tqi_run_entry(t, next);

	return !tqi_entry_before(&second, &first);
}

/* One run; how many are behind the first. */
static uint32_t check_run(struct tqi_check *c, uint32_t l, uint32_t first)
{
	const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, first);
	uint32_t count = 0, prev = first;

	for (uint32_t next; t && (next = t->next); prev = next, count++) {
		if (!follows(c, l, prev, next)) {
			tqi_check_fault(c, "lane %u: run broken at %u", l, next);
			break;
		}
		c->marks[TQI_TASKS][next] |= TQI_SEEN_LANE;
		t = tqi_task_at(c->tx, next);
	}
	return count;
}

/* RN-1, RN-2: a lane's runs, which begin in its heap, and the end of one of them. */
static void check_runs(struct tqi_check *c, uint32_t l, const struct tqi_lane *lane)
{
	const struct tqi_task *last = tqi_check_record_in_use(c, TQI_TASKS, lane->last);
	struct tqi_heap heap = lane->tasks; /* the root is read from the copy */
	uint32_t behind = 0;

	for (uint32_t p = TQI_HEAP_ROOT; p < heap.length + TQI_HEAP_ROOT && !lane->is_parking; p++)
		behind += check_run(c, l, tqi_tag_index(tqi_heap_at(c->tx, &heap, p).tag));
	tqi_check_equal(c, "lane", l, "behind", lane->behind, behind);
	if (lane->last && (!last || !is_in_lane(last) || last->lane != l || last->next))
		tqi_check_fault(c, "lane %u: its last is %u", l, lane->last);
}

/* What a class, a parking or a lane has, in both orders: room for all its members, and who is there. */
static bool check_orders(struct tqi_check *c, struct tqi_check_heap h, bool aged, uint32_t members,
			 const struct tqi_heap *by_key, const struct tqi_heap *by_age)
{
	static const uint32_t marks[TQI_ORDERS] = { TQI_SEEN_LANE, TQI_SEEN_AGE };
	bool readable = true;

	for (uint32_t o = 0; o < TQI_ORDERS; o++) {
		h.heap = o == TQI_BY_AGE ? by_age : by_key;
		h.family = families[h.table != TQI_TASKS][o];
		h.mark = marks[o];
		readable &= tqi_check_heap(c, &h);
		if (h.heap->capacity < members && (aged || o == TQI_BY_KEY))
			tqi_check_fault(c, "%s %u: no room for all of its %u", h.name, h.owner,
					members);
	}
	return readable;
}

static void check_lane(struct tqi_check *c, uint32_t l)
{
	const struct tqi_lane *lane = tqi_check_record_in_use(c, TQI_LANES, l);
	const struct tqi_class *class = lane ? tqi_check_record_in_use(c, TQI_CLASSES, lane->class_)
					     : NULL;
	struct tqi_check_heap h = {
		.table = TQI_TASKS, .owner = l, .name = "lane", .expect = expect_task
	};

	if (!lane)
		return;
	if (lane->is_parking) {
		h.table = TQI_LANES;
		h.name = "parking";
		h.expect = expect_parked;
	}
	const bool aged = class && class->aged;

	if (check_orders(c, h, aged, lane->members, &lane->tasks, &lane->ages))
		check_runs(c, l, lane);
	tqi_check_equal(c, h.name, l, "ages", lane->ages.length, aged ? tqi_run_tasks(lane) : 0);
	tqi_check_equal(c, "lane", l, "members", lane->members, c->members[l]);
}

static void check_lanes(struct tqi_check *c, uint32_t k)
{
	const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, k);
	const struct tqi_check_heap h = {
		.table = TQI_LANES, .owner = k, .name = "class", .expect = expect_lane
	};

	if (!class)
		return;
	check_orders(c, h, class->aged, class->lane_count, &class->open, &class->oldest);
	tqi_check_equal(c, h.name, k, "ages", class->oldest.length,
			class->aged ? class->open.length : 0);
	tqi_check_equal(c, "class", k, "lane_count", class->lane_count, c->lanes[k].all);
	tqi_check_equal(c, "class", k, "parked", class->parked, c->lanes[k].parked);
}

/* Nothing is missing from the heaps. */
static void check_seen(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, i);

		if (t && is_in_lane(t) && !(c->marks[TQI_TASKS][i] & TQI_SEEN_LANE))
			tqi_check_fault(c, "task %u: ready, but not in lane %u", i, t->lane);
	}
	for (uint32_t l = 1; l < c->count[TQI_LANES]; l++) {
		const struct tqi_lane *lane = tqi_check_record_in_use(c, TQI_LANES, l);

		if (lane && lane->state != TQI_PARKING_CLOSED &&
		    ((lane->tasks.length && !(c->marks[TQI_LANES][l] & TQI_SEEN_LANE)) ||
		     (lane->ages.length && !(c->marks[TQI_LANES][l] & TQI_SEEN_AGE))))
			tqi_check_fault(c, "lane %u: not in the heap of class %u", l, lane->class_);
	}
}

void tqi_check_lanes(struct tqi_check *c)
{
	for (uint32_t l = 1; l < c->count[TQI_LANES]; l++)
		check_lane(c, l);
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++)
		check_lanes(c, k);
	check_seen(c);
}
