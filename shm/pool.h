/* SPDX-License-Identifier: MIT */
/*
 * Blocks: payloads, results, heap chunks.  Ten classes of 64 bytes to 32 KiB are
 * carved from spans; larger blocks are runs of whole spans.  A block is named by
 * its offset in units of 64 bytes; 0 = none.
 *
 * Taking and giving are constant time but for runs, which search the span map.
 * A taken block's bytes are new memory (TX-3), its first 8 already journalled.
 */
#ifndef TQI_SHM_POOL_H
#define TQI_SHM_POOL_H

#include "shm/tx.h"

/* 0 = no memory now: grow (shm/extent.h) and try again, or evict. */
uint32_t tqi_block_take(struct tqi_tx *tx, uint64_t bytes);
/* Free a block; it is not handed out again before the commit (TX-6). */
static inline void tqi_block_give(struct tqi_tx *tx, uint32_t block)
{
	tqi_tx_give(tx, TQI_GIVE_BLOCK, block, NULL);
}
/* For tqi_tx_commit() only. */
void tqi_block_free(struct tqi_tx *tx, uint32_t block);

/* Bytes that a block of this size really takes. */
uint64_t tqi_block_bytes(uint64_t bytes);

#endif
