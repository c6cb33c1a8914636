/* SPDX-License-Identifier: MIT */
/* Directories, spans, blocks, free lists: from what the records use. */
#include <errno.h>
#include <string.h>

#include "scheduler/rebuild/rebuild_state.h"
#include "shm/inflight.h"
#include "shm/span.h"

#define UNITS_PER_SPAN_SHIFT (TQI_SPAN_SHIFT - TQI_UNIT_SHIFT)
#define UNITS_PER_SPAN (1u << UNITS_PER_SPAN_SHIFT)

static struct tqi_span *span_of(struct tqi_check *c, uint32_t s)
{
	return (struct tqi_span *)(void *)(c->tx->base + c->g->spans) + s;
}

/* Whether the span is a table's, or at least of no other known use. */
static bool is_table(struct tqi_check *c, uint32_t s)
{
	return tqi_check_span_is_here(c, s) && !c->spans[s] &&
	       s >= c->g->fixed_bytes >> TQI_SPAN_SHIFT && span_of(c, s)->use != TQI_SPAN_BLOCKS &&
	       span_of(c, s)->use != TQI_SPAN_RUN;
}

/* An entry that is no span, or another's, is dropped.  Returns the places up to the last one. */
static uint32_t mend_directory(struct tqi_check *c, uint64_t offset, uint32_t shift, uint32_t max)
{
	uint32_t *directory = (uint32_t *)(void *)(c->tx->base + offset), places = 0;

	for (uint32_t i = 0; i <= (max - 1) >> shift; i++) {
		uint32_t s = directory[i];

		if (!s)
			continue;
		if (!is_table(c, s)) {
			directory[i] = 0;
			continue;
		}
		c->spans[s] = TQI_SEEN_USED;
		places = i + 1;
	}
	return places;
}

/* Records beyond the last span were never made, whatever the count says. */
static void mend_table(struct tqi_check *c, uint32_t t)
{
	struct tqi_table *table = &c->tx->core->tables[t];
	const struct tqi_table_geometry *g = &c->g->tables[t];
	const uint32_t *directory = (const uint32_t *)(const void *)(c->tx->base + g->directory);
	uint32_t places = mend_directory(c, g->directory, g->shift, g->max);

	tqi_seen_clear(c->tx->seen);
	c->tx->core->mended++;
	uint64_t most = (uint64_t)places << g->shift;

	if (most > g->max)
		most = g->max;
	if (most < 1)
		most = 1;
	if (table->count < 1 || table->count > most)
		table->count = (uint32_t)most;
	c->count[t] = table->count;
	table->spans = 0;
	for (uint32_t i = 0; i < places; i++)
		table->spans += directory[i] != 0;
}

static bool is_moving(const struct tqi_core *core, uint32_t extent)
{
	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++) {
		const struct tqi_inflight *e = &core->inflight[i];

		if ((e->kind == TQI_INFLIGHT_GROW || e->kind == TQI_INFLIGHT_PUNCH) &&
		    extent >= e->first && extent - e->first < e->count)
			return true;
	}
	return false;
}

static void mend_extents(struct tqi_check *c)
{
	uint8_t *states = c->tx->base + c->g->extents;
	uint32_t fixed = (uint32_t)(c->g->fixed_bytes >> TQI_EXTENT_SHIFT);
	struct tqi_core *core = c->tx->core;

	core->extents_reserved = 0;
	for (uint32_t e = 0; e < c->g->extent_count; e++) {
		if (e < fixed)
			states[e] = TQI_EXTENT_HERE;
		else if (is_moving(core, e))
			states[e] = TQI_EXTENT_MOVING;
		else if (states[e] != TQI_EXTENT_HERE)
			states[e] = TQI_EXTENT_HOLE;
		core->extents_reserved += states[e] == TQI_EXTENT_HERE;
	}
}

static void mend_inflight(struct tqi_check *c)
{
	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++) {
		struct tqi_inflight *e = &c->tx->core->inflight[i];
		bool extents = e->kind == TQI_INFLIGHT_GROW || e->kind == TQI_INFLIGHT_PUNCH;

		if (e->kind > TQI_INFLIGHT_BLOCK ||
		    (extents && (e->first == 0 || e->count > c->g->extent_count ||
				 e->first > c->g->extent_count - e->count)))
			e->kind = TQI_INFLIGHT_NONE;
	}
}

