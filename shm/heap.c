/* SPDX-License-Identifier: MIT */
/* 4-ary heap: places, growth, sifting. */
#include "shm/heap.h"

#include <errno.h>
#include <string.h>

#include "shm/pool.h"
#include "shm/span.h"

static uint32_t parent_of(uint32_t p)
{
	return p / 4 + 2;
}

static uint32_t end_of(const struct tqi_heap *heap)
{
	return heap->length + TQI_HEAP_ROOT;
}

static uint32_t far_chunk(struct tqi_tx *tx, const struct tqi_heap *heap, uint32_t p)
{
	const uint32_t *directory = tqi_unit(tx, heap->directory);
	uint32_t c = (p >> TQI_HEAP_FAR_SHIFT) - 2;

	return tx->corrupt || c >= TQI_HEAP_DIRECTORY ? 0 : directory[c];
}

static struct tqi_heap_entry *at(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t p)
{
	if (p <= TQI_HEAP_ROOT)
		return &heap->root;
	if (p < TQI_HEAP_NEAR) {
		uint32_t k = tqi_heap_chunk(p);
		struct tqi_heap_entry *chunk = tqi_unit(tx, heap->chunks[k]);

		return tx->corrupt ? chunk : chunk + (p - (4u << k));
	}
	struct tqi_heap_entry *chunk = tqi_unit(tx, far_chunk(tx, heap, p));

	return tx->corrupt ? chunk : chunk + (p & ((1u << TQI_HEAP_FAR_SHIFT) - 1));
}

struct tqi_heap_entry tqi_heap_at(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t place)
{
	return *at(tx, heap, place);
}

static uint32_t *position_at(const struct tqi_segment *seg, uint32_t family, uint32_t index)
{
	const struct tqi_geometry *g = &seg->geometry;

	if (index >= g->positions_max[family])
		return NULL;
	const uint32_t *directory =
		(const uint32_t *)(const void *)(seg->base + g->positions[family]);
	uint32_t span = directory[index >> TQI_POSITIONS_SHIFT];

	if (span == 0 || span >= g->span_count)
		return NULL;
	uint32_t *positions = (uint32_t *)(void *)(seg->base + ((uint64_t)span << TQI_SPAN_SHIFT));

	return &positions[index & ((1u << TQI_POSITIONS_SHIFT) - 1)];
}

void tqi_heap_position_store(const struct tqi_segment *seg, uint32_t family, uint32_t index,
			     uint32_t place)
{
	volatile uint32_t *position = position_at(seg, family, index);

	if (position)
		*position = place;
}

/* During a rollback the length comes back last: then the last entry's place is known again. */
void tqi_heap_position_last(const struct tqi_segment *seg, uint32_t family,
			    const struct tqi_heap *heap)
{
	struct tqi_tx tx;

	tqi_tx_view(&tx, seg);
	if (heap->length == 0 || heap->length > heap->capacity)
		return;
	uint32_t last = heap->length + TQI_HEAP_ROOT - 1;
	struct tqi_heap copy = *heap; /* same references; the root entry is read from the copy */
	uint64_t tag = at(&tx, &copy, last)->tag;

	if (!tx.corrupt)
		tqi_heap_position_store(seg, family, tqi_tag_index(tag), last);
}

uint32_t tqi_heap_position(struct tqi_tx *tx, uint32_t family, uint32_t index)
{
	const uint32_t *position = position_at(tx->seg, family, index);

	if (!position) {
		tx->corrupt = true;
		return TQI_HEAP_ROOT;
	}
	return *position;
}

int tqi_positions_reserve(struct tqi_tx *tx, uint32_t family, uint32_t index)
{
	uint32_t *directory = (uint32_t *)(void *)(tx->base + tx->seg->geometry.positions[family]);
	uint32_t *slot = &directory[index >> TQI_POSITIONS_SHIFT];

	if (*slot)
		return 0;
	uint32_t span = tqi_span_take(tx, 1, TQI_SPAN_TABLE);

	if (!span)
		return -ENOMEM;
	TQI_SET(tx, *slot, span);
	return 0;
}

static void set_length(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t length)
{
	uint64_t where = tqi_offset(tx, &heap->length) << 8 | (TQI_UNDO_LENGTH + family);

	if (tqi_undo_push(tx, where, heap->length))
		*(volatile uint32_t *)&heap->length = length;
}

