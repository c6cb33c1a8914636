/* SPDX-License-Identifier: MIT */
/* Segmented arrays: their chunks. */
#include "shm/array.h"

#include "shm/pool.h"

/* Where a far chunk stands in the directory. */
static uint32_t far_chunk(uint32_t shift, uint32_t place)
{
	return (place - tqi_array_far(shift)) >> (TQI_SPAN_SHIFT - shift);
}

void *tqi_array_far_at(struct tqi_tx *tx, const struct tqi_array *array, uint32_t shift,
		       uint32_t place, uint32_t bytes)
{
	const uint32_t *directory = tqi_unit(tx, array->directory);
	const uint32_t c = far_chunk(shift, place);
	const uint32_t chunk = tx->corrupt || c >= TQI_ARRAY_DIRECTORY ? 0 : directory[c];
	const uint32_t at = (place - tqi_array_far(shift)) & (tqi_array_far_places(shift) - 1);

	return tqi_unit_part(tx, chunk, (uint64_t)at << shift, bytes);
}

static uint32_t grow_near(struct tqi_tx *tx, struct tqi_array *array, uint32_t shift, uint32_t k)
{
	const uint32_t chunk = tqi_block_take(tx, tqi_array_chunk_bytes(k));

	if (!chunk)
		return 0;
	TQI_SET(tx, array->chunks[k], chunk);
	return tqi_array_chunk_places(shift, k);
}

static uint32_t grow_far(struct tqi_tx *tx, struct tqi_array *array, uint32_t shift, uint32_t c)
{
	if (!array->directory) {
		const uint32_t block = tqi_block_take(tx, TQI_SPAN_BYTES);

		if (!block)
			return 0;
		TQI_SET(tx, array->directory, block);
	}
	uint32_t *directory = tqi_unit(tx, array->directory);
	const uint32_t chunk = tqi_block_take(tx, TQI_SPAN_BYTES);

	if (!chunk || c >= TQI_ARRAY_DIRECTORY)
		return 0;
	TQI_SET(tx, directory[c], chunk);
	return tqi_array_far_places(shift);
}

uint32_t tqi_array_grow(struct tqi_tx *tx, struct tqi_array *array, uint32_t shift, uint32_t end)
{
	return end < tqi_array_far(shift) ? grow_near(tx, array, shift, tqi_array_chunk(shift, end))
					  : grow_far(tx, array, shift, far_chunk(shift, end));
}

static void give_near(struct tqi_tx *tx, struct tqi_array *array, uint32_t k)
{
	tqi_block_give(tx, array->chunks[k]);
	TQI_SET(tx, array->chunks[k], 0u);
}

static void give_directory(struct tqi_tx *tx, struct tqi_array *array)
{
	tqi_block_give(tx, array->directory);
	TQI_SET(tx, array->directory, 0u);
}

void tqi_array_shrink(struct tqi_tx *tx, struct tqi_array *array, uint32_t shift, uint32_t end)
{
	if (end <= tqi_array_far(shift)) {
		give_near(tx, array, tqi_array_chunk(shift, end - 1));
		return;
	}
	const uint32_t *directory = tqi_unit(tx, array->directory);
	const uint32_t c = far_chunk(shift, end - 1);

	if (tx->corrupt || c >= TQI_ARRAY_DIRECTORY) {
		tx->corrupt = true;
		return;
	}
	tqi_block_give(tx, directory[c]);
	if (c == 0)
		give_directory(tx, array);
}

void tqi_array_free(struct tqi_tx *tx, struct tqi_array *array, uint32_t shift, uint32_t end)
{
	const uint32_t far = tqi_array_far_chunks(shift, end);

	for (uint32_t k = 0; k < TQI_ARRAY_CHUNKS; k++)
		if (array->chunks[k])
			give_near(tx, array, k);
	const uint32_t *directory = far ? tqi_unit(tx, array->directory) : NULL;

	for (uint32_t c = 0; c < far && c < TQI_ARRAY_DIRECTORY; c++)
		tqi_block_give(tx, directory[c]);
	if (array->directory)
		give_directory(tx, array);
}
