/* SPDX-License-Identifier: MIT */
/* Every span and block has one use: no leak, no double use. */
#include "scheduler/check/check_state.h"
#include "shm/inflight.h"

#define UNITS_PER_SPAN_SHIFT (TQI_SPAN_SHIFT - TQI_UNIT_SHIFT)

static const struct tqi_span *span_of(const struct tqi_check *c, uint32_t s)
{
	return (const struct tqi_span *)(const void *)(c->tx->base + c->g->spans) + s;
}

static bool in_map(const struct tqi_check *c, uint32_t s)
{
	const uint64_t *map = (const uint64_t *)(const void *)(c->tx->base + c->g->span_map);

	return map[s / 64] >> (s % 64) & 1;
}

/* True when the unit had not been seen. */
static bool see_unit(struct tqi_check *c, uint32_t unit)
{
	uint64_t bit = 1ull << (unit % 64);
	bool fresh = !(c->units[unit / 64] & bit);

	c->units[unit / 64] |= bit;
	return fresh;
}

static uint32_t blocks_per_span(uint32_t class)
{
	return TQI_SPAN_BYTES >> (TQI_UNIT_SHIFT + class);
}

/* What is wrong with a small block; NULL nothing. */
static const char *small_fault(struct tqi_check *c, uint32_t block, uint64_t bytes)
{
	uint32_t s = block >> UNITS_PER_SPAN_SHIFT, class = span_of(c, s)->class_;
	uint32_t unit = block & ((1u << UNITS_PER_SPAN_SHIFT) - 1);

	if (class >= TQI_SMALL_CLASSES)
		return "is in a span of no class";
	if (c->spans[s])
		return "is in a span of another use";
	if ((unit & ((1u << class) - 1)) || unit >> class >= span_of(c, s)->bump)
		return "is no block";
	if (bytes > 64ull << class)
		return "is too small";
	if (!see_unit(c, block))
		return "is used twice";
	c->span_blocks[s]++;
	return NULL;
}

/* The spans of a run are nobody else's, and have memory. */
static bool run_is_whole(struct tqi_check *c, uint32_t s, uint32_t count)
{
	for (uint32_t i = s; i < s + count; i++)
		if (!tqi_check_span_is_here(c, i) || in_map(c, i) || c->spans[i] ||
		    c->span_blocks[i])
			return false;
	return true;
}

static const char *run_fault(struct tqi_check *c, uint32_t block, uint64_t bytes)
{
	uint32_t s = block >> UNITS_PER_SPAN_SHIFT, count = span_of(c, s)->next;

	if (block != s << UNITS_PER_SPAN_SHIFT)
		return "points into a run";
	if (count == 0 || count > c->g->span_count - s)
		return "has an impossible length";
	if (bytes > (uint64_t)count << TQI_SPAN_SHIFT)
		return "is too small";
	if (!run_is_whole(c, s, count))
		return "overlaps another's memory";
	c->spans[s] = TQI_SEEN_USED;
	for (uint32_t i = s + 1; i < s + count; i++)
		c->spans[i] = TQI_SEEN_TAIL;
	return NULL;
}

static const char *block_fault(struct tqi_check *c, uint32_t block, uint64_t bytes)
{
	uint32_t s = block >> UNITS_PER_SPAN_SHIFT;

	if (!tqi_check_span_is_here(c, s) || s < c->g->fixed_bytes >> TQI_SPAN_SHIFT)
		return "has no memory";
	if (in_map(c, s))
		return "is in a free span";
	if (span_of(c, s)->use == TQI_SPAN_BLOCKS)
		return small_fault(c, block, bytes);
	if (span_of(c, s)->use == TQI_SPAN_RUN)
		return run_fault(c, block, bytes);
	return "is in a span without blocks";
}

bool tqi_check_block(struct tqi_check *c, uint32_t block, uint64_t bytes, const char *record,
		     uint32_t index, const char *field)
{
	const char *fault = block_fault(c, block, bytes);

	if (fault)
		tqi_check_fault(c, "%s %u: %s: block %u %s", record, index, field, block, fault);
	return !fault;
}

