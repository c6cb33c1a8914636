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

/* Each step of a sift asks, and looks at up to sixteen entries that lie side by side. */
static inline __attribute__((always_inline)) struct tqi_heap_entry *at(struct tqi_tx *tx,
								       struct tqi_heap *heap,
								       uint32_t p)
{
	if (p <= TQI_HEAP_ROOT)
		return &heap->root;
	return tqi_array_at(tx, &heap->array, TQI_HEAP_SHIFT, p,
			    16 * sizeof(struct tqi_heap_entry));
}

struct tqi_heap_entry tqi_heap_at(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t place)
{
	return *at(tx, heap, place);
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
	const uint32_t *position = tqi_heap_position_at(tx->seg, family, index);

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
	else if (tqi_tx_is_plain(tx))
		heap->length = length;
}

/*
 * A sift: the hole goes from place to place; each gets what stands in the next one, and the
 * last one the entry that is put.  The way is found first, and nothing stored to: the journal
 * gets what stands there, and that is all that is remembered of it.  It counts when the way
 * is whole (TX-1), and then all is stored, out of the journal.
 */
#define WAY_MAX 20u /* places: levels of a heap of 2^32 are 17 */
#define WAY_ENTRIES (2 * WAY_MAX + 1)

struct sift {
	struct tqi_tx *tx;
	struct tqi_heap *heap;
	uint32_t family;
	uint32_t length;	     /* that the heap will have */
	struct tqi_undo *way;	     /* where it begins in the journal: two entries a place, ... */
	struct tqi_undo *end;	     /* ... up to here, ... */
	const struct tqi_undo *most; /* ... and never beyond */
};

/*
 * A place more, and what the entry of its tag is to restore (see begin_way()); false: the heap
 * is damaged.
 */
static inline __attribute__((always_inline)) bool step_as(struct sift *s, uint64_t tag_where,
							  const struct tqi_heap_entry *e)
{
	if (s->end == s->most) {
		s->tx->corrupt = true;
		return false;
	}
	s->end[0] = (struct tqi_undo){ tqi_offset(s->tx, e) << 8 | TQI_UNDO_64, (uint64_t)e->key };
	s->end[1] = (struct tqi_undo){ tag_where, e->tag };
	s->end += 2;
	return true;
}

static inline __attribute__((always_inline)) bool step(struct sift *s, uint32_t p,
						       const struct tqi_heap_entry *e)
{
	return step_as(s, (uint64_t)p << 8 | (TQI_UNDO_TAG + s->family), e);
}

/*
 * The way begins at the hole.  Undoing a place restores the position of the record that stood
 * there; a fresh one still holds what was last there, and its record may be anywhere by now:
 * its position must not be restored.  The length comes back last.
 */
static inline __attribute__((always_inline)) bool begin_way(struct sift *s, uint32_t p, bool fresh)
{
	const struct tqi_heap_entry *e = at(s->tx, s->heap, p);
	struct tqi_undo *u = tqi_undo_room_most(s->tx, WAY_ENTRIES);

	if (!u)
		return false;
	if (s->length != s->heap->length)
		*u++ = (struct tqi_undo){ tqi_offset(s->tx, &s->heap->length) << 8 |
						  (TQI_UNDO_LENGTH + s->family),
					  s->heap->length };
	s->way = s->end = u;
	s->most = u + 2 * WAY_MAX;
	return fresh ? step_as(s, tqi_offset(s->tx, &e->tag) << 8 | TQI_UNDO_64, e) : step(s, p, e);
}

/* The hole moves towards the root until `entry` fits. */
static inline __attribute__((always_inline)) void sift_up(struct sift *s, uint32_t p,
							  const struct tqi_heap_entry *entry)
{
	while (p > TQI_HEAP_ROOT) {
		const struct tqi_heap_entry *above = at(s->tx, s->heap, p = parent_of(p));

		if (!tqi_entry_before(entry, above) || !step(s, p, above))
			break;
	}
}

/* The least of up to four siblings; they share a chunk and a cache line. */
static inline __attribute__((always_inline)) uint32_t least_of(
	const struct tqi_heap_entry *siblings, uint32_t count)
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
static void fetch_grandchildren(const struct tqi_heap_entry *grandchildren)
{
	const char *p = (const char *)grandchildren;

	for (uint32_t line = 0; line < 4; line++)
		__builtin_prefetch(p + line * 64);
}

