/* SPDX-License-Identifier: MIT */
/* Which entries a transaction can have written (TX-7). */
#include "shm/undo.h"

#include <stddef.h>

#include "shm/plant.h"

#define HEAP_PLACES_MAX (1ull << (TQI_INDEX_BITS + 1))

static bool is_within(uint64_t at, uint64_t bytes, uint64_t from, uint64_t end)
{
	return at >= from && at + bytes <= end;
}

/* Fields of the core that are journalled; the others are words, or the journal's own. */
static bool core_allows(uint64_t at, uint64_t bytes)
{
	return is_within(at, bytes, offsetof(struct tqi_core, ring_head),
			 offsetof(struct tqi_core, ring_shown)) ||
	       is_within(at, bytes, offsetof(struct tqi_core, waiter_oldest),
			 sizeof(struct tqi_core));
}

static bool geometry_allows(const struct tqi_geometry *g, uint64_t at, uint64_t bytes)
{
	if (at + bytes > g->max_bytes || at < g->core)
		return false;
	if (at < g->core + sizeof(struct tqi_core))
		return core_allows(at - g->core, bytes);
	return at >= g->journal + TQI_JOURNAL_MAX * sizeof(struct tqi_undo);
}

static uint32_t code_of(const struct tqi_undo *u)
{
	return u->where & 0xff;
}

static uint64_t offset_of(const struct tqi_undo *u)
{
	return u->where >> 8;
}

static bool is_tag(uint32_t code)
{
	return code >= TQI_UNDO_TAG && code < TQI_UNDO_LENGTH;
}

static uint32_t width_of(uint32_t code)
{
	return code <= TQI_UNDO_64 ? 1u << code : (uint32_t)sizeof(uint32_t);
}

/* A heap's tag stands behind its key in memory, and its entry behind the key's. */
static bool tag_is_sane(const struct tqi_geometry *g, const struct tqi_undo *u, bool is_first)
{
	return !is_first && code_of(u - 1) == TQI_UNDO_64 && offset_of(u) < HEAP_PLACES_MAX &&
	       geometry_allows(g, offset_of(u - 1), 2 * sizeof(uint64_t));
}

static bool entry_is_sane(const struct tqi_segment *seg, const struct tqi_undo *u, bool is_first)
{
	const uint32_t code = code_of(u), families = seg->schema->family_count;
	const uint32_t first = is_tag(code) ? TQI_UNDO_TAG : TQI_UNDO_LENGTH;

	if (code > TQI_UNDO_64 && code >= first + families)
		return false;
	if (is_tag(code))
		return tag_is_sane(&seg->geometry, u, is_first);
	return offset_of(u) % width_of(code) == 0 &&
	       geometry_allows(&seg->geometry, offset_of(u), width_of(code));
}

bool tqi_undo_is_sane(const struct tqi_segment *seg, const struct tqi_undo *journal,
		      const struct tqi_core *core)
{
	if (TQI_PLANTED(any_journal))
		return true;
	if (!tqi_undo_is_marked(core->undo, tqi_load_relaxed64(&core->version)))
		return false;
	for (uint32_t n = 0; n < core->undo_count; n++)
		if (!entry_is_sane(seg, &journal[n], n == 0))
			return false;
	return true;
}

static bool has_memory(const struct tqi_segment *seg, uint64_t offset)
{
	return offset < seg->geometry.fixed_bytes ||
	       seg->base[seg->geometry.extents + (offset >> TQI_EXTENT_SHIFT)] != TQI_EXTENT_HOLE;
}

/* Whether the bytes are the owner's own in a record of this table. */
static bool is_owned_in(const struct tqi_segment *seg, uint32_t table, uint64_t at, uint64_t bytes)
{
	const struct tqi_table_geometry *g = &seg->geometry.tables[table];
	const struct tqi_table_spec *spec = &seg->schema->tables[table];
	const uint32_t *directory = (const uint32_t *)(const void *)(seg->base + g->directory);
	const uint64_t most = ((uint64_t)(g->max - 1) >> g->shift) + 1;
	const uint32_t used = tqi_segment_core(seg)->tables[table].spans;

	for (uint32_t s = 0; s < used && s < most; s++) {
		if (directory[s] != at >> TQI_SPAN_SHIFT)
			continue;
		const uint64_t place = (at & (TQI_SPAN_BYTES - 1)) % g->record_bytes;

		return place < spec->own_end && place + bytes > spec->own_from;
	}
	return false;
}

static bool is_owned(const struct tqi_segment *seg, uint64_t at, uint64_t bytes)
{
	if (at < seg->geometry.fixed_bytes)
		return false;
	for (uint32_t t = 0; t < seg->schema->table_count; t++)
		if (seg->schema->tables[t].own_end && is_owned_in(seg, t, at, bytes))
			return true;
	return false;
}

bool tqi_undo_is_valid(const struct tqi_segment *seg)
{
	const struct tqi_core *core = tqi_segment_core(seg);
	const struct tqi_undo *journal = tqi_segment_journal(seg);

	if (!tqi_undo_is_sane(seg, journal, core))
		return false;
	for (uint32_t n = 0; n < core->undo_count && !TQI_PLANTED(any_journal); n++) {
		const uint32_t code = code_of(&journal[n]);
		const uint64_t offset = offset_of(&journal[n]);

		if (is_tag(code))
			continue; /* where its key is, which is looked at */
		if (!has_memory(seg, offset) || is_owned(seg, offset, width_of(code)))
			return false;
	}
	return true;
}
