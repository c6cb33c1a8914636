/* SPDX-License-Identifier: MIT */
/*
 * 4-ary heaps in the segment, smallest key first, keys inline.
 *
 * An entry is {key, tag}; tag = sequence << 24 | index of the record it stands
 * for.  Equal keys are ordered by the sequence, compared by signed difference so
 * that its 40 bits may wrap.  Every heap belongs to a family; a family has one
 * position array: record index -> place in its heap.  Positions are derived: they
 * are not journalled, restoring a heap entry rewrites them (shm/tx.c).  The place
 * of a record that is in no heap means nothing.
 *
 * Places start at 3 so that four siblings, 64 bytes, share a cache line: the
 * root is place 3, children of p are 4p-8 ... 4p-5.  The root lives in the heap
 * itself, the others in an array (shm/array.h), whose first place is 4.
 *
 * Growth is separate from use: tqi_heap_reserve() may fail, push never does.
 */
#ifndef TQI_SHM_HEAP_H
#define TQI_SHM_HEAP_H

#include "shm/array.h"

#define TQI_HEAP_ROOT 3u
#define TQI_HEAP_SHIFT 4u /* 16 bytes an entry */

struct tqi_heap_entry {
	int64_t key;
	uint64_t tag;
};
_Static_assert(sizeof(struct tqi_heap_entry) == 1u << TQI_HEAP_SHIFT, "as the array has them");

/* Journalled.  Read by observers for its length. */
struct tqi_heap {
	uint32_t length; /* first: the journal finds the heap by this field */
	uint32_t capacity;
	struct tqi_heap_entry root;
	struct tqi_array array;
};

/* First of up to four children. */
static inline uint32_t tqi_heap_children(uint32_t place)
{
	return 4 * place - 8;
}

/* Where its array ends. */
static inline uint32_t tqi_heap_end(const struct tqi_heap *heap)
{
	return heap->capacity + TQI_HEAP_ROOT;
}

static inline uint64_t tqi_tag(uint64_t sequence, uint32_t index)
{
	return sequence << TQI_INDEX_BITS | index;
}

static inline uint32_t tqi_tag_index(uint64_t tag)
{
	return (uint32_t)(tag & TQI_INDEX_MASK);
}

static inline bool tqi_entry_before(const struct tqi_heap_entry *a, const struct tqi_heap_entry *b)
{
	/* Whether keys are equal can be foreseen: all or hardly any are.  What is less cannot. */
	if (__builtin_expect(a->key == b->key, 0))
		return (int64_t)(a->tag - b->tag) < 0;
	return a->key < b->key;
}

/* Directory of a family's position array. */
static inline const uint32_t *tqi_positions(const struct tqi_segment *seg, uint32_t family)
{
	return (const uint32_t *)(const void *)(seg->base + seg->geometry.positions[family]);
}

/* Of a record whose position is in this span. */
static inline uint32_t *tqi_position_in(unsigned char *base, uint32_t span, uint32_t index)
{
	uint32_t *positions = (uint32_t *)(void *)(base + ((uint64_t)span << TQI_SPAN_SHIFT));

	return &positions[index & ((1u << TQI_POSITIONS_SHIFT) - 1)];
}

/* Of a record in its family's array; NULL: it has none. */
static inline uint32_t *tqi_heap_position_at(const struct tqi_segment *seg, uint32_t family,
					     uint32_t index)
{
	const struct tqi_geometry *g = &seg->geometry;

	if (index >= g->positions_max[family])
		return NULL;
	uint32_t span = tqi_positions(seg, family)[index >> TQI_POSITIONS_SHIFT];

	return span && span < g->span_count ? tqi_position_in(seg->base, span, index) : NULL;
}

static inline void tqi_heap_position_store(const struct tqi_segment *seg, uint32_t family,
					   uint32_t index, uint32_t place)
{
	volatile uint32_t *position = tqi_heap_position_at(seg, family, index);

	if (position)
		*position = place;
}

/*
 * The first entry of an empty heap that has room: nothing to compare with.  So many journal
 * entries, which the caller counts together with others of its own, and then the stores.
 * What the root was is of no heap.
 */
