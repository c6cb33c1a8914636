/* SPDX-License-Identifier: MIT */
/* Queues, kinds, classes, lanes and their heaps; gauges against the recount. */
#include "scheduler/check/check_state.h"

#include <string.h>

#include "scheduler/order/lane.h"
#include "scheduler/order/policy.h"
#include "scheduler/record/queue_set.h"
#include "scheduler/record/task_record.h"

/* PO-2, PO-3. */
static void check_policy(struct tqi_check *c, uint32_t q)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

	if (!queue)
		return;
	c->moving += !!(queue->flags & TQI_QUEUE_MOVING);
	if (!(queue->flags & TQI_QUEUE_MOVING) !=
	    !tqi_queue_set_has(&tqi_root(c->tx)->moving_queues, q))
		tqi_check_fault(c, "queue %u: among those with tasks on their way, or not", q);
	tqi_check_equal(c, "queue", q, "flags of its policy", queue->flags & TQI_POLICY_FLAGS,
			tqi_policy_flags(queue));
	if (queue->hybrid > TQ_HYBRID_MAX || queue->hybrid_count > queue->hybrid)
		tqi_check_fault(c, "queue %u: start %u of %u to the turn of the least urgent", q,
				queue->hybrid_count, queue->hybrid);
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (queue->ageing[b] > TQ_AGEING_MAX || (queue->ageing[b] && queue->edf))
			tqi_check_fault(c, "queue %u: band %u ages at %u", q, b, queue->ageing[b]);
	if (queue->batch > TQ_BATCH_MAX)
		tqi_check_fault(c, "queue %u: batch %u", q, queue->batch);
	if (queue->edf > 1 || !queue->max_wait_ns ||
	    queue->overdue_turn > (queue->max_wait_ns != UINT64_MAX))
		tqi_check_fault(c, "queue %u: edf %u, turn of the overdue %u", q, queue->edf,
				queue->overdue_turn);
	for (uint32_t b = 1; b < TQ_BANDS - 1; b++)
		if (queue->band_from[b] <= queue->band_from[b - 1])
			tqi_check_fault(c, "queue %u: band %u begins at %d", q, b,
					queue->band_from[b]);
}

/* Another one of the same kind, band and era. */
static bool has_twin(struct tqi_check *c, const struct tqi_class *class)
{
	uint32_t limit = c->count[TQI_CLASSES]; /* the chain may be a ring */

	for (uint32_t k = class->next; k && limit--;) {
		const struct tqi_class *other = tqi_check_record_in_use(c, TQI_CLASSES, k);

		if (!other || (other->kind == class->kind && other->band == class->band &&
			       other->era == class->era))
			return other;
		k = other->next;
	}
	return false;
}

static void check_era(struct tqi_check *c, uint32_t k, const struct tqi_class *class,
		      bool has_members)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, class->queue);

	if (!queue)
		return;
	if (class->band >= TQ_BANDS || class->rate > TQ_AGEING_MAX) {
		tqi_check_fault(c, "class %u: band %u ages at %u", k, class->band, class->rate);
		return;
	}
	if (class->era == queue->era) {
		tqi_check_equal(c, "class", k, "rate", class->rate, queue->ageing[class->band]);
		tqi_check_equal(c, "class", k, "edf", class->edf, queue->edf);
		tqi_check_equal(c, "class", k, "aged", class->aged,
				queue->max_wait_ns != UINT64_MAX);
		if ((c->marks[TQI_CLASSES][k] & TQI_SEEN_LINKED) && has_twin(c, class))
			tqi_check_fault(c, "class %u: not the only one of its band", k);
	} else if (has_members &&
		   (!(queue->flags & TQI_QUEUE_MOVING) || class->era + 1 != queue->era)) {
		tqi_check_fault(c, "class %u: tasks of era %u, in era %u of queue %u", k,
				class->era, queue->era, class->queue);
	}
}

static void check_class(struct tqi_check *c, uint32_t k)
{
	const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, k);

	if (!class)
		return;
	const struct tqi_lane *lane = tqi_check_record_in_use(c, TQI_LANES, class->plain);

	if (!(c->marks[TQI_CLASSES][k] & TQI_SEEN_LINKED))
		tqi_check_fault(c, "class %u: not in the chain of queue %u%s", k, class->queue,
				class->tenant ? " or of its tenant" : "");
	if (!tqi_check_record_in_use(c, TQI_KINDS, class->kind))
		tqi_check_fault(c, "class %u: kind %u", k, class->kind);
	if (!lane || lane->class_ != k)
		tqi_check_fault(c, "class %u: lane %u is not its own", k, class->plain);
	else
		check_era(c, k, class, lane->members || class->lane_count > 1);
}

void tqi_check_queues(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (queue)
			tqi_check_chain(c, "queue", q, queue->classes, q, 0);
		check_policy(c, q);
	}
	tqi_check_tenant_chains(c);
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++)
		check_class(c, k);
}

/* RC-3. */
static bool is_in_lane(const struct tqi_task *t)
{
	return t->state == TQ_READY && !(t->flags & (TQI_TASK_HELD | TQI_TASK_ASSIGNED));
}

