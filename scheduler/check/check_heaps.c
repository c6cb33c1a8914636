/* SPDX-License-Identifier: MIT */
/* Heaps: their chunks, their order, and that each entry is what its record says. */
#include "scheduler/check/check_state.h"

/* Whether a capacity can come about by growth. */
static bool capacity_is_possible(const struct tqi_heap *heap)
{
	return heap->capacity <= 1 || !tqi_array_has(TQI_HEAP_SHIFT, tqi_heap_end(heap));
}

static bool position_is(struct tqi_check *c, uint32_t family, uint32_t index, uint32_t place)
{
	const uint32_t *directory =
		(const uint32_t *)(const void *)(c->tx->base + c->g->positions[family]);

	return tqi_check_span_is_here(c, directory[index >> TQI_POSITIONS_SHIFT]) &&
	       tqi_heap_position(c->tx, family, index) == place;
}

/* The entry against its record. */
static void check_record(struct tqi_check *c, const struct tqi_check_heap *h, uint32_t p,
			 struct tqi_heap_entry e)
{
	struct tqi_heap_entry should_be = e;
	uint32_t index = tqi_tag_index(e.tag);
	const char *fault = NULL;

	if (!tqi_check_record_in_use(c, h->table, index) || !h->expect(c, index, h, &should_be))
		fault = "does not belong there";
	else if (e.key != should_be.key || e.tag != should_be.tag)
		fault = "has another key or sequence";
	else if (c->marks[h->table][index] & h->mark)
		fault = "is there twice";
	else if (!position_is(c, h->family, index, p))
		fault = "has another position";
	if (fault)
		tqi_check_fault(c, "heap of %s %u: place %u: record %u %s", h->name, h->owner, p,
				index, fault);
	else
		c->marks[h->table][index] |= (uint16_t)h->mark;
}

static void check_entry(struct tqi_check *c, const struct tqi_check_heap *h, uint32_t p)
{
	struct tqi_heap heap = *h->heap; /* the root is read from the copy */
	struct tqi_heap_entry e = tqi_heap_at(c->tx, &heap, p), above;

	check_record(c, h, p, e);
	if (p == TQI_HEAP_ROOT)
		return;
	above = tqi_heap_at(c->tx, &heap, p / 4 + 2);
	if (tqi_entry_before(&e, &above))
		tqi_check_fault(c, "heap of %s %u: place %u is before the one above it", h->name,
				h->owner, p);
}

bool tqi_check_heap(struct tqi_check *c, const struct tqi_check_heap *h)
{
	const struct tqi_heap *heap = h->heap;

	if (heap->length > heap->capacity || heap->capacity > TQI_INDEX_MASK + 1 ||
	    !capacity_is_possible(heap)) {
		tqi_check_fault(c, "heap of %s %u: length %u, capacity %u", h->name, h->owner,
				heap->length, heap->capacity);
		return false;
	}
	if (!tqi_check_array(c, &heap->array, TQI_HEAP_SHIFT, tqi_heap_end(heap),
			     &(struct tqi_check_owner){ h->name, h->owner }))
		return false;
	for (uint32_t p = TQI_HEAP_ROOT; p < heap->length + TQI_HEAP_ROOT; p++)
		check_entry(c, h, p);
	return true;
}