/* Whether sixteen places from this one on, which is the first of siblings, share a chunk. */
static bool share_chunk(uint32_t first)
{
	uint32_t border = first + 8; /* the only one where a chunk may end: a multiple of 16 */

	return (border & (border - 1)) && border % tqi_array_far_places(TQI_HEAP_SHIFT);
}

/* The hole moves away from the root until `entry` fits. */
static inline __attribute__((always_inline)) void sift_down(struct sift *s, uint32_t p,
							    const struct tqi_heap_entry *entry)
{
	const uint32_t end = s->length + TQI_HEAP_ROOT;
	uint32_t first = tqi_heap_children(p);
	const struct tqi_heap_entry *siblings = first < end ? at(s->tx, s->heap, first) : NULL;

	while (first < end) {
		const uint32_t below = tqi_heap_children(first);
		const struct tqi_heap_entry *grandchildren = NULL;

		if (below < end) {
			grandchildren = at(s->tx, s->heap, below);
			fetch_grandchildren(grandchildren);
		}
		const uint32_t best = least_of(siblings, end - first);

		if (!tqi_entry_before(&siblings[best], entry) ||
		    !step(s, first + best, &siblings[best]))
			break;
		first = below + 4 * best;
		if (first < end)
			siblings = share_chunk(below) ? grandchildren + 4 * best
						      : at(s->tx, s->heap, first);
	}
}

/* The family's position array: looked up once, for all stores of a sift. */
struct positions {
	unsigned char *base;
	const uint32_t *directory;
	uint32_t max;
	uint32_t spans;
};

/* Into the place that an entry of the journal is of. */
static inline void store(const struct positions *to, const struct tqi_undo *of, uint32_t place,
			 struct tqi_heap_entry entry)
{
	volatile struct tqi_heap_entry *e = (void *)(to->base + (of->where >> 8));
	const uint32_t index = tqi_tag_index(entry.tag);
	const uint32_t span = index < to->max ? to->directory[index >> TQI_POSITIONS_SHIFT] : 0;

	e->key = entry.key;
	e->tag = entry.tag;
	if (span && span < to->spans)
		*tqi_position_in(to->base, span, index) = place;
}

/* Each place, the first of which is `p`, gets what stood in the next one. */
static inline void store_all(const struct sift *s, uint32_t p, struct tqi_heap_entry entry)
{
	const struct tqi_segment *seg = s->tx->seg;
	const struct positions to = { seg->base, tqi_positions(seg, s->family),
				      seg->geometry.positions_max[s->family],
				      seg->geometry.span_count };
	const struct tqi_undo *u = s->way;

	if (s->length != s->heap->length)
		*(volatile uint32_t *)&s->heap->length = s->length;
	for (; u + 2 != s->end; u += 2) {
		store(&to, u, p, (struct tqi_heap_entry){ (int64_t)u[2].old, u[3].old });
		p = (uint32_t)(u[3].where >> 8);
	}
	store(&to, u, p, entry);
}

/*
 * `entry` into the heap, which is of that length then, beginning with the hole at `p`; most
 * begin at the root.
 */
TQI_TWICE void place_in(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t length,
			uint32_t p, struct tqi_heap_entry entry, bool at_root)
{
	struct sift s = { .tx = tx, .heap = heap, .family = family, .length = length };

	if (!begin_way(&s, p, !at_root && length > heap->length))
		return;
	if (!at_root)
		sift_up(&s, p, &entry);
	if (s.end == s.way + 2)
		sift_down(&s, p, &entry);
	const uint32_t entries = (uint32_t)(s.end - s.way) + (length != heap->length);

	if (tx->corrupt || !tqi_undo_room(tx, entries))
		return;
	tqi_undo_count(tx, entries);
	store_all(&s, p, entry);
}

static __attribute__((noinline)) void place(struct tqi_tx *tx, struct tqi_heap *heap,
					    uint32_t family, uint32_t length, uint32_t p,
					    struct tqi_heap_entry entry)
{
	place_in(tx, heap, family, length, p, entry, false);
}

/* Mostly it comes last of all, and stays at the end; false: it goes up. */
static bool push_last(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
		      struct tqi_heap_entry entry)
{
	const uint32_t p = end_of(heap);
	struct tqi_heap_entry *e = at(tx, heap, p);

	if (tqi_entry_before(&entry, at(tx, heap, parent_of(p))))
		return false;
	struct tqi_undo *u = tqi_undo_room(tx, 3);