/* Blocks on the free list of a span; together with those in use they are all. */
static void check_span_blocks(struct tqi_check *c, uint32_t s)
{
	const struct tqi_span *span = span_of(c, s);
	uint32_t class = span->class_, free = 0, next = span->free;

	if (class >= TQI_SMALL_CLASSES || span->bump > blocks_per_span(class)) {
		tqi_check_fault(c, "span %u: class %u, bump %u", s, class, span->bump);
		return;
	}
	while (next && next <= span->bump) {
		uint32_t unit = (s << UNITS_PER_SPAN_SHIFT) + ((next - 1) << class);

		if (!see_unit(c, unit))
			break;
		free++;
		next = *(const uint16_t *)tqi_unit(c->tx, unit);
	}
	if (next)
		tqi_check_fault(c, "span %u: free list broken at block %u", s, next - 1);
	tqi_check_equal(c, "span", s, "used", span->used, c->span_blocks[s]);
	tqi_check_equal(c, "span", s, "blocks in use and free", span->used + free, span->bump);
	bool room = span->free || span->bump < blocks_per_span(class);

	if (room != (c->spans[s] == TQI_SEEN_CLASS))
		tqi_check_fault(c, "span %u: %s", s,
				room ? "has room, but its class does not know"
				     : "has no room, but its class thinks so");
}

static void check_class_list(struct tqi_check *c, uint32_t class)
{
	uint32_t s = c->tx->core->class_head[class], prev = 0;

	while (s) {
		if (!tqi_check_span_is_here(c, s) || span_of(c, s)->use != TQI_SPAN_BLOCKS ||
		    span_of(c, s)->class_ != class || span_of(c, s)->prev != prev || c->spans[s]) {
			tqi_check_fault(c, "spans of block class %u: list broken at %u", class, s);
			return;
		}
		c->spans[s] = TQI_SEEN_CLASS;
		prev = s;
		s = span_of(c, s)->next;
	}
}

static void check_span(struct tqi_check *c, uint32_t s)
{
	uint32_t use = span_of(c, s)->use;
	bool fixed = s < c->g->fixed_bytes >> TQI_SPAN_SHIFT;

	if (fixed || !tqi_check_span_is_here(c, s)) {
		if (in_map(c, s))
			tqi_check_fault(c, "span %u: free, but %s", s,
					fixed ? "of the fixed part" : "without memory");
	} else if (in_map(c, s)) {
		if (c->spans[s] || use != TQI_SPAN_FREE)
			tqi_check_fault(c, "span %u: free, but in use (%u)", s, use);
	} else if (use == TQI_SPAN_BLOCKS && c->spans[s] != TQI_SEEN_TAIL) {
		check_span_blocks(c, s);
	} else if (!c->spans[s]) {
		tqi_check_fault(c, "span %u: neither free nor used by anything (%u)", s, use);
	}
}

static bool is_moving(const struct tqi_check *c, uint32_t extent)
{
	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++) {
		const struct tqi_inflight *e = &c->tx->core->inflight[i];

		if ((e->kind == TQI_INFLIGHT_GROW || e->kind == TQI_INFLIGHT_PUNCH) &&
		    extent >= e->first && extent - e->first < e->count)
			return true;
	}
	return false;
}

static void check_extents(struct tqi_check *c)
{
	const uint8_t *states = c->tx->base + c->g->extents;
	uint32_t here = 0;

	for (uint32_t e = 0; e < c->g->extent_count; e++) {
		here += states[e] == TQI_EXTENT_HERE;
		if (states[e] > TQI_EXTENT_HERE)
			tqi_check_fault(c, "extent %u: state %u", e, states[e]);
		if (states[e] == TQI_EXTENT_MOVING && !is_moving(c, e))
			tqi_check_fault(c, "extent %u: nobody grows or punches it", e);
	}
	tqi_check_equal(c, "core", 0, "extents_reserved", c->tx->core->extents_reserved, here);
}

static void check_inflight(struct tqi_check *c)
{
	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++) {
		const struct tqi_inflight *e = &c->tx->core->inflight[i];

		if (e->kind > TQI_INFLIGHT_BLOCK)
			tqi_check_fault(c, "in flight %u: kind %u", i, e->kind);
		else if (e->kind == TQI_INFLIGHT_BLOCK)
			tqi_check_block(c, e->first, 0, "in flight", i, "block");
		else if (e->kind && (e->count > c->g->extent_count ||
				     e->first > c->g->extent_count - e->count))
			tqi_check_fault(c, "in flight %u: extents %u, %u of them", i, e->first,
					e->count);
	}
}

void tqi_check_memory(struct tqi_check *c)
{
	uint32_t free = 0;

	check_extents(c);
	check_inflight(c);
	for (uint32_t class = 0; class < TQI_SMALL_CLASSES; class ++)
		check_class_list(c, class);
	for (uint32_t s = 0; s < c->g->span_count; s++) {
		free += in_map(c, s);
		check_span(c, s);
	}
	tqi_check_equal(c, "core", 0, "spans_free", c->tx->core->spans_free, free);
}