static bool expect_in_lane(struct tqi_check *c, uint32_t index, uint32_t lane,
			   struct tqi_heap_entry *entry)
{
	const struct tqi_task *t = tqi_task_at(c->tx, index);

	*entry = (struct tqi_heap_entry){ t->key, tqi_tag(t->sequence, index) };
	return is_in_lane(t) && t->lane == lane;
}

/* PO-6. */
static bool expect_in_ages(struct tqi_check *c, uint32_t index, uint32_t lane,
			   struct tqi_heap_entry *entry)
{
	const struct tqi_task *t = tqi_task_at(c->tx, index);
	bool expected = expect_in_lane(c, index, lane, entry);

	entry->key = (int64_t)t->ready_ns;
	return expected;
}

/*
 * Of a running task the key is when it was next to be looked at, seen some time ago;
 * a deadline to watch is never missed.
 */
static bool expect_in_due(struct tqi_check *c, uint32_t index, uint32_t owner,
			  struct tqi_heap_entry *entry)
{
	const struct tqi_task *t = tqi_task_at(c->tx, index);

	(void)owner;
	uint64_t latest = t->flags & TQI_TASK_LATE ? UINT64_MAX : tqi_check_deadline(c, t);

	if (t->state != TQ_RUNNING && tqi_task_total_end(t) < latest)
		latest = tqi_task_total_end(t);
	if (t->state == TQ_DELAYED && t->due_ns < latest)
		latest = t->due_ns;

	entry->tag = tqi_tag(t->sequence, index);
	if (t->state != TQ_RUNNING || (uint64_t)entry->key > latest)
		entry->key = (int64_t)latest;
	return t->flags & TQI_TASK_DUE;
}

static bool expect_in_wall(struct tqi_check *c, uint32_t index, uint32_t owner,
			   struct tqi_heap_entry *entry)
{
	const struct tqi_task *t = tqi_task_at(c->tx, index);

	(void)owner;
	*entry =
		(struct tqi_heap_entry){ (int64_t)tqi_check_at(c, t), tqi_tag(t->sequence, index) };
	return t->flags & TQI_TASK_AT;
}

/* A lane stands in its class's heap for its first task, an open parking for its first lane's. */
static bool expect_open(const struct tqi_lane *lane, uint32_t index, uint32_t class,
			struct tqi_heap_entry *entry, const struct tqi_heap *first)
{
	*entry = tqi_lane_entry(&first->root, index);
	return lane->class_ == class && first->length && !lane->parking &&
	       (!lane->is_parking || lane->state == TQI_PARKING_OPEN);
}

static bool expect_in_open(struct tqi_check *c, uint32_t index, uint32_t class,
			   struct tqi_heap_entry *entry)
{
	const struct tqi_lane *lane = tqi_lane_at(c->tx, index);

	return expect_open(lane, index, class, entry, &lane->tasks);
}

static bool expect_in_oldest(struct tqi_check *c, uint32_t index, uint32_t class,
			     struct tqi_heap_entry *entry)
{
	const struct tqi_lane *lane = tqi_lane_at(c->tx, index);

	return expect_open(lane, index, class, entry, &lane->ages);
}

static bool expect_parked(struct tqi_check *c, uint32_t index, uint32_t parking,
			  struct tqi_heap_entry *entry)
{
	const struct tqi_lane *lane = tqi_lane_at(c->tx, index);

	*entry = tqi_lane_entry(&lane->tasks.root, index);
	return lane->parking == parking && lane->tasks.length && !lane->is_parking;
}

static bool expect_parked_oldest(struct tqi_check *c, uint32_t index, uint32_t parking,
				 struct tqi_heap_entry *entry)
{
	bool expected = expect_parked(c, index, parking, entry);

	*entry = tqi_lane_entry(&tqi_lane_at(c->tx, index)->ages.root, index);
	return expected;
}

static void check_lane(struct tqi_check *c, uint32_t l)
{
	const struct tqi_lane *lane = tqi_check_record_in_use(c, TQI_LANES, l);

	if (!lane)
		return;
	struct tqi_check_heap tasks = { &lane->tasks, TQI_FAMILY_LANE, TQI_TASKS, TQI_SEEN_LANE, l,
					"lane",	      expect_in_lane };
	struct tqi_check_heap ages = { &lane->ages, TQI_FAMILY_AGE, TQI_TASKS,	   TQI_SEEN_AGE,
				       l,	    "ages of lane", expect_in_ages };
	struct tqi_check_heap lanes = { &lane->tasks, TQI_FAMILY_OPEN, TQI_LANES, TQI_SEEN_LANE, l,
					"parking",    expect_parked };
	struct tqi_check_heap oldest = {
		&lane->ages, TQI_FAMILY_OLDEST,	  TQI_LANES,	       TQI_SEEN_AGE,
		l,	     "oldest of parking", expect_parked_oldest
	};

	tqi_check_heap(c, lane->is_parking ? &lanes : &tasks);
	tqi_check_heap(c, lane->is_parking ? &oldest : &ages);
	tqi_check_equal(c, "lane", l, "members", lane->members, c->members[l]);
	const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, lane->class_);

	if (lane->tasks.capacity < lane->members ||
	    (class && class->aged && lane->ages.capacity < lane->members))
		tqi_check_fault(c, "lane %u: no room for all of its %u members", l, lane->members);
	if (class)
		tqi_check_equal(c, "lane", l, "ages", lane->ages.length,
				class->aged ? lane->tasks.length : 0);
}

