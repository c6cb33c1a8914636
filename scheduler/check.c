/* SPDX-License-Identifier: MIT */
/* The check as a whole, and its report. */
#include "scheduler/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/check_state.h"

#define TEXT_MAX 256
#define ALIGN 64

static uint64_t part(uint64_t *cursor, uint64_t bytes)
{
	uint64_t at = (*cursor + ALIGN - 1) / ALIGN * ALIGN;

	*cursor = at + bytes;
	return at;
}

/* Records that the parts must have room for: all that were ever made, or (NULL) can be. */
static uint64_t records(const struct tqi_geometry *g, const struct tqi_core *core, uint32_t t)
{
	uint32_t max = g->tables[t].max;

	return core && core->tables[t].count < max ? core->tables[t].count : max;
}

/* Lays the parts out; with `base` it also sets the pointers. */
static uint64_t lay_out(const struct tqi_geometry *g, const struct tqi_core *core,
			unsigned char *base, struct tqi_check *c)
{
	uint64_t cursor = 0, marks[TQI_TABLE_COUNT];

	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++)
		marks[t] = part(&cursor, records(g, core, t));
	uint64_t members = part(&cursor, 4 * records(g, core, TQI_LANES));
	uint64_t depth = part(&cursor, 4 * records(g, core, TQI_CLASSES) * TQ_STATE_COUNT);
	uint64_t waiting = part(&cursor, 4 * records(g, core, TQI_QUEUES));
	uint64_t pins = part(&cursor, 4 * records(g, core, TQI_TASKS));
	uint64_t blocks = part(&cursor, (g->max_bytes >> TQI_UNIT_SHIFT) / 8);
	uint64_t spans = part(&cursor, g->span_count);

	if (!base)
		return cursor;
	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++)
		c->marks[t] = base + marks[t];
	c->members = (uint32_t *)(void *)(base + members);
	c->depth = (uint32_t *)(void *)(base + depth);
	c->waiting = (uint32_t *)(void *)(base + waiting);
	c->pins = (uint32_t *)(void *)(base + pins);
	c->blocks = (uint64_t *)(void *)(base + blocks);
	c->spans = base + spans;
	return cursor;
}

uint64_t tqi_check_scratch_bytes(const struct tqi_geometry *geometry)
{
	return lay_out(geometry, NULL, NULL, NULL);
}

void tqi_check_fault(struct tqi_check *c, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	c->faults++;
	c->tx->corrupt = false; /* what a resolver met has been said */
	if (c->finding)
		c->finding(c->arg, text);
}

void *tqi_check_at(struct tqi_check *c, uint32_t table, uint32_t index, const char *what)
{
	void *record = NULL;

	if (index < c->tx->core->tables[table].count)
		record = tqi_table_peek(c->tx->seg, table, index);
	if (!record)
		tqi_check_fault(c, "%s refers to %s %u, which does not exist", what,
				c->tx->seg->schema->tables[table].name, index);
	return record;
}

void tqi_check_block(struct tqi_check *c, uint32_t block, const char *what, uint32_t index)
{
	const struct tqi_geometry *g = &c->tx->seg->geometry;
	uint64_t offset = (uint64_t)block << TQI_UNIT_SHIFT;

	if (offset < g->fixed_bytes || offset >= g->max_bytes) {
		tqi_check_fault(c, "%s of %u: block %u lies outside the segment", what, index,
				block);
		return;
	}
	if (c->blocks[block / 64] >> (block % 64) & 1)
		tqi_check_fault(c, "%s of %u: block %u is in use twice", what, index, block);
	c->blocks[block / 64] |= 1ull << (block % 64);
}

uint32_t tqi_check(struct tqi_tx *tx, void *scratch, tqi_check_finding *finding, void *arg)
{
	struct tqi_check c = { .tx = tx, .finding = finding, .arg = arg };

	memset(scratch, 0, lay_out(&tx->seg->geometry, tx->core, scratch, &c));
	tx->corrupt = false;
	if (tx->core->undo_count)
		tqi_check_fault(&c, "a change is under way or was left by the dead: %u journal entries",
				tx->core->undo_count);
	tqi_check_tables(&c);
	if (c.faults)
		return c.faults; /* without sound tables nothing else means anything */
	tqi_check_tasks(&c);
	tqi_check_heaps(&c);
	tqi_check_lists(&c);
	tqi_check_gauges(&c);
	tqi_check_memory(&c);
	return c.faults;
}
