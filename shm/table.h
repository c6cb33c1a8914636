/* SPDX-License-Identifier: MIT */
/*
 * Tables of fixed-size records, addressed by index; index 0 is none.  The newest
 * free record is used first (its cache lines are warm).  Tables never shrink.
 * The first field of every record is `uint32_t link`, the next free record.
 */
#ifndef TQI_SHM_TABLE_H
#define TQI_SHM_TABLE_H

#include "shm/tx.h"

/*
 * Take a record; 0 = no memory (`*ret_full` false: grow and try again) or the
 * table is full.  A record used for the first time is all zero; others are as
 * their last owner left them, so that a generation in them can live on.
 */
uint32_t tqi_table_take(struct tqi_tx *tx, uint32_t table, bool *ret_full);
/* Free a record; it is not handed out again before the commit (T6). */
void tqi_table_give(struct tqi_tx *tx, uint32_t table, uint32_t index);
/* For tqi_tx_commit() only. */
void tqi_table_free(struct tqi_tx *tx, uint32_t table, uint32_t index);

/* NULL when the index is out of range or has no memory. */
void *tqi_table_peek(const struct tqi_segment *seg, uint32_t table, uint32_t index);

/* log2 of the records of a size that fit into a span; a constant for a constant size. */
static inline uint32_t tqi_records_shift(uint32_t record_bytes)
{
	return 31u - (uint32_t)__builtin_clz(TQI_SPAN_BYTES / record_bytes);
}

/* Resolve a reference (T5); `record_bytes` is the table's, for the compiler to fold. */
static inline void *tqi_table_resolve(struct tqi_tx *tx, uint32_t table, uint32_t index,
				      uint32_t record_bytes)
{
	const struct tqi_table_geometry *g = &tx->seg->geometry.tables[table];
	const uint32_t shift = tqi_records_shift(record_bytes);

	if (__builtin_expect(index == 0 || index >= g->max, 0))
		return tqi_tx_scratch(tx);
	const uint32_t *directory = (const uint32_t *)(const void *)(tx->base + g->directory);
	uint32_t span = directory[index >> shift];

	if (__builtin_expect(span == 0 || span >= tx->seg->geometry.span_count, 0))
		return tqi_tx_scratch(tx);
	return tx->base + ((uint64_t)span << TQI_SPAN_SHIFT) +
	       (uint64_t)(index & ((1u << shift) - 1)) * record_bytes;
}

static inline void *tqi_table_at(struct tqi_tx *tx, uint32_t table, uint32_t index)
{
	return tqi_table_resolve(tx, table, index, tx->seg->geometry.tables[table].record_bytes);
}

#endif