/*
 * Entries moving through a heap.  Undoing a place restores the position of the
 * record that stood there.  So the position of a moved record is stored only when
 * the place that it left is in the journal, too: one put later.
 */
struct sift {
	struct tqi_tx *tx;
	struct tqi_heap *heap;
	uint32_t family;
	uint32_t moved; /* record whose position is still to be stored; 0 none */
	uint32_t moved_to;
	uint32_t fresh; /* the place that a push adds; 0 none */
};

static void store_moved(struct sift *s)
{
	if (s->moved)
		tqi_heap_position_store(s->tx->seg, s->family, s->moved, s->moved_to);
}

/* `e` is the entry at place `p`. */
static void put(struct sift *s, uint32_t p, struct tqi_heap_entry *e, struct tqi_heap_entry entry)
{
	/*
	 * A fresh place still holds what was last there, and its record may be
	 * anywhere by now: a rollback must not restore that record's position.
	 */
	bool fresh = p == s->fresh;
	const struct tqi_undo old[2] = {
		{ tqi_offset(s->tx, &e->key) << 8 | TQI_UNDO_64, (uint64_t)e->key },
		{ fresh ? tqi_offset(s->tx, &e->tag) << 8 | TQI_UNDO_64
			: (uint64_t)p << 8 | (TQI_UNDO_TAG + s->family),
		  e->tag },
	};

	if (!tqi_undo_push_pair(s->tx, old))
		return;
	*(volatile int64_t *)&e->key = entry.key;
	*(volatile uint64_t *)&e->tag = entry.tag;
	store_moved(s);
	s->moved = tqi_tag_index(entry.tag);
	s->moved_to = p;
}

/* A place that is to be filled. */
struct hole {
	uint32_t place;
	struct tqi_heap_entry *entry;
};

/* Move the hole towards the root until `entry` fits. */
static void sift_up(struct sift *s, struct hole *hole, const struct tqi_heap_entry *entry)
{
	while (hole->place > TQI_HEAP_ROOT) {
		uint32_t p = parent_of(hole->place);
		struct tqi_heap_entry *above = at(s->tx, s->heap, p);

		if (s->tx->corrupt || !tqi_entry_before(entry, above))
			break;
		put(s, hole->place, hole->entry, *above);
		*hole = (struct hole){ p, above };
	}
}

/* The least of up to four siblings; they share a chunk and a cache line. */
static uint32_t least_of(const struct tqi_heap_entry *siblings, uint32_t count)
{
	if (count >= 4) { /* no branches: nobody can foresee them */
		uint32_t a = tqi_entry_before(&siblings[1], &siblings[0]);
		uint32_t b = 2u + tqi_entry_before(&siblings[3], &siblings[2]);

		return tqi_entry_before(&siblings[b], &siblings[a]) ? b : a;
	}
	uint32_t best = 0;

	for (uint32_t i = 1; i < count; i++)
		if (tqi_entry_before(&siblings[i], &siblings[best]))
			best = i;
	return best;
}

uint64_t tqi_heap_second(struct tqi_tx *tx, struct tqi_heap *heap)
{
	uint32_t first = tqi_heap_children(TQI_HEAP_ROOT);

	if (heap->length < 2)
		return 0;
	const struct tqi_heap_entry *siblings = at(tx, heap, first);

	return siblings[least_of(siblings, end_of(heap) - first)].tag;
}

void tqi_heap_fetch(struct tqi_tx *tx, struct tqi_heap *heap)
{
	if (heap->length > 1)
		__builtin_prefetch(at(tx, heap, tqi_heap_children(TQI_HEAP_ROOT)), 1);
}

/*
 * The sixteen grandchildren lie side by side: four cache lines, of which one will be
 * read next.  Fetching all saves the wait for knowing which.
 */
static void fetch_grandchildren(struct sift *s, uint32_t first)
{
	if (tqi_heap_children(first) + 16 > end_of(s->heap))
		return;
	const char *p = (const char *)at(s->tx, s->heap, tqi_heap_children(first));

	for (uint32_t line = 0; line < 4; line++)
		__builtin_prefetch(p + line * 64);
}