#define TQI_HEAP_ALONE 3u
static inline void tqi_heap_note_alone(const struct tqi_tx *tx, struct tqi_undo **u,
				       const struct tqi_heap *heap, uint32_t family)
{
	const uint64_t at = tqi_offset(tx, heap) << 8;

	*(*u)++ = (struct tqi_undo){ at | (TQI_UNDO_LENGTH + family), heap->length };
	*(*u)++ = (struct tqi_undo){ at + TQI_FIELD_AT(heap, root.key) + TQI_UNDO_64,
				     (uint64_t)heap->root.key };
	*(*u)++ = (struct tqi_undo){ at + TQI_FIELD_AT(heap, root.tag) + TQI_UNDO_64,
				     heap->root.tag };
}
static inline void tqi_heap_store_alone(const struct tqi_tx *tx, struct tqi_heap *heap,
					uint32_t family, struct tqi_heap_entry entry)
{
	*(volatile uint32_t *)&heap->length = 1;
	*(volatile int64_t *)&heap->root.key = entry.key;
	*(volatile uint64_t *)&heap->root.tag = entry.tag;
	tqi_heap_position_store(tx->seg, family, tqi_tag_index(entry.tag), TQI_HEAP_ROOT);
}

/* The last entry leaves: one journal entry, to be counted by the caller, and the store. */
static inline void tqi_heap_note_length(const struct tqi_tx *tx, struct tqi_undo **u,
					const struct tqi_heap *heap, uint32_t family)
{
	*(*u)++ = (struct tqi_undo){ tqi_offset(tx, heap) << 8 | (TQI_UNDO_LENGTH + family),
				     heap->length };
}

/*
 * The only entry gets another key, or another record's sequence, and stays: likewise, two
 * entries.
 */
#define TQI_HEAP_ONLY 2u
static inline void tqi_heap_note_only(const struct tqi_tx *tx, struct tqi_undo **u,
				      const struct tqi_heap *heap, uint32_t family)
{
	*(*u)++ = (struct tqi_undo){ (tqi_offset(tx, heap) << 8) + TQI_FIELD_AT(heap, root.key) +
					     TQI_UNDO_64,
				     (uint64_t)heap->root.key };
	*(*u)++ = (struct tqi_undo){ (uint64_t)TQI_HEAP_ROOT << 8 | (TQI_UNDO_TAG + family),
				     heap->root.tag };
}
static inline void tqi_heap_store_only(struct tqi_heap *heap, struct tqi_heap_entry entry)
{
	*(volatile int64_t *)&heap->root.key = entry.key;
	*(volatile uint64_t *)&heap->root.tag = entry.tag;
}

int tqi_heap_grow(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t length);
/* Make room for `length` entries.  -ENOMEM: nothing lost, call again after growth. */
static inline int tqi_heap_reserve(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t length)
{
	return heap->capacity >= length ? 0 : tqi_heap_grow(tx, heap, length);
}

void tqi_heap_push(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
		   struct tqi_heap_entry entry);
/* Take out the record `index`, which must be in this heap. */
void tqi_heap_remove(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t index);
/* The place of the record `index` gets this entry: of it, with another key, or of another. */
void tqi_heap_rekey(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family, uint32_t index,
		    struct tqi_heap_entry entry);
/*
 * The record that an entry is of comes into the heap, goes, or has this entry from now on: by
 * whether it is there, and whether it is to be.
 */
static inline void tqi_heap_follow(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
				   struct tqi_heap_entry entry, bool is_there, bool is_to_be)
{
	if (is_to_be && !is_there)
		tqi_heap_push(tx, heap, family, entry);
	else if (is_to_be)
		tqi_heap_rekey(tx, heap, family, tqi_tag_index(entry.tag), entry);
	else if (is_there)
		tqi_heap_remove(tx, heap, family, tqi_tag_index(entry.tag));
}
/* Entry at a place from TQI_HEAP_ROOT on; for checks. */
struct tqi_heap_entry tqi_heap_at(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t place);
/* Tag of the first entry but the root; 0 none. */
uint64_t tqi_heap_second(struct tqi_tx *tx, struct tqi_heap *heap);
/* Load those of which one takes the root's place into the cache. */
void tqi_heap_fetch(struct tqi_tx *tx, struct tqi_heap *heap);
/*
 * Give the last chunk back if the rest has room for twice `length`, which is at least
 * the heap's: called as it shrinks, memory follows at most one chunk a call.
 */
void tqi_heap_trim(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t length);
/* Give all chunks back; the heap must be empty. */
void tqi_heap_free(struct tqi_tx *tx, struct tqi_heap *heap);

/* Position array. */
uint32_t tqi_heap_position(struct tqi_tx *tx, uint32_t family, uint32_t index);
int tqi_positions_reserve(struct tqi_tx *tx, uint32_t family, uint32_t index);
void tqi_heap_position_last(const struct tqi_segment *seg, uint32_t family,
			    const struct tqi_heap *heap);

#endif
