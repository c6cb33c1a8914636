/* SPDX-License-Identifier: MIT */
/* Heaps: their chunks, their order, and that each entry is what its record says. */
#include "scheduler/check/check_state.h"

/* Near chunks: as many as the capacity needs. */
static bool check_near(struct tqi_check *c, const struct tqi_check_heap *h)
{
	bool ok = true;

	for (uint32_t k = 0; k < TQI_HEAP_CHUNKS; k++) {
		bool needed = h->heap->capacity + TQI_HEAP_ROOT > 4u << k;

		if (needed != !!h->heap->chunks[k]) {
			tqi_check_fault(c, "heap of %s %u: capacity %u, chunk %u is %u", h->name,
					h->owner, h->heap->capacity, k, h->heap->chunks[k]);
			ok = false;
		} else if (needed) {
			ok &= tqi_check_block(c, h->heap->chunks[k],
					      sizeof(struct tqi_heap_entry) << (k + 2), h->name,
					      h->owner, "heap chunk");
		}
	}
	return ok;
}

static bool check_far(struct tqi_check *c, const struct tqi_check_heap *h)
{
	uint32_t places = h->heap->capacity + TQI_HEAP_ROOT;
	uint32_t far = places > TQI_HEAP_NEAR ? (places - TQI_HEAP_NEAR) >> TQI_HEAP_FAR_SHIFT : 0;

	if (!h->heap->directory && far)
		tqi_check_fault(c, "heap of %s %u: no directory", h->name, h->owner);
	if (!h->heap->directory)
		return far == 0;
	if (!tqi_check_block(c, h->heap->directory, TQI_SPAN_BYTES, h->name, h->owner,
			     "heap directory"))
		return false;
	const uint32_t *directory = tqi_unit(c->tx, h->heap->directory);
	bool ok = far <= TQI_SPAN_BYTES / sizeof(uint32_t);

	for (uint32_t i = 0; i < far && ok; i++)
		ok = tqi_check_block(c, directory[i], TQI_SPAN_BYTES, h->name, h->owner,
				     "heap chunk");
	return ok;
}

/* Whether a capacity can come about by growth. */
static bool capacity_is_possible(uint32_t capacity)
{
	uint32_t places = capacity + TQI_HEAP_ROOT;

	if (capacity <= 1)
		return true;
	if (places <= TQI_HEAP_NEAR)
		return (places & (places - 1)) == 0;
	return places % (1u << TQI_HEAP_FAR_SHIFT) == 0;
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

void tqi_check_heap(struct tqi_check *c, const struct tqi_check_heap *h)
{
	const struct tqi_heap *heap = h->heap;

	if (heap->length > heap->capacity || heap->capacity > TQI_INDEX_MASK + 1 ||
	    !capacity_is_possible(heap->capacity)) {
		tqi_check_fault(c, "heap of %s %u: length %u, capacity %u", h->name, h->owner,
				heap->length, heap->capacity);
		return;
	}
	bool near = check_near(c, h), far = check_far(c, h);

	if (!near || !far)
		return;
	for (uint32_t p = TQI_HEAP_ROOT; p < heap->length + TQI_HEAP_ROOT; p++)
		check_entry(c, h, p);
}