/* No span is free, and all blocks of a span may be in use: what is one, its record says. */
static void forget_free(struct tqi_check *c)
{
	const struct tqi_geometry *g = c->g;

	memset(c->tx->base + g->span_map, 0, (g->span_count + 63) / 64 * 8);
	for (uint32_t s = 0; s < g->span_count; s++) {
		struct tqi_span *span = span_of(c, s);

		if (span->use == TQI_SPAN_BLOCKS && span->class_ < TQI_SMALL_CLASSES)
			span->bump = (uint16_t)(UNITS_PER_SPAN >> span->class_);
	}
}

void tqi_rebuild_directories(struct tqi_check *c)
{
	const struct tqi_geometry *g = c->g;

	mend_inflight(c);
	mend_extents(c);
	forget_free(c);
	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++)
		mend_table(c, t);
	for (uint32_t f = 0; f < tqi_schema.family_count; f++)
		mend_directory(c, g->positions[f], TQI_POSITIONS_SHIFT,
			       g->tables[tqi_schema.family_table[f]].max);
}

static bool is_seen(const struct tqi_check *c, uint32_t unit)
{
	return c->units[unit / 64] >> (unit % 64) & 1;
}

/* Free blocks below the last one in use are chained, lowest first. */
static void chain_blocks(struct tqi_check *c, uint32_t s, struct tqi_span *span)
{
	uint32_t class = span->class_, first = s << UNITS_PER_SPAN_SHIFT;

	span->bump = (uint16_t)(UNITS_PER_SPAN >> class);
	while (span->bump && !is_seen(c, first + ((span->bump - 1u) << class)))
		span->bump--;
	span->used = c->span_blocks[s];
	span->free = 0;
	for (uint32_t i = span->bump; i > 0; i--) {
		uint32_t unit = first + ((i - 1) << class);

		if (is_seen(c, unit))
			continue;
		*(uint16_t *)tqi_unit(c->tx, unit) = span->free;
		span->free = (uint16_t)i;
	}
}

static void list_span(struct tqi_check *c, uint32_t s, struct tqi_span *span)
{
	uint32_t *head = &c->tx->core->class_head[span->class_];

	span->prev = span->next = 0;
	if (!span->free && span->bump == UNITS_PER_SPAN >> span->class_)
		return;
	span->next = *head;
	if (*head)
		span_of(c, *head)->prev = s;
	*head = s;
}

static void free_span(struct tqi_check *c, uint32_t s)
{
	uint64_t *map = (uint64_t *)(void *)(c->tx->base + c->g->span_map);

	span_of(c, s)->use = TQI_SPAN_FREE;
	map[s / 64] |= 1ull << (s % 64);
	c->tx->core->spans_free++;
}

static void mend_span(struct tqi_check *c, uint32_t s)
{
	struct tqi_span *span = span_of(c, s);

	if (s < c->g->fixed_bytes >> TQI_SPAN_SHIFT) {
		span->use = TQI_SPAN_FIXED;
	} else if (!tqi_check_span_is_here(c, s)) {
		span->use = TQI_SPAN_FREE;
	} else if (c->span_blocks[s] && !c->spans[s]) {
		chain_blocks(c, s, span);
		list_span(c, s, span);
	} else if (!c->spans[s]) {
		free_span(c, s);
	}
}

static void use_directory(struct tqi_check *c, uint64_t offset, uint32_t shift, uint32_t max)
{
	const uint32_t *directory = (const uint32_t *)(const void *)(c->tx->base + offset);

	for (uint32_t i = 0; i <= (max - 1) >> shift; i++)
		if (directory[i])
			span_of(c, directory[i])->use = TQI_SPAN_TABLE;
}

