/* SPDX-License-Identifier: MIT */
/*
 * Overlays: private memory laid out like a segment, into which each record and block is
 * copied when a transaction on it first touches it.
 *
 * OV-1  Its geometry has no records in any table, and no blocks: whatever the checked
 *     resolvers (TX-5) do not find, they ask the overlay for.  So a segment pays nothing.
 * OV-2  Core, root and the directories of the position arrays are copied beforehand; of a
 *     position array what is 0 has not been copied.
 * OV-3  It has no free memory, and a transaction on it is never committed: the next one
 *     begins, and what was given stays.
 */
#ifndef TQI_SHM_OVERLAY_H
#define TQI_SHM_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

struct tqi_segment;
struct tqi_tx;

/* Its functions copy, unless it has; false: it is not there, or no more may be copied. */
struct tqi_overlay {
	const struct tqi_segment *of; /* whose copy it is */
	bool (*record)(struct tqi_overlay *overlay, uint32_t table, uint32_t index,
		       uint64_t *ret_offset);
	/* Bytes of a block from `at` on; 0 bytes: the whole block. */
	bool (*block)(struct tqi_overlay *overlay, uint64_t offset, uint64_t at, uint64_t bytes);
	/* A word of a position array. */
	bool (*position)(struct tqi_overlay *overlay, uint32_t family, uint32_t index,
			 uint32_t *ret_place);
};

/* A record that the resolver has not found; the scratch record, and the transaction corrupt. */
void *tqi_overlay_record(struct tqi_tx *tx, uint32_t table, uint32_t index);
/* Likewise bytes of a block. */
void *tqi_overlay_block(struct tqi_tx *tx, uint64_t offset, uint64_t at, uint64_t bytes);
/* The place of a record in a heap, which its position array does not have; 0 nor is it there. */
uint32_t tqi_overlay_position(struct tqi_tx *tx, uint32_t family, uint32_t index);

#endif