static void sift_down(struct sift *s, struct hole *hole, const struct tqi_heap_entry *entry)
{
	for (;;) {
		uint32_t first = tqi_heap_children(hole->place), end = end_of(s->heap);

		if (first >= end)
			break;
		struct tqi_heap_entry *siblings = at(s->tx, s->heap, first);

		fetch_grandchildren(s, first);
		uint32_t best = least_of(siblings, end - first);

		if (s->tx->corrupt || !tqi_entry_before(&siblings[best], entry))
			break;
		put(s, hole->place, hole->entry, siblings[best]);
		*hole = (struct hole){ first + best, &siblings[best] };
	}
}

/* `entry` into the heap, beginning with the hole at `p`. */
static void place(struct sift *s, uint32_t p, struct tqi_heap_entry entry)
{
	struct hole hole = { p, at(s->tx, s->heap, p) };

	sift_up(s, &hole, &entry);
	if (hole.place == p)
		sift_down(s, &hole, &entry);
	put(s, hole.place, hole.entry, entry);
	if (!s->tx->corrupt)
		store_moved(s);
}

/* Nothing to compare with: length and root under one count; what the root was is of no heap. */
static void push_alone(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
		       struct tqi_heap_entry entry)
{
	struct tqi_undo *u = tqi_undo_room(tx, 3);

	if (!u)
		return;
	u[0] = (struct tqi_undo){ tqi_offset(tx, &heap->length) << 8 | (TQI_UNDO_LENGTH + family),
				  0 };
	u[1] = (struct tqi_undo){ tqi_offset(tx, &heap->root.key) << 8 | TQI_UNDO_64,
				  (uint64_t)heap->root.key };
	u[2] = (struct tqi_undo){ tqi_offset(tx, &heap->root.tag) << 8 | TQI_UNDO_64,
				  heap->root.tag };
	tqi_undo_count(tx, 3);
	*(volatile uint32_t *)&heap->length = 1;
	*(volatile int64_t *)&heap->root.key = entry.key;
	*(volatile uint64_t *)&heap->root.tag = entry.tag;
	tqi_heap_position_store(tx->seg, family, tqi_tag_index(entry.tag), TQI_HEAP_ROOT);
}

void tqi_heap_push(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
		   struct tqi_heap_entry entry)
{
	if (heap->length >= heap->capacity) {
		tx->corrupt = true; /* room is reserved before, always */
		return;
	}
	if (heap->length == 0) {
		push_alone(tx, heap, family, entry);
		return;
	}
	struct sift s = { .tx = tx, .heap = heap, .family = family, .fresh = end_of(heap) };

	set_length(tx, heap, family, heap->length + 1);
	place(&s, s.fresh, entry);
}

/* Place of a record, verified: positions outside heaps mean nothing. */
static uint32_t place_of(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t index)
{
	if (heap->length && tqi_tag_index(heap->root.tag) == index)
		return TQI_HEAP_ROOT; /* the most common by far */
	uint32_t p = tqi_heap_position(tx, family, index);

	if (p < TQI_HEAP_ROOT || p >= end_of(heap) ||
	    tqi_tag_index(at(tx, heap, p)->tag) != index) {
		tx->corrupt = true;
		return TQI_HEAP_ROOT;
	}
	return p;
}

void tqi_heap_remove(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t index)
{
	uint32_t p = place_of(tx, heap, family, index);

	if (tx->corrupt || heap->length == 0) {
		tx->corrupt = true;
		return;
	}
	uint32_t last = end_of(heap) - 1;

	struct sift s = { .tx = tx, .heap = heap, .family = family };

	set_length(tx, heap, family, heap->length - 1);
	if (p != last)
		place(&s, p, *at(tx, heap, last));
}

void tqi_heap_rekey(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t index,
		    struct tqi_heap_entry entry)
{
	uint32_t p = place_of(tx, heap, family, index);
	struct sift s = { .tx = tx, .heap = heap, .family = family };

	if (!tx->corrupt)
		place(&s, p, entry);
}

static int grow_near(struct tqi_tx *tx, struct tqi_heap *heap)
{
	uint32_t k = tqi_heap_chunk(heap->capacity + TQI_HEAP_ROOT);
	uint32_t ref = tqi_block_take(tx, (uint64_t)sizeof(struct tqi_heap_entry) << (k + 2));

	if (!ref)
		return -ENOMEM;
	TQI_SET(tx, heap->chunks[k], ref);
	TQI_ADD(tx, heap->capacity, 4u << k);
	return 0;
}

