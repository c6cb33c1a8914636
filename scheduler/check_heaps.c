/* SPDX-License-Identifier: MIT */
/* Heaps: order, positions, and that they hold exactly what the records say. */
#include "scheduler/check_state.h"

#define HEAP_CHUNK_MAX 8192u

/* Every chunk is a block in use; a chunk that is missing is found by reading it. */
static void check_chunks(struct tqi_check *c, struct tqi_heap *heap, const char *what, uint32_t i)
{
	for (uint32_t k = 0; k < TQI_HEAP_CHUNKS; k++)
		if (heap->chunks[k])
			tqi_check_block(c, heap->chunks[k], what, i);
	if (!heap->directory)
		return;
	tqi_check_block(c, heap->directory, what, i);
	const uint32_t *directory = tqi_unit(c->tx, heap->directory);
	uint32_t places = heap->capacity + TQI_HEAP_ROOT;

	for (uint32_t n = 0; !c->tx->corrupt && HEAP_CHUNK_MAX + (n + 1) * 4096u <= places &&
			     n < TQI_SPAN_BYTES / sizeof(uint32_t);
	     n++)
		tqi_check_block(c, directory[n], what, i);
}

/* One entry: not before its parent, and its record's position says so. */
static bool check_entry(struct tqi_check *c, struct tqi_heap *heap, uint32_t family, uint32_t place,
			struct tqi_heap_entry *ret_entry, const char *what, uint32_t i)
{
	*ret_entry = tqi_heap_at(c->tx, heap, place);
	uint32_t index = tqi_tag_index(ret_entry->tag);
	uint32_t position = c->tx->corrupt ? 0 : tqi_heap_position(c->tx, family, index);

	if (c->tx->corrupt) {
		tqi_check_fault(c, "%s %u: place %u cannot be read", what, i, place);
		return false;
	}
	if (position != place)
		tqi_check_fault(c, "%s %u: record %u is at place %u, its position says %u", what, i,
				index, place, position);
	if (place > TQI_HEAP_ROOT) {
		struct tqi_heap_entry parent = tqi_heap_at(c->tx, heap, place / 4 + 2);

		if (tqi_entry_before(ret_entry, &parent))
			tqi_check_fault(c, "%s %u: place %u is before its parent", what, i, place);
	}
	return true;
}

static bool heap_is_readable(struct tqi_check *c, struct tqi_heap *heap, uint32_t table,
			     const char *what, uint32_t i)
{
	if (heap->length <= heap->capacity && heap->length < c->tx->core->tables[table].count)
		return true;
	tqi_check_fault(c, "%s %u: length %u of %u", what, i, heap->length, heap->capacity);
	return false;
}

static void check_lane_task(struct tqi_check *c, uint32_t lane, const struct tqi_heap_entry *e)
{
	uint32_t index = tqi_tag_index(e->tag);
	const struct tqi_task *t = tqi_check_at(c, TQI_TASKS, index, "a lane");

	if (!t)
		return;
	if (t->state != TQ_READY || (t->flags & TQI_TASK_HELD) || t->lane != lane)
		tqi_check_fault(c, "task %u: %s in the heap of lane %u (R3)", index,
				tq_state_name(t->state), lane);
	if (t->key != e->key || tqi_tag(t->sequence, index) != e->tag)
		tqi_check_fault(c, "task %u: its heap entry has another key", index);
	c->marks[TQI_TASKS][index] |= TQI_MARK_LANE;
}

static void check_lane(struct tqi_check *c, uint32_t i)
{
	struct tqi_lane *lane = tqi_table_peek(c->tx->seg, TQI_LANES, i);
	struct tqi_heap_entry entry;

	check_chunks(c, &lane->tasks, "heap of lane", i);
	if (lane->members != c->members[i])
		tqi_check_fault(c, "lane %u: %u members, counted %u", i, lane->members,
				c->members[i]);
	if (lane->members > lane->tasks.capacity)
		tqi_check_fault(c, "lane %u: no room reserved for all members", i);
	if (!heap_is_readable(c, &lane->tasks, TQI_TASKS, "heap of lane", i))
		return;
	for (uint32_t n = 0; n < lane->tasks.length; n++)
		if (check_entry(c, &lane->tasks, TQI_FAMILY_LANE, TQI_HEAP_ROOT + n, &entry,
				"heap of lane", i))
			check_lane_task(c, i, &entry);
}

