/* SPDX-License-Identifier: MIT */
/* Segmented arrays: as many chunks as their length needs, and no others. */
#include "scheduler/check/check_state.h"

static bool check_near(struct tqi_check *c, const struct tqi_array *array, uint32_t needed,
		       const struct tqi_check_owner *o)
{
	bool ok = true;

	for (uint32_t k = 0; k < TQI_ARRAY_CHUNKS; k++) {
		if (k < needed) {
			ok &= tqi_check_block(c, array->chunks[k], tqi_array_chunk_bytes(k),
					      o->record, o->index, "chunk");
		} else if (array->chunks[k]) {
			tqi_check_fault(c, "%s %u: chunk %u is %u, of %u", o->record, o->index, k,
					array->chunks[k], needed);
			ok = false;
		}
	}
	return ok;
}

static bool check_far(struct tqi_check *c, const struct tqi_array *array, uint32_t needed,
		      const struct tqi_check_owner *o)
{
	if (!needed && !array->directory)
		return true;
	if (!tqi_check_block(c, array->directory, TQI_SPAN_BYTES, o->record, o->index, "directory"))
		return false;
	const uint32_t *directory = tqi_unit(c->tx, array->directory);
	bool ok = needed <= TQI_ARRAY_DIRECTORY;

	for (uint32_t i = 0; i < needed && ok; i++)
		ok = tqi_check_block(c, directory[i], TQI_SPAN_BYTES, o->record, o->index,
				     "far chunk");
	return ok;
}

bool tqi_check_array(struct tqi_check *c, const struct tqi_array *array, uint32_t shift,
		     uint32_t end, const struct tqi_check_owner *o)
{
	bool near = check_near(c, array, tqi_array_near_chunks(shift, end), o);

	return check_far(c, array, tqi_array_far_chunks(shift, end), o) && near;
}

bool tqi_check_heads(struct tqi_check *c, const struct tqi_hash_index *index, const char *name)
{
	if (index->buckets > TQI_INDEX_MASK + 1) {
		tqi_check_fault(c, "%s: %u buckets", name, index->buckets);
		return false;
	}
	return tqi_check_array(c, &index->heads, TQI_HASH_SHIFT, tqi_hash_end(index),
			       &(struct tqi_check_owner){ name, 0 });
}
