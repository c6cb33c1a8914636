/* SPDX-License-Identifier: MIT */
/*
 * Segmented arrays in the segment: they grow, and shrink, by a chunk at a time, and what is in
 * them never moves.  Heaps and hash indexes lie in them.
 *
 * Elements have 1 << shift bytes, and places: the first one has the number of those that fill a
 * cache line, so that the chunk of a place follows from its highest bit.  Near chunks, of
 * 64 bytes to 64 KiB, double in size; beyond them all have 64 KiB, and stand in a
 * directory.  How many places there are is the owner's to remember: it follows from what it
 * counts anyway.
 *
 * All of it is journalled.
 */
#ifndef TQI_SHM_ARRAY_H
#define TQI_SHM_ARRAY_H

#include "shm/tx.h"

#define TQI_ARRAY_CHUNKS 11 /* near ones: 64 bytes to 64 KiB */
#define TQI_ARRAY_DIRECTORY (TQI_SPAN_BYTES / sizeof(uint32_t))

struct tqi_array {
	uint32_t directory; /* block of 16,384 references; 0 none */
	uint32_t chunks[TQI_ARRAY_CHUNKS];
};

/* The first place; the first one of the far chunks; places of a near, and of a far chunk. */
static inline uint32_t tqi_array_first(uint32_t shift)
{
	return 1u << (TQI_UNIT_SHIFT - shift);
}
static inline uint32_t tqi_array_far(uint32_t shift)
{
	return tqi_array_first(shift) << TQI_ARRAY_CHUNKS;
}
static inline uint32_t tqi_array_chunk_places(uint32_t shift, uint32_t k)
{
	return tqi_array_first(shift) << k;
}
static inline uint32_t tqi_array_far_places(uint32_t shift)
{
	return 1u << (TQI_SPAN_SHIFT - shift);
}

/* Bytes of a near chunk; how many near, and far, chunks there are up to this place. */
static inline uint32_t tqi_array_chunk_bytes(uint32_t k)
{
	return 1u << (TQI_UNIT_SHIFT + k);
}
static inline uint32_t tqi_array_chunk(uint32_t shift, uint32_t place)
{
	return 31u - (TQI_UNIT_SHIFT - shift) - (uint32_t)__builtin_clz(place);
}
static inline uint32_t tqi_array_near_chunks(uint32_t shift, uint32_t end)
{
	if (end <= tqi_array_first(shift))
		return 0;
	return end > tqi_array_far(shift) ? TQI_ARRAY_CHUNKS : tqi_array_chunk(shift, end - 1) + 1;
}
static inline uint32_t tqi_array_far_chunks(uint32_t shift, uint32_t end)
{
	const uint32_t far = tqi_array_far(shift);

	return end > far ? ((end - far - 1) >> (TQI_SPAN_SHIFT - shift)) + 1 : 0;
}

void *tqi_array_far_at(struct tqi_tx *tx, const struct tqi_array *array, uint32_t shift,
		       uint32_t place, uint32_t bytes);
/* What is at a place, of which the caller looks at so many bytes (TX-5). */
static inline __attribute__((always_inline)) void *tqi_array_at(struct tqi_tx *tx,
								const struct tqi_array *array,
								uint32_t shift, uint32_t place,
								uint32_t bytes)
{
	if (place >= tqi_array_far(shift))
		return tqi_array_far_at(tx, array, shift, place, bytes);
	const uint32_t k = tqi_array_chunk(shift, place);

	return tqi_unit_part(tx, array->chunks[k],
			     (uint64_t)(place - tqi_array_chunk_places(shift, k)) << shift, bytes);
}

/* Whether the chunk of place `end` - 1 has the next place, too. */
static inline bool tqi_array_has(uint32_t shift, uint32_t end)
{
	return end > tqi_array_far(shift) ? end % tqi_array_far_places(shift) != 0
					  : (end & (end - 1)) != 0;
}

/*
 * One chunk more to an array that ends before place `end`; returns its places, 0: no memory,
 * and nothing lost.
 */
uint32_t tqi_array_grow(struct tqi_tx *tx, struct tqi_array *array, uint32_t shift, uint32_t end);
/* Give the last chunk back, which has so many places (tqi_array_last()). */
void tqi_array_shrink(struct tqi_tx *tx, struct tqi_array *array, uint32_t shift, uint32_t end);
static inline uint32_t tqi_array_last(uint32_t shift, uint32_t end)
{
	return end > tqi_array_far(shift)
		       ? tqi_array_far_places(shift)
		       : tqi_array_chunk_places(shift, tqi_array_chunk(shift, end - 1));
}
/* Give all back. */
void tqi_array_free(struct tqi_tx *tx, struct tqi_array *array, uint32_t shift, uint32_t end);

#endif
