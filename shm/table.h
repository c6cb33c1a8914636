/* SPDX-License-Identifier: MIT */
/*
 * Tables of fixed-size records, addressed by index; index 0 is none.  The newest
 * free record is used first (its cache lines are warm).  Tables never shrink.
 * The first field of every record is `uint32_t link`, the next free record.
 */
#ifndef TQI_SHM_TABLE_H
#define TQI_SHM_TABLE_H

#include <string.h>

#include "shm/tx.h"

/* What every record begins with; journalled as the field of whatever record it is. */
struct tqi_link {
	uint32_t link; /* of a free one: the next; 0 none */
};

uint32_t tqi_table_take_new(struct tqi_tx *tx, uint32_t table, bool *ret_full);
/* NULL when the index is out of range or has no memory. */
void *tqi_table_peek(const struct tqi_segment *seg, uint32_t table, uint32_t index);

/* Begin to load a record into the cache; no harm where there is none. */
void tqi_table_fetch(const struct tqi_segment *seg, uint32_t table, uint32_t index);

/* Resolve a reference (TX-5) through the directory, and remember it. */
void *tqi_table_resolve(struct tqi_tx *tx, uint32_t table, uint32_t index);

/* The same, when it is not the one that was resolved last. */
static inline void *tqi_table_at(struct tqi_tx *tx, uint32_t table, uint32_t index)
{
	if (__builtin_expect(tx->seen->of[table].index == index, 1))
		return tx->seen->of[table].record;
	return tqi_table_resolve(tx, table, index);
}

/* The same of a record that is looked at in passing: what was resolved last is remembered on. */
static inline void *tqi_table_pass(struct tqi_tx *tx, uint32_t table, uint32_t index)
{
	void *record = tqi_table_peek(tx->seg, table, index);

	return record ? record : tqi_table_resolve(tx, table, index);
}

/* The record that was resolved last, for who can tell by it whether it is the one; NULL none. */
static inline void *tqi_table_last(const struct tqi_tx *tx, uint32_t table)
{
	return tx->seen->of[table].index == UINT64_MAX ? NULL : tx->seen->of[table].record;
}

/*
 * Take a record; 0 = no memory (`*ret_full` false: grow and try again) or the
 * table is full.  A record used for the first time is all zero; others are as
 * their last owner left them, so that a generation in them can live on.
 */
static inline uint32_t tqi_table_take(struct tqi_tx *tx, uint32_t table, bool *ret_full)
{
	struct tqi_table *t = &tx->core->tables[table];
	const uint32_t index = t->free;

	if (__builtin_expect(!index, 0))
		return tqi_table_take_new(tx, table, ret_full);
	const struct tqi_link *record = tqi_table_at(tx, table, index);

	*ret_full = false;
	TQI_SETS(tx, t, (free, record->link), (live, t->live + 1));
	return index;
}

/*
 * All but the link of a record that nothing committed refers to becomes 0: plain stores (TX-3),
 * for one whose generation need not live on.
 */
static inline void tqi_table_clear(void *record, size_t bytes)
{
	memset((unsigned char *)record + sizeof(struct tqi_link), 0,
	       bytes - sizeof(struct tqi_link));
}

/* Free a record; it is not handed out again before the commit (TX-6). */
static inline void tqi_table_give(struct tqi_tx *tx, uint32_t table, uint32_t index)
{
	tqi_tx_give(tx, table, index, tqi_table_at(tx, table, index));
}
/* For tqi_tx_commit() only. */
static inline void tqi_table_free(struct tqi_tx *tx, uint32_t table, uint32_t index,
				  struct tqi_link *record)
{
	struct tqi_table *t = &tx->core->tables[table];

	TQI_SETS_IF(tx, (true, record, link, t->free), (true, t, free, index),
		    (true, t, live, t->live - 1));
}

/*
 * One step more along a list of records: false, and the transaction corrupt, when it has
 * gone on for longer than the table has records (a damaged link leads round in a circle).
 */
static inline bool tqi_table_walks(struct tqi_tx *tx, uint32_t table, uint32_t *steps)
{
	if (++*steps > tx->core->tables[table].count)
		tx->corrupt = true;
	return !tx->corrupt;
}

#endif