static void check_class_gauges(struct tqi_check *c, uint32_t k)
{
	const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, k);

	if (!class)
		return;
	tqi_check_heap(c, &(struct tqi_check_heap){ &class->open, TQI_FAMILY_OPEN, TQI_LANES,
						    TQI_SEEN_LANE, k, "class", expect_in_open });
	tqi_check_heap(c, &(struct tqi_check_heap){ &class->oldest, TQI_FAMILY_OLDEST, TQI_LANES,
						    TQI_SEEN_AGE, k, "oldest of class",
						    expect_in_oldest });
	tqi_check_equal(c, "class", k, "lane_count", class->lane_count, c->lanes[k].all);
	tqi_check_equal(c, "class", k, "parked", class->parked, c->lanes[k].parked);
	if (class->open.capacity < class->lane_count ||
	    (class->aged && class->oldest.capacity < class->lane_count))
		tqi_check_fault(c, "class %u: no room for its %u lanes", k, class->lane_count);
}

/* Nothing is missing from the heaps. */
static void check_in_heaps(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, i);
		uint32_t mark = c->marks[TQI_TASKS][i];

		if (!t)
			continue;
		if (is_in_lane(t) && !(mark & TQI_SEEN_LANE))
			tqi_check_fault(c, "task %u: ready, but not in the heap of lane %u", i,
					t->lane);
		if ((t->flags & TQI_TASK_ASSIGNED) && !(mark & TQI_SEEN_LINKED))
			tqi_check_fault(c, "task %u: assigned, but on no worker's list", i);
		if (t->state != TQ_FREE && (t->flags & TQI_TASK_DUE) && !(mark & TQI_SEEN_DUE))
			tqi_check_fault(c, "task %u: not in the due heap", i);
		if (t->state != TQ_FREE && (t->flags & TQI_TASK_AT) && !(mark & TQI_SEEN_WALL))
			tqi_check_fault(c, "task %u: not in the wall heap", i);
	}
	for (uint32_t l = 1; l < c->count[TQI_LANES]; l++) {
		const struct tqi_lane *lane = tqi_check_record_in_use(c, TQI_LANES, l);

		if (lane && lane->state != TQI_PARKING_CLOSED &&
		    ((lane->tasks.length && !(c->marks[TQI_LANES][l] & TQI_SEEN_LANE)) ||
		     (lane->ages.length && !(c->marks[TQI_LANES][l] & TQI_SEEN_AGE))))
			tqi_check_fault(c, "lane %u: not in the heap of class %u", l, lane->class_);
	}
}

static void check_root(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);

	tqi_check_heap(c, &(struct tqi_check_heap){ &root->due, TQI_FAMILY_DUE, TQI_TASKS,
						    TQI_SEEN_DUE, 0, "due times", expect_in_due });
	tqi_check_heap(c, &(struct tqi_check_heap){ &root->wall, TQI_FAMILY_WALL, TQI_TASKS,
						    TQI_SEEN_WALL, 0, "appointments",
						    expect_in_wall });
	tqi_check_equal(c, "root", 0, "appointments", root->appointments, c->appointments);
	tqi_check_equal(c, "root", 0, "unfinished", root->unfinished, c->unfinished);
	tqi_check_equal(c, "root", 0, "ready", root->ready, c->ready);
	tqi_check_equal(c, "root", 0, "assigned", root->assigned, c->assigned);
	tqi_check_equal(c, "root", 0, "running", root->running, c->running);
	tqi_check_equal(c, "root", 0, "empty_workers", root->empty_workers, c->empty_workers);
	tqi_check_equal(c, "root", 0, "dying_workers", root->dying_workers, c->dying_workers);
	tqi_check_equal(c, "root", 0, "room_waiters", root->room_waiters, c->room_waiters);
	tqi_check_equal(c, "root", 0, "moving", root->moving, c->moving);
	if (root->wall.capacity < root->appointments)
		tqi_check_fault(c, "root: no room for %u appointments", root->appointments);
	if (root->due.capacity < root->unfinished)
		tqi_check_fault(c, "root: no due times for all of %u unfinished", root->unfinished);
}

void tqi_check_gauges(struct tqi_check *c)
{
	for (uint32_t l = 1; l < c->count[TQI_LANES]; l++)
		check_lane(c, l);
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++)
		check_class_gauges(c, k);
	check_root(c);
	check_in_heaps(c);
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (queue)
			tqi_check_equal(c, "queue", q, "waiting", queue->waiting, c->waiting[q]);
	}
}