	if (!u)
		return true;
	tqi_heap_note_length(tx, &u, heap, family);
	TQI_NOTE(tx, u, e->key);
	TQI_NOTE(tx, u, e->tag); /* as a sift does it (begin_way()) */
	tqi_undo_count(tx, 3);
	TQI_PUT(heap->length, p + 1 - TQI_HEAP_ROOT);
	TQI_PUT(e->key, entry.key);
	TQI_PUT(e->tag, entry.tag);
	tqi_heap_position_store(tx->seg, family, tqi_tag_index(entry.tag), p);
	return true;
}

static void push_alone(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
		       struct tqi_heap_entry entry)
{
	struct tqi_undo *u = tqi_undo_room(tx, TQI_HEAP_ALONE);

	if (!u)
		return;
	tqi_heap_note_alone(tx, &u, heap, family);
	tqi_undo_count(tx, TQI_HEAP_ALONE);
	tqi_heap_store_alone(tx, heap, family, entry);
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
	if (!push_last(tx, heap, family, entry))
		place(tx, heap, family, heap->length + 1, end_of(heap), entry);
}

static inline bool is_at(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t p, uint32_t index)
{
	return p >= TQI_HEAP_ROOT && p < end_of(heap) &&
	       tqi_tag_index(at(tx, heap, p)->tag) == index;
}

/* Place of a record, verified: positions outside heaps mean nothing. */
static uint32_t place_of(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t index)
{
	if (heap->length && tqi_tag_index(heap->root.tag) == index)
		return TQI_HEAP_ROOT; /* the most common by far */
	uint32_t p = tqi_heap_position(tx, family, index);

	if (is_at(tx, heap, p, index))
		return p;
	p = tqi_overlay_position(tx, family, index);
	if (is_at(tx, heap, p, index))
		return p;
	tx->corrupt = true;
	return TQI_HEAP_ROOT;
}

void tqi_heap_remove(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t index)
{
	const uint32_t p = place_of(tx, heap, family, index), last = end_of(heap) - 1;

	if (tx->corrupt || heap->length == 0)
		tx->corrupt = true;
	else if (p == last)
		set_length(tx, heap, family, heap->length - 1);
	else if (p == TQI_HEAP_ROOT)
		place_in(tx, heap, family, heap->length - 1, TQI_HEAP_ROOT, *at(tx, heap, last),
			 true);
	else
		place(tx, heap, family, heap->length - 1, p, *at(tx, heap, last));
}

/* The only place stays where it is: there is nothing to compare with. */
static void rekey_alone(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			struct tqi_heap_entry entry)
{
	struct tqi_undo *u = tqi_undo_room(tx, TQI_HEAP_ONLY);

	if (!u)
		return;
	tqi_heap_note_only(tx, &u, heap, family);
	tqi_undo_count(tx, TQI_HEAP_ONLY);
	tqi_heap_store_only(heap, entry);
	tqi_heap_position_store(tx->seg, family, tqi_tag_index(entry.tag), TQI_HEAP_ROOT);
}

void tqi_heap_rekey(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t index,
		    struct tqi_heap_entry entry)
{
	if (heap->length == 1 && tqi_tag_index(heap->root.tag) == index) {
		rekey_alone(tx, heap, family, entry);
		return;
	}
	uint32_t p = place_of(tx, heap, family, index);

	if (!tx->corrupt)
		place(tx, heap, family, heap->length, p, entry);
}

int tqi_heap_grow(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t length)
{
	if (!heap->capacity)
		TQI_SET(tx, heap->capacity, 1u); /* the root is in the heap itself */
	while (heap->capacity < length) {
		if (tx->corrupt) /* nothing is stored any more: it would never end */
			return -ENOMEM;
		const uint32_t places =
			tqi_array_grow(tx, &heap->array, TQI_HEAP_SHIFT, tqi_heap_end(heap));

		if (!places)
			return -ENOMEM;
		TQI_ADD(tx, heap->capacity, places);
	}
	return 0;
}

void tqi_heap_trim(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t length)
{
	if (heap->capacity <= 1)
		return;
	const uint32_t last = tqi_array_last(TQI_HEAP_SHIFT, tqi_heap_end(heap));

	if (heap->capacity - last < 2ull * length)
		return;
	tqi_array_shrink(tx, &heap->array, TQI_HEAP_SHIFT, tqi_heap_end(heap));
	TQI_ADD(tx, heap->capacity, -last);
}

void tqi_heap_free(struct tqi_tx *tx, struct tqi_heap *heap)
{
	tqi_array_free(tx, &heap->array, TQI_HEAP_SHIFT, tqi_heap_end(heap));
	TQI_SET(tx, heap->capacity, 0u);
}