static void check_open_lane(struct tqi_check *c, uint32_t class, const struct tqi_heap_entry *e)
{
	uint32_t l = tqi_tag_index(e->tag);
	const struct tqi_lane *lane = tqi_check_at(c, TQI_LANES, l, "a class");

	if (!lane)
		return;
	const struct tqi_heap_entry *first = &lane->tasks.root;

	if (lane->class_ != class || lane->tasks.length == 0)
		tqi_check_fault(c, "class %u: lane %u should not be open", class, l);
	else if (first->key != e->key || first->tag >> TQI_INDEX_BITS != e->tag >> TQI_INDEX_BITS)
		tqi_check_fault(c, "class %u: lane %u is open with another key", class, l);
}

static void check_class(struct tqi_check *c, uint32_t i)
{
	struct tqi_class *class = tqi_table_peek(c->tx->seg, TQI_CLASSES, i);
	const struct tqi_lane *plain = tqi_check_at(c, TQI_LANES, class->plain, "a class");
	struct tqi_heap_entry entry;

	check_chunks(c, &class->open, "heap of class", i);
	for (uint32_t s = TQ_BLOCKED; s < TQ_STATE_COUNT; s++)
		if (class->depth[s] != c->depth[(uint64_t)i * TQ_STATE_COUNT + s])
			tqi_check_fault(c, "class %u: %u tasks %s, counted %u", i, class->depth[s],
					tq_state_name(s),
					c->depth[(uint64_t)i * TQ_STATE_COUNT + s]);
	if (!heap_is_readable(c, &class->open, TQI_LANES, "heap of class", i))
		return;
	if (plain && (plain->tasks.length != 0) != (class->open.length != 0))
		tqi_check_fault(c, "class %u: its lane has %u startable tasks, but %s", i,
				plain->tasks.length, class->open.length ? "is open" : "is not open");
	for (uint32_t n = 0; n < class->open.length; n++)
		if (check_entry(c, &class->open, TQI_FAMILY_OPEN, TQI_HEAP_ROOT + n, &entry,
				"heap of class", i))
			check_open_lane(c, i, &entry);
}

static void check_due_task(struct tqi_check *c, const struct tqi_heap_entry *e)
{
	uint32_t index = tqi_tag_index(e->tag);
	const struct tqi_task *t = tqi_check_at(c, TQI_TASKS, index, "the due heap");

	if (!t)
		return;
	if (t->state != TQ_DELAYED && t->state != TQ_RUNNING)
		tqi_check_fault(c, "task %u: %s in the due heap (R4)", index,
				tq_state_name(t->state));
	if (t->state == TQ_DELAYED && (uint64_t)e->key != t->due_ns)
		tqi_check_fault(c, "task %u: due at another time than the heap says", index);
	c->marks[TQI_TASKS][index] |= TQI_MARK_DUE;
}

static void check_due(struct tqi_check *c)
{
	struct tqi_heap *due = &tqi_root(c->tx)->due;
	struct tqi_heap_entry entry;

	check_chunks(c, due, "due heap", 0);
	if (tqi_root(c->tx)->unfinished > due->capacity)
		tqi_check_fault(c, "due heap: no room reserved for all unfinished tasks");
	if (!heap_is_readable(c, due, TQI_TASKS, "due heap", 0))
		return;
	for (uint32_t n = 0; n < due->length; n++)
		if (check_entry(c, due, TQI_FAMILY_DUE, TQI_HEAP_ROOT + n, &entry, "due heap", 0))
			check_due_task(c, &entry);
}

/* What the records say must be in a heap is there. */
static void check_presence(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->tx->core->tables[TQI_TASKS].count; i++) {
		const struct tqi_task *t = tqi_table_peek(c->tx->seg, TQI_TASKS, i);
		bool startable = t->state == TQ_READY && !(t->flags & TQI_TASK_HELD);
		bool due = c->marks[TQI_TASKS][i] & TQI_MARK_DUE;

		if (startable && !(c->marks[TQI_TASKS][i] & TQI_MARK_LANE))
			tqi_check_fault(c, "task %u: ready, but not in its lane (R3)", i);
		if (t->state != TQ_FREE && due != !!(t->flags & TQI_TASK_DUE))
			tqi_check_fault(c, "task %u: its flag and the due heap disagree (R4)", i);
		if (t->state == TQ_DELAYED && !due)
			tqi_check_fault(c, "task %u: delayed, but not in the due heap (R4)", i);
	}
}

void tqi_check_heaps(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->tx->core->tables[TQI_LANES].count; i++)
		check_lane(c, i);
	for (uint32_t i = 1; i < c->tx->core->tables[TQI_CLASSES].count; i++)
		check_class(c, i);
	check_due(c);
	check_presence(c);
}
