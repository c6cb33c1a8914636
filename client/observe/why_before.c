/* SPDX-License-Identifier: MIT */
/*
 * Counting in copied heaps.  What is before a task in a heap hangs together at the
 * root: a child is never before its parent.  So the walk stops at each entry that is
 * not before, and costs as many reads as it counts.
 */
#include "client/observe/why_before.h"

#include <string.h>

#include "client/observe/snapshot.h"
#include "scheduler/order/policy.h"
#include "shm/heap.h"

#define CLASSES_MAX 2048 /* of a queue: bounds the walk of a chain that changes */
#define VISITS_MAX (4 * TQ_WHY_BEFORE_MAX)
#define STACK_MAX 256	 /* groups of siblings still to look at: 4-ary, depth-first */

struct count {
	const struct tqi_segment *seg;
	struct tqi_heap_entry task; /* as it would stand in the lane that is looked at */
	uint32_t before;
	uint32_t visits; /* lanes too: each has a task, but in a damaged segment */
};

/* Called for each entry of a heap that is before the task. */
typedef void visit_fn(struct count *c, uint32_t index);

static void walk(struct count *c, const struct tqi_heap *heap, visit_fn *visit)
{
	uint32_t stack[STACK_MAX], depth = 0;

	if (heap->length == 0 || !tqi_entry_before(&heap->root, &c->task))
		return;
	visit(c, tqi_tag_index(heap->root.tag));
	stack[depth++] = tqi_heap_children(TQI_HEAP_ROOT);
	while (depth > 0 && c->before < TQ_WHY_BEFORE_MAX && c->visits < VISITS_MAX) {
		uint32_t first = stack[--depth], end = heap->length + TQI_HEAP_ROOT;
		struct tqi_heap_entry siblings[4];

		if (first >= end || tqi_peek_siblings(c->seg, heap, first, siblings) < 0)
			continue;
		for (uint32_t i = 0; i < 4 && first + i < end; i++) {
			if (!tqi_entry_before(&siblings[i], &c->task))
				continue;
			c->visits++;
			visit(c, tqi_tag_index(siblings[i].tag));
			if (depth < STACK_MAX)
				stack[depth++] = tqi_heap_children(first + i);
		}
	}
}

static struct tqi_worth peek_worth(const struct tqi_segment *seg, const struct tqi_task *task)
{
	struct tqi_extra extra;

	return tqi_worth_in(task, tqi_peek_extra(seg, task, &extra) ? &extra : NULL);
}

/* The key that the task would have in a class of deadlines. */
static int64_t deadline_key(const struct tqi_queue *queue, const struct tqi_class *class,
			    const struct tqi_worth *worth)
{
	uint32_t band = tqi_policy_band(queue, worth->priority);

	if (class->band != band)
		return class->band > band ? INT64_MAX : INT64_MIN;
	return tqi_policy_key_in(class, 0, worth);
}

static void visit_task(struct count *c, uint32_t index)
{
	(void)index;
	c->before++;
}

static void visit_lane(struct count *c, uint32_t index)
{
	struct tqi_lane lane;

	if (tqi_peek_record(c->seg, TQI_LANES, index, &lane) == 0 && !lane.is_parking)
		walk(c, &lane.tasks, visit_task);
}

/* A lane, or a parking's lanes: of these, those at the same limit are before it in turn. */
static void visit_open(struct count *c, uint32_t index)
{
	struct tqi_lane lane;

	if (tqi_peek_record(c->seg, TQI_LANES, index, &lane) < 0)
		return;
	if (lane.is_parking)
		walk(c, &lane.tasks, visit_lane);
	else
		walk(c, &lane.tasks, visit_task);
}

/* What waits for the limits that a task waits for, too, is before it. */
static void count_own(struct count *c, const struct tqi_task *task)
{
	struct tqi_lane lane, parking;

	if (tqi_peek_record(c->seg, TQI_LANES, task->lane, &lane) < 0 || !lane.parking ||
	    tqi_peek_record(c->seg, TQI_LANES, lane.parking, &parking) < 0 ||
	    parking.state != TQI_PARKING_CLOSED)
		return;
	walk(c, &parking.tasks, visit_lane);
}

/* Held or delayed, it has no age: as if it became ready now. */
static int64_t urgency_of(const struct tqi_task *task, const struct tqi_worth *worth,
			  const struct tqi_class *class, uint64_t now_ns)
{
	if (task->state == TQ_READY && !(task->flags & TQI_TASK_HELD) && !class->edf)
		return tqi_policy_urgency(class->rate, now_ns, task->key);
	return worth->priority * TQI_POINT;
}

/* The classes among which it is chosen: its tenant's, or the queue's. */
static void peek_chains(const struct tqi_segment *seg, const struct tqi_queue *queue,
			const struct tqi_class *own, struct tqi_chain ret_chains[2])
{
	struct tqi_tenant tenant;
	bool has_tenant = own->tenant &&
			  tqi_peek_record(seg, TQI_TENANTS, own->tenant, &tenant) == 0;

	memcpy(ret_chains, has_tenant ? tenant.chains : queue->chains, sizeof(tenant.chains));
}

/* The task's own class; 0, without rate and deadlines, when there is none. */
static uint32_t peek_own(const struct tqi_segment *seg, const struct tqi_task *task,
			 struct tqi_class *ret_class)
{
	struct tqi_lane lane;

	if (tqi_peek_record(seg, TQI_LANES, task->lane, &lane) == 0 &&
	    tqi_peek_record(seg, TQI_CLASSES, lane.class_, ret_class) == 0)
		return lane.class_;
	ret_class->rate = ret_class->edf = 0;
	ret_class->tenant = 0;
	return 0;
}

/* What a class has that is before the task. */
static void count_class(struct count *c, const struct tqi_class *class)
{
	struct tqi_lane lane;

	if (class->lane_count > 1)
		walk(c, &class->open, visit_open);
	else if (tqi_peek_record(c->seg, TQI_LANES, class->plain, &lane) == 0)
		walk(c, &lane.tasks, visit_task);
}

uint32_t tqi_why_before(const struct tqi_segment *seg, uint32_t index, const struct tqi_task *task)
{
	struct count c = { .seg = seg, .task = { 0, tqi_tag(task->sequence, index) } };
	uint64_t now_ns = seg->ops->now(seg->ops->ctx);
	struct tqi_chain chains[2];
	struct tqi_queue queue;
	struct tqi_class class;

	if (tqi_peek_record(seg, TQI_QUEUES, task->queue, &queue) < 0)
		return 0;
	uint32_t own = peek_own(seg, task, &class), at;
	const struct tqi_worth worth = peek_worth(seg, task);
	int64_t urgency = urgency_of(task, &worth, &class, now_ns);

	peek_chains(seg, &queue, &class, chains);
	for (uint32_t n = 0; (at = chains[0].first ? chains[0].first : chains[1].first) &&
			     n < CLASSES_MAX && tqi_peek_record(seg, TQI_CLASSES, at, &class) == 0;
	     n++) {
		/* Before it is what has a higher effective priority now. */
		if (class.edf)
			c.task.key = deadline_key(&queue, &class, &worth);
		else
			c.task.key = class.rate ? tqi_policy_aged(class.rate, now_ns) - urgency
						: -urgency;
		count_class(&c, &class);
		if (at == own)
			count_own(&c, task);
		chains[chains[0].first ? 0 : 1].first = class.next;
	}
	return c.before < TQ_WHY_BEFORE_MAX ? c.before : TQ_WHY_BEFORE_MAX;
}
