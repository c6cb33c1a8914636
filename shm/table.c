/* SPDX-License-Identifier: MIT */
/* Tables: taking, giving, growing by spans. */
#include "shm/table.h"

#include <errno.h>
#include <string.h>

#include "shm/heap.h"
#include "shm/span.h"

void *tqi_table_peek(const struct tqi_segment *seg, uint32_t table, uint32_t index)
{
	const struct tqi_table_geometry *g = &seg->geometry.tables[table];

	if (index == 0 || index >= g->max)
		return NULL;
	const uint32_t *directory = (const uint32_t *)(const void *)(seg->base + g->directory);
	uint32_t span = directory[index >> g->shift];

	if (span == 0 || span >= seg->geometry.span_count)
		return NULL;
	return seg->base + ((uint64_t)span << TQI_SPAN_SHIFT) +
	       (uint64_t)(index & ((1u << g->shift) - 1)) * g->record_bytes;
}

void tqi_table_fetch(const struct tqi_segment *seg, uint32_t table, uint32_t index)
{
	const char *record = tqi_table_peek(seg, table, index);
	const char *end = record ? record + seg->geometry.tables[table].record_bytes : NULL;

	for (; record < end; record += 64)
		__builtin_prefetch(record, 1);
}

void *tqi_table_resolve(struct tqi_tx *tx, uint32_t table, uint32_t index)
{
	void *record = tqi_table_peek(tx->seg, table, index);

	if (!record)
		return tqi_overlay_record(tx, table, index);
	tx->seen->of[table].index = index;
	tx->seen->of[table].record = record;
	return record;
}

/* Positions of every heap family over this table grow with it. */
static int reserve_positions(struct tqi_tx *tx, uint32_t table, uint32_t index)
{
	const struct tqi_schema *schema = tx->seg->schema;

	for (uint32_t f = 0; f < schema->family_count; f++)
		if (schema->family_table[f] == table && tqi_positions_reserve(tx, f, index) < 0)
			return -ENOMEM;
	return 0;
}

static int grow(struct tqi_tx *tx, uint32_t table, uint32_t index)
{
	const struct tqi_table_geometry *g = &tx->seg->geometry.tables[table];
	uint32_t *directory = (uint32_t *)(void *)(tx->base + g->directory);
	uint32_t *slot = &directory[index >> g->shift];

	if (reserve_positions(tx, table, index) < 0)
		return -ENOMEM;
	if (*slot)
		return 0;
	uint32_t span = tqi_span_take(tx, 1, TQI_SPAN_TABLE);

	if (!span)
		return -ENOMEM;
	TQI_SET(tx, *slot, span);
	TQI_ADD(tx, tx->core->tables[table].spans, 1);
	return 0;
}

static uint32_t take_new(struct tqi_tx *tx, uint32_t table)
{
	struct tqi_table *t = &tx->core->tables[table];
	uint32_t index = t->count;

	if (grow(tx, table, index) < 0)
		return 0;
	void *record = tqi_table_at(tx, table, index);

	if (!tx->corrupt) /* new memory (TX-3), perhaps with an old payload in it */
		memset(record, 0, tx->seg->geometry.tables[table].record_bytes);
	TQI_SET(tx, t->count, index + 1);
	return index;
}

uint32_t tqi_table_take_new(struct tqi_tx *tx, uint32_t table, bool *ret_full)
{
	struct tqi_table *t = &tx->core->tables[table];
	uint32_t index;

	*ret_full = t->count >= tx->seg->geometry.tables[table].max;
	index = *ret_full ? 0 : take_new(tx, table);
	if (index)
		TQI_ADD(tx, t->live, 1);
	return index;
}