static int grow_far(struct tqi_tx *tx, struct tqi_heap *heap)
{
	if (!heap->directory) {
		uint32_t ref = tqi_block_take(tx, TQI_SPAN_BYTES);

		if (!ref)
			return -ENOMEM;
		TQI_SET(tx, heap->directory, ref);
	}
	uint32_t c = ((heap->capacity + TQI_HEAP_ROOT) >> TQI_HEAP_FAR_SHIFT) - 2;
	uint32_t *directory = tqi_unit(tx, heap->directory);
	uint32_t ref = tqi_block_take(tx, TQI_SPAN_BYTES);

	if (!ref || c >= TQI_HEAP_DIRECTORY)
		return -ENOMEM;
	TQI_SET(tx, directory[c], ref);
	TQI_ADD(tx, heap->capacity, 1u << TQI_HEAP_FAR_SHIFT);
	return 0;
}

int tqi_heap_reserve(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t length)
{
	if (length && !heap->capacity)
		TQI_SET(tx, heap->capacity, 1u); /* the root is in the heap itself */
	while (heap->capacity < length) {
		if (tx->corrupt) /* nothing is stored any more: it would never end */
			return -ENOMEM;
		bool near = heap->capacity + TQI_HEAP_ROOT < TQI_HEAP_NEAR;
		int r = near ? grow_near(tx, heap) : grow_far(tx, heap);

		if (r < 0)
			return r;
	}
	return 0;
}

static void trim_near(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t k)
{
	tqi_block_give(tx, heap->chunks[k]);
	TQI_SET(tx, heap->chunks[k], 0u);
	TQI_ADD(tx, heap->capacity, -(int32_t)(4u << k));
}

static void trim_far(struct tqi_tx *tx, struct tqi_heap *heap)
{
	const uint32_t *directory = tqi_unit(tx, heap->directory);
	uint32_t c = ((heap->capacity + TQI_HEAP_ROOT) >> TQI_HEAP_FAR_SHIFT) - 3;

	if (tx->corrupt || c >= TQI_HEAP_DIRECTORY) {
		tx->corrupt = true;
		return;
	}
	tqi_block_give(tx, directory[c]);
	TQI_ADD(tx, heap->capacity, -(1 << TQI_HEAP_FAR_SHIFT));
	if (c > 0)
		return;
	tqi_block_give(tx, heap->directory);
	TQI_SET(tx, heap->directory, 0u);
}

void tqi_heap_trim(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t length)
{
	uint32_t places = heap->capacity + TQI_HEAP_ROOT;

	if (heap->capacity <= 1)
		return;
	uint32_t k = places > TQI_HEAP_NEAR ? 0 : tqi_heap_chunk(places - 1);
	uint32_t last = places > TQI_HEAP_NEAR ? 1u << TQI_HEAP_FAR_SHIFT : 4u << k;

	if (heap->capacity - last < 2ull * length)
		return;
	if (places > TQI_HEAP_NEAR)
		trim_far(tx, heap);
	else
		trim_near(tx, heap, k);
}

void tqi_heap_free(struct tqi_tx *tx, struct tqi_heap *heap)
{
	for (uint32_t k = 0; k < TQI_HEAP_CHUNKS; k++) {
		if (heap->chunks[k])
			tqi_block_give(tx, heap->chunks[k]);
		if (heap->chunks[k])
			TQI_SET(tx, heap->chunks[k], 0u);
	}
	if (heap->capacity > TQI_HEAP_NEAR) {
		uint32_t *directory = tqi_unit(tx, heap->directory);
		uint32_t far = (heap->capacity + TQI_HEAP_ROOT - TQI_HEAP_NEAR) >>
			       TQI_HEAP_FAR_SHIFT;

		for (uint32_t c = 0; c < far && c < TQI_HEAP_DIRECTORY; c++)
			tqi_block_give(tx, directory[c]);
	}
	if (heap->directory)
		tqi_block_give(tx, heap->directory);
	TQI_SET(tx, heap->directory, 0u);
	TQI_SET(tx, heap->capacity, 0u);
}
