/* SPDX-License-Identifier: MIT */
/* What the resolvers do not find, an overlay may have. */
#include "shm/overlay.h"

#include "shm/tx.h"

__attribute__((cold)) void *tqi_overlay_record(struct tqi_tx *tx, uint32_t table, uint32_t index)
{
	struct tqi_overlay *overlay = tx->seg->overlay;
	uint64_t offset;

	/* It is not remembered: the overlay counts how often it is asked. */
	return overlay && overlay->record(overlay, table, index, &offset) ? tx->base + offset
									  : tqi_tx_scratch(tx);
}

__attribute__((cold)) void *tqi_overlay_block(struct tqi_tx *tx, uint64_t offset, uint64_t at,
					      uint64_t bytes)
{
	struct tqi_overlay *overlay = tx->seg->overlay;

	return overlay && overlay->block(overlay, offset, at, bytes) ? tx->base + offset + at
								     : tqi_tx_scratch(tx);
}

__attribute__((cold)) uint32_t tqi_overlay_position(struct tqi_tx *tx, uint32_t family,
						    uint32_t index)
{
	struct tqi_overlay *overlay = tx->seg->overlay;
	uint32_t place;

	return overlay && overlay->position(overlay, family, index, &place) ? place : 0;
}
