/* SPDX-License-Identifier: MIT */
/* Size classes over spans. */
#include "shm/pool.h"

#include "shm/list.h"
#include "shm/span.h"

#define CLASS_SHIFT_FIRST 6
#define SMALL_BYTES_MAX (1u << (CLASS_SHIFT_FIRST + TQI_SMALL_CLASSES - 1))
#define CLASSES_ROOM 16 /* a power of two over them, by which any number can be shifted */
_Static_assert(TQI_SMALL_CLASSES <= CLASSES_ROOM && CLASS_SHIFT_FIRST + CLASSES_ROOM <= 32, "");
#define UNITS_PER_SPAN_SHIFT (TQI_SPAN_SHIFT - TQI_UNIT_SHIFT)

static uint32_t class_of(uint64_t bytes)
{
	return bytes <= 64 ? 0 : 64u - CLASS_SHIFT_FIRST - (uint32_t)__builtin_clzll(bytes - 1);
}

static uint32_t spans_of(uint64_t bytes)
{
	return (uint32_t)((bytes + TQI_SPAN_BYTES - 1) >> TQI_SPAN_SHIFT);
}

uint64_t tqi_block_bytes(uint64_t bytes)
{
	return bytes <= SMALL_BYTES_MAX ? 64ull << class_of(bytes)
					: (uint64_t)spans_of(bytes) << TQI_SPAN_SHIFT;
}

static uint32_t blocks_per_span(uint32_t class)
{
	return TQI_SPAN_BYTES >> (CLASS_SHIFT_FIRST + class);
}

static uint32_t block_ref(uint32_t span, uint32_t class, uint32_t index)
{
	return (span << UNITS_PER_SPAN_SHIFT) + (index << class);
}

static bool has_room(const struct tqi_span *span, uint32_t class)
{
	return span->free || span->bump < blocks_per_span(class);
}

TQI_LINKS(links_of, tqi_span_at, tqi_span, prev, next)

/* Spans of a class that have room. */
static inline struct tqi_list list_of(struct tqi_tx *tx, uint32_t class)
{
	return (struct tqi_list){ links_of, &tx->core->class_head[class], NULL };
}

static uint32_t open_span(struct tqi_tx *tx, uint32_t class)
{
	uint32_t s = tqi_span_take(tx, 1, TQI_SPAN_BLOCKS);

	if (!s)
		return 0;
	struct tqi_span *span = tqi_span_at(tx, s);

	TQI_SET(tx, span->class_, (uint8_t) class);
	TQI_SET(tx, span->used, 0);
	TQI_SET(tx, span->bump, 0);
	TQI_SET(tx, span->free, 0);
	tqi_list_push(tx, list_of(tx, class), s);
	return s;
}

/* The link in it is saved whole: the new owner overwrites it. */
static bool take_free(struct tqi_tx *tx, struct tqi_span *span, uint64_t *block)
{
	struct tqi_undo *u = tqi_undo_room(tx, 3);

	if (!u)
		return false;
	TQI_NOTE(tx, u, *block);
	TQI_NOTE(tx, u, span->free);
	TQI_NOTE(tx, u, span->used);
	tqi_undo_count(tx, 3);
	TQI_PUT(span->free, *(const uint16_t *)(const void *)block);
	TQI_PUT(span->used, span->used + 1);
	return true;
}

static void put_free(struct tqi_tx *tx, struct tqi_span *span, uint16_t *block, uint32_t index)
{
	struct tqi_undo *u = tqi_undo_room(tx, 3);

	if (!u)
		return;
	TQI_NOTE(tx, u, *block);
	TQI_NOTE(tx, u, span->free);
	TQI_NOTE(tx, u, span->used);
	tqi_undo_count(tx, 3);
	TQI_PUT(*block, span->free);
	TQI_PUT(span->free, index + 1);
	TQI_PUT(span->used, span->used - 1);
}

static uint32_t take_small(struct tqi_tx *tx, uint32_t class)
{
	uint32_t s = tx->core->class_head[class];

	if (!s)
		s = open_span(tx, class);
	if (!s)
		return 0;
	struct tqi_span *span = tqi_span_at(tx, s);
	uint32_t index;

	if (span->free) {
		index = span->free - 1u;
		if (!take_free(tx, span, tqi_unit(tx, block_ref(s, class, index))))
			return 0;
	} else {
		index = span->bump;
		TQI_SETS(tx, span, (bump, index + 1), (used, span->used + 1));
	}
	if (!has_room(span, class))
		tqi_list_remove(tx, list_of(tx, class), s);
	return block_ref(s, class, index);
}

static void give_small(struct tqi_tx *tx, struct tqi_span *span, uint32_t s, uint32_t ref)
{
	uint32_t class = span->class_ % CLASSES_ROOM; /* damaged, it is anything */
	uint32_t index = (ref - (s << UNITS_PER_SPAN_SHIFT)) >> class;
	bool was_full = !has_room(span, class);

	if (class >= TQI_SMALL_CLASSES || span->used == 0 || index >= span->bump ||
	    block_ref(s, class, index) != ref) {
		tx->corrupt = true;
		return;
	}
	put_free(tx, span, tqi_unit(tx, ref), index);
	if (was_full)
		tqi_list_push(tx, list_of(tx, class), s);
	/* Keep one empty span a class, so that one task at a time does not open and close it. */
	if (span->used == 0 && (span->prev || span->next)) {
		tqi_list_remove(tx, list_of(tx, class), s);
		tqi_span_give(tx, s, 1);
	}
}

uint32_t tqi_block_take(struct tqi_tx *tx, uint64_t bytes)
{
	uint32_t block = bytes <= SMALL_BYTES_MAX ? take_small(tx, class_of(bytes))
						  : tqi_span_take(tx, spans_of(bytes), TQI_SPAN_RUN)
							    << UNITS_PER_SPAN_SHIFT;

	if (!block)
		tx->lacked = true;
	return block;
}

void tqi_block_free(struct tqi_tx *tx, uint32_t block)
{
	uint32_t s = block >> UNITS_PER_SPAN_SHIFT;
	struct tqi_span *span = tqi_span_at(tx, s);

	if (span->use == TQI_SPAN_BLOCKS)
		give_small(tx, span, s, block);
	else if (span->use == TQI_SPAN_RUN)
		tqi_span_give(tx, s, span->next);
	else
		tx->corrupt = true;
}
