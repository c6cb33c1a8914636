/* SPDX-License-Identifier: MIT */
/* Memory: every span and block is used by exactly one, or free. */
#include "scheduler/check_state.h"
#include "shm/inflight.h"
#include "shm/span.h"

#define UNITS_PER_SPAN (TQI_SPAN_BYTES >> TQI_UNIT_SHIFT)

static struct tqi_span *span_at(struct tqi_check *c, uint32_t s)
{
	return &((struct tqi_span *)(void *)(c->tx->base + c->tx->seg->geometry.spans))[s];
}

static bool is_marked(const struct tqi_check *c, uint32_t block)
{
	return c->blocks[block / 64] >> (block % 64) & 1;
}

static void mark_in_flight(struct tqi_check *c)
{
	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++) {
		const struct tqi_inflight *e = &c->tx->core->inflight[i];

		if (e->kind == TQI_INFLIGHT_BLOCK)
			tqi_check_block(c, e->first, "in flight", i);
	}
}

/* Spans that hold the position arrays are in directories too. */
static void mark_positions(struct tqi_check *c)
{
	const struct tqi_geometry *g = &c->tx->seg->geometry;

	for (uint32_t f = 0; f < TQI_FAMILY_COUNT; f++) {
		uint32_t max = g->tables[c->tx->seg->schema->family_table[f]].max;
		const uint32_t *directory =
			(const uint32_t *)(const void *)(c->tx->base + g->positions[f]);

		for (uint32_t i = 0; i <= (max - 1) >> TQI_POSITIONS_SHIFT; i++) {
			if (directory[i] >= g->span_count)
				tqi_check_fault(c, "positions: span %u lies outside", directory[i]);
			else if (directory[i] && c->spans[directory[i]]++)
				tqi_check_fault(c, "positions: span %u is in two directories",
						directory[i]);
		}
	}
}

/* Blocks on a span's free list are in bounds, not in use, and as many as they should be. */
static void check_free_blocks(struct tqi_check *c, uint32_t s, const struct tqi_span *span)
{
	uint32_t count = 0, expected = (uint32_t)span->bump - span->used;

	for (uint32_t f = span->free; f && count <= expected; count++) {
		uint32_t ref = s * UNITS_PER_SPAN + ((f - 1) << span->class_);

		if (f > span->bump || is_marked(c, ref)) {
			tqi_check_fault(c, "span %u: block %u is free and in use", s, ref);
			return;
		}
		f = *(const uint16_t *)tqi_unit(c->tx, ref);
	}
	if (count != expected)
		tqi_check_fault(c, "span %u: %u blocks free, its list has %u", s, expected, count);
}

static void check_blocks_span(struct tqi_check *c, uint32_t s, const struct tqi_span *span)
{
	uint32_t used = 0, per_span;

	if (span->class_ >= TQI_SMALL_CLASSES) {
		tqi_check_fault(c, "span %u: class %u", s, span->class_);
		return;
	}
	per_span = UNITS_PER_SPAN >> span->class_;
	for (uint32_t u = 0; u < UNITS_PER_SPAN; u++) {
		if (!is_marked(c, s * UNITS_PER_SPAN + u))
			continue;
		used++;
		if (u % (1u << span->class_) || u >> span->class_ >= span->bump)
			tqi_check_fault(c, "span %u: unit %u is no block of its class", s, u);
	}
	if (span->bump > per_span || span->used > span->bump || used != span->used) {
		tqi_check_fault(c, "span %u: %u blocks in use, counted %u", s, span->used, used);
		return;
	}
	check_free_blocks(c, s, span);
}

static void check_run(struct tqi_check *c, uint32_t s, const struct tqi_span *span)
{
	if (!is_marked(c, s * UNITS_PER_SPAN))
		tqi_check_fault(c, "span %u: a run of %u spans that nobody uses", s, span->next);
	if (span->next == 0 || s + span->next > c->tx->seg->geometry.span_count)
		tqi_check_fault(c, "span %u: a run of %u spans", s, span->next);
}

/* Spans of the class with room are chained, and no others. */
static void check_class_list(struct tqi_check *c, uint32_t class)
{
	uint32_t before = 0, count = 0, room = 0, limit = c->tx->seg->geometry.span_count;

	for (uint32_t s = c->tx->core->class_head[class]; s && count < limit; count++) {
		const struct tqi_span *span = s < limit ? span_at(c, s) : NULL;

		if (!span || span->use != TQI_SPAN_BLOCKS || span->class_ != class ||
		    span->prev != before) {
			tqi_check_fault(c, "blocks of class %u: their list is broken at %u", class, s);
			return;
		}
		before = s;
		s = span->next;
	}
	for (uint32_t s = 1; s < limit; s++) {
		const struct tqi_span *span = span_at(c, s);

		room += span->use == TQI_SPAN_BLOCKS && span->class_ == class &&
			(span->free || span->bump < UNITS_PER_SPAN >> class);
	}
	if (room != count)
		tqi_check_fault(c, "blocks of class %u: %u spans with room, %u listed", class, room,
				count);
}

/* One span; returns how many it covers. */
static uint32_t check_span(struct tqi_check *c, uint32_t s, uint32_t *free)
{
	const struct tqi_span *span = span_at(c, s);
	const uint8_t *extents = c->tx->base + c->tx->seg->geometry.extents;
	bool here = extents[s / TQI_SPANS_PER_EXTENT] == TQI_EXTENT_HERE;
	bool is_free = tqi_span_is_free(c->tx, s);

	*free += is_free;
	if (is_free && (span->use != TQI_SPAN_FREE || !here))
		tqi_check_fault(c, "span %u: free in the map, but %s", s,
				here ? "in use" : "without memory");
	if (!is_free && span->use == TQI_SPAN_FREE && here)
		tqi_check_fault(c, "span %u: has memory, and is neither free nor in use", s);
	if ((span->use == TQI_SPAN_TABLE) != (c->spans[s] != 0))
		tqi_check_fault(c, "span %u: %s", s,
				c->spans[s] ? "in a directory, but no table's" :
					      "a table's, but in no directory");
	if (span->use == TQI_SPAN_BLOCKS)
		check_blocks_span(c, s, span);
	if (span->use != TQI_SPAN_RUN)
		return 1;
	check_run(c, s, span);
	return span->next ? span->next : 1;
}

static void check_extents(struct tqi_check *c)
{
	const uint8_t *extents = c->tx->base + c->tx->seg->geometry.extents;
	uint32_t here = 0;

	for (uint32_t e = 0; e < c->tx->seg->geometry.extent_count; e++)
		here += extents[e] == TQI_EXTENT_HERE;
	if (here != c->tx->core->extents_reserved)
		tqi_check_fault(c, "extents: %u reserved, counted %u", c->tx->core->extents_reserved,
				here);
}

void tqi_check_memory(struct tqi_check *c)
{
	const struct tqi_geometry *g = &c->tx->seg->geometry;
	uint32_t free = 0;

	mark_in_flight(c);
	mark_positions(c);
	check_extents(c);
	for (uint32_t s = (uint32_t)(g->fixed_bytes >> TQI_SPAN_SHIFT); s < g->span_count;)
		s += check_span(c, s, &free);
	for (uint32_t class = 0; class < TQI_SMALL_CLASSES; class++)
		check_class_list(c, class);
	if (free != c->tx->core->spans_free)
		tqi_check_fault(c, "spans: %u free, counted %u", c->tx->core->spans_free, free);
}
