/* SPDX-License-Identifier: MIT */
/*
 * Counting in copied heaps.  What is before a task in a heap hangs together at the
 * root: a child is never before its parent.  So the walk stops at each entry that is
 * not before, and costs as many reads as it counts.
 */
#include "client/why_before.h"

#include "client/snapshot.h"
#include "shm/heap.h"

#define CLASSES_MAX 1000 /* of a queue: bounds the walk of a chain that changes */
#define STACK_MAX 256	 /* groups of siblings still to look at: 4-ary, depth-first */

struct count {
	const struct tqi_segment *seg;
	struct tqi_heap_entry task; /* as it stands, or would stand, in its lane */
	uint32_t before;
};

static void count_heap(struct count *c, const struct tqi_heap *heap)
{
	uint32_t stack[STACK_MAX], depth = 0;

	if (heap->length == 0 || !tqi_entry_before(&heap->root, &c->task))
		return;
	c->before++;
	stack[depth++] = tqi_heap_children(TQI_HEAP_ROOT);
	while (depth > 0 && c->before < TQ_WHY_BEFORE_MAX) {
		uint32_t first = stack[--depth], end = heap->length + TQI_HEAP_ROOT;
		struct tqi_heap_entry siblings[4];

		if (first >= end || tqi_peek_siblings(c->seg, heap, first, siblings) < 0)
			continue;
		for (uint32_t i = 0; i < 4 && first + i < end; i++) {
			if (!tqi_entry_before(&siblings[i], &c->task))
				continue;
			c->before++;
			if (depth < STACK_MAX)
				stack[depth++] = tqi_heap_children(first + i);
		}
	}
}

uint32_t tqi_why_before(const struct tqi_segment *seg, uint32_t index, const struct tqi_task *task)
{
	struct count c = { .seg = seg, .task = { task->key, tqi_tag(task->sequence, index) } };
	struct tqi_queue queue;
	struct tqi_class class;
	struct tqi_lane lane;

	if (tqi_peek_record(seg, TQI_QUEUES, task->queue, &queue) < 0)
		return 0;
	for (uint32_t at = queue.classes, n = 0; at && n < CLASSES_MAX; at = class.next, n++) {
		if (tqi_peek_record(seg, TQI_CLASSES, at, &class) < 0)
			break;
		if (tqi_peek_record(seg, TQI_LANES, class.plain, &lane) == 0)
			count_heap(&c, &lane.tasks);
	}
	return c.before < TQ_WHY_BEFORE_MAX ? c.before : TQ_WHY_BEFORE_MAX;
}
