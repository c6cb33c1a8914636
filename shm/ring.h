/* SPDX-License-Identifier: MIT */
/*
 * A ring of the last entries, for a flight recorder.
 *
 * RG-1  Entry number n, from 1, lies in slot (n - 1) % slots.  An entry is written plainly
 *     into the slot beyond the head, and the head grows by one in the transaction: rolled
 *     back, the slot is scratch again.
 * RG-2  A transaction writes at most TQI_RING_SLACK entries, and the ring has so many slots
 *     more than it promises entries.  So the last promised ones before any transaction are
 *     whole, whatever becomes of it: number n is while n + promised > head.  (An entry goes
 *     with two changes at least, and the journal has room for twice as many.)
 * RG-3  `ring_shown` is the head as of some commit, stored after it: what an observer may
 *     show although transactions are under way.  A process killed in between leaves it
 *     behind until the next commit that writes an entry.
 */
#ifndef TQI_SHM_RING_H
#define TQI_SHM_RING_H

#include "shm/tx.h"

/* Where the next entry is to be written, all of it; NULL: there is no ring, or it will be undone anyway. */
static inline void *tqi_ring_next(struct tqi_tx *tx)
{
	const struct tqi_geometry *g = &tx->seg->geometry;
	const struct tqi_core *core = tx->core;

	if (g->ring_slots == 0)
		return NULL;
	if (tx->ring_count == 0) {
		tx->ring_slot = (uint32_t)(core->ring_head % g->ring_slots);
	} else if (++tx->ring_slot == g->ring_slots) {
		tx->ring_slot = 0;
	}
	if (++tx->ring_count > TQI_RING_SLACK)
		tx->corrupt = true; /* an operation over its declared maximum */
	if (tx->corrupt)
		return NULL;
	return tx->base + g->ring + (uint64_t)tx->ring_slot * TQI_RING_ENTRY_BYTES;
}

/* It has been written: it is in, if this transaction is. */
static inline void tqi_ring_push(struct tqi_tx *tx)
{
	tqi_publish_barrier();
	TQI_ADD(tx, tx->core->ring_head, 1);
}

#endif