void tqi_rebuild_memory(struct tqi_check *c)
{
	struct tqi_core *core = c->tx->core;
	const struct tqi_geometry *g = c->g;

	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++)
		if (core->inflight[i].kind == TQI_INFLIGHT_BLOCK &&
		    !tqi_rebuild_block(c, &core->inflight[i].first, 0))
			core->inflight[i].kind = TQI_INFLIGHT_NONE;
	memset(core->class_head, 0, sizeof(core->class_head));
	core->spans_free = core->spans_hint = 0;
	for (uint32_t s = 0; s < g->span_count; s++)
		mend_span(c, s);
	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++)
		use_directory(c, g->tables[t].directory, g->tables[t].shift, g->tables[t].max);
	for (uint32_t f = 0; f < tqi_schema.family_count; f++)
		use_directory(c, g->positions[f], TQI_POSITIONS_SHIFT,
			      g->tables[tqi_schema.family_table[f]].max);
}

/* Memory for records whose span was lost: all free. */
static int fill_directory(struct tqi_check *c, uint32_t t)
{
	const struct tqi_table_geometry *g = &c->g->tables[t];
	uint32_t *directory = (uint32_t *)(void *)(c->tx->base + g->directory);

	for (uint32_t i = 0; c->count[t] > 1 && i <= (c->count[t] - 1) >> g->shift; i++) {
		if (directory[i])
			continue;
		uint32_t s = tqi_span_take(c->tx, 1, TQI_SPAN_TABLE);

		if (!s)
			return -ENOMEM;
		memset(c->tx->base + ((uint64_t)s << TQI_SPAN_SHIFT), 0, TQI_SPAN_BYTES);
		directory[i] = s;
		c->tx->core->tables[t].spans++;
	}
	return 0;
}

static int fill_positions(struct tqi_check *c, uint32_t f)
{
	uint32_t count = c->count[tqi_schema.family_table[f]];

	for (uint32_t i = 0; count > 1 && i < count; i += 1u << TQI_POSITIONS_SHIFT) {
		if (tqi_positions_reserve(c->tx, f, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

int tqi_rebuild_records(struct tqi_check *c)
{
	int r = 0;

	for (uint32_t t = 0; t < TQI_TABLE_COUNT && r == 0; t++)
		r = fill_directory(c, t);
	for (uint32_t f = 0; f < tqi_schema.family_count && r == 0; f++)
		r = fill_positions(c, f);
	return r;
}

/* Whether a record stays off the free list. */
static bool is_in_use(struct tqi_check *c, uint32_t t, uint32_t index)
{
	switch (t) {
	case TQI_WAITERS:
		return tqi_waiter_at(c->tx, index)->state != TQI_WAITER_FREE;
	case TQI_TASKS:
		return tqi_task_at(c->tx, index)->state != TQ_FREE ||
		       tqi_task_at(c->tx, index)->generation >= TQI_GENERATION_MAX;
	case TQI_WORKERS:
		return tqi_worker_at(c->tx, index)->state != TQI_WORKER_FREE;
	default:
		return c->marks[t][index] & TQI_SEEN_LINKED;
	}
}

/* An id must not come again although the generation of its slot was lost. */
static uint64_t newest_generation(struct tqi_check *c)
{
	uint64_t newest = 0;

	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		const struct tqi_task *t = tqi_task_at(c->tx, i);

		if (t->generation < TQI_GENERATION_MAX && t->generation > newest)
			newest = t->generation;
	}
	return newest;
}

static void mend_generations(struct tqi_check *c)
{
	uint64_t newest = newest_generation(c);

	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		struct tqi_task *t = tqi_task_at(c->tx, i);

		if (t->generation == 0)
			t->generation = newest + 1;
	}
}

void tqi_rebuild_free_lists(struct tqi_check *c)
{
	mend_generations(c);
	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++) {
		struct tqi_table *table = &c->tx->core->tables[t];

		table->free = 0;
		table->live = 0;
		for (uint32_t i = c->count[t] - 1; i > 0; i--) {
			uint32_t *link = tqi_table_at(c->tx, t, i);

			if (is_in_use(c, t, i)) {
				table->live++;
				continue;
			}
			*link = table->free;
			table->free = i;
		}
	}
}
