/* SPDX-License-Identifier: MIT */
/* Computes the map of a segment and the fingerprint of its structs. */
#include "shm/layout.h"

#include <errno.h>
#include <stddef.h>

#define ALIGN_UP(n, to) (((n) + (to)-1) / (to) * (to))

/* Takes `bytes` at the next aligned offset. */
static uint64_t take(uint64_t *cursor, uint64_t bytes, uint64_t align)
{
	uint64_t at = ALIGN_UP(*cursor, align);

	*cursor = at + bytes;
	return at;
}

/* log2 of the records of a size that fit into a span. */
static uint32_t records_shift(uint32_t record_bytes)
{
	return 31u - (uint32_t)__builtin_clz(TQI_SPAN_BYTES / record_bytes);
}

static void place_table(const struct tqi_table_spec *spec, uint64_t tasks_max, uint64_t *cursor,
			struct tqi_table_geometry *g)
{
	uint64_t max = (spec->max ? spec->max : tasks_max) + 1; /* index 0 is none */

	g->record_bytes = spec->record_bytes;
	g->shift = records_shift(spec->record_bytes);
	g->max = (uint32_t)max;
	uint64_t spans = ((max - 1) >> g->shift) + 1;

	g->directory = take(cursor, spans * sizeof(uint32_t), 64);
}

static bool sizes_are_valid(const struct tqi_sizes *s)
{
	return s->max_bytes >= TQI_SEGMENT_BYTES_MIN && s->max_bytes <= TQI_SEGMENT_BYTES_MAX &&
	       s->max_bytes % TQI_EXTENT_BYTES == 0 && s->tasks_max > 0 &&
	       s->tasks_max <= TQI_INDEX_MASK &&
	       (s->ring_entries == 0 ||
		(s->ring_entries >= TQI_RING_LEAST && s->ring_entries <= TQI_RING_MOST));
}

int tqi_geometry_compute(const struct tqi_schema *schema, const struct tqi_sizes *sizes,
			 struct tqi_geometry *ret_geometry)
{
	const uint64_t max_bytes = sizes->max_bytes, tasks_max = sizes->tasks_max;
	struct tqi_geometry g = { .max_bytes = max_bytes };

	if (!sizes_are_valid(sizes))
		return -EINVAL;
	if (sizes->ring_entries)
		g.ring_slots = (uint32_t)sizes->ring_entries + TQI_RING_SLACK;
	g.extent_count = (uint32_t)(max_bytes >> TQI_EXTENT_SHIFT);
	g.span_count = (uint32_t)(max_bytes >> TQI_SPAN_SHIFT);

	uint64_t cursor = 4096; /* the header's page */

	g.core = take(&cursor, sizeof(struct tqi_core), 4096);
	g.journal = take(&cursor, TQI_JOURNAL_MAX * sizeof(struct tqi_undo), 64);
	g.root = take(&cursor, schema->root_bytes, 4096);
	g.scratch = take(&cursor, TQI_SCRATCH_BYTES, 4096);
	g.ring = take(&cursor, (uint64_t)g.ring_slots * TQI_RING_ENTRY_BYTES, 64);
	g.extents = take(&cursor, g.extent_count, 64);
	g.span_map = take(&cursor, ALIGN_UP(g.span_count, 64u) / 8, 64);
	g.spans = take(&cursor, (uint64_t)g.span_count * sizeof(struct tqi_span), 64);
	for (uint32_t t = 0; t < schema->table_count; t++)
		place_table(&schema->tables[t], tasks_max, &cursor, &g.tables[t]);
	for (uint32_t f = 0; f < schema->family_count; f++) {
		uint64_t max = g.tables[schema->family_table[f]].max;
		uint64_t spans = ((max - 1) >> TQI_POSITIONS_SHIFT) + 1;

		g.positions_max[f] = (uint32_t)max;
		g.positions[f] = take(&cursor, spans * sizeof(uint32_t), 64);
	}
	g.fixed_bytes = ALIGN_UP(cursor, (uint64_t)TQI_EXTENT_BYTES);
	if (g.fixed_bytes + TQI_EXTENT_BYTES > max_bytes)
		return -EINVAL;
	*ret_geometry = g;
	return 0;
}

uint64_t tqi_hash(uint64_t hash, uint64_t value)
{
	const uint64_t fnv_prime = 0x100000001b3ull; /* FNV-1a, by bytes */

	for (int i = 0; i < 8; i++)
		hash = (hash ^ ((value >> (8 * i)) & 0xff)) * fnv_prime;
	return hash;
}

uint64_t tqi_fingerprint(const struct tqi_schema *schema)
{
	const uint16_t endian = 1;
	const uint64_t facts[] = {
		TQI_LAYOUT_VERSION,
		sizeof(void *),
		sizeof(pthread_mutex_t),
		*(const uint8_t *)&endian,
		sizeof(struct tqi_header),
		sizeof(struct tqi_core),
		offsetof(struct tqi_core, version),
		offsetof(struct tqi_core, undo),
		sizeof(((struct tqi_core *)0)->undo),
		offsetof(struct tqi_core, ring_head),
		offsetof(struct tqi_core, closed),
		offsetof(struct tqi_core, last_now_ns),
		offsetof(struct tqi_core, tables),
		offsetof(struct tqi_core, inflight),
		sizeof(struct tqi_span),
		sizeof(struct tqi_undo),
		sizeof(struct tqi_inflight),
		TQI_JOURNAL_MAX,
		TQI_SMALL_CLASSES,
		TQI_RING_ENTRY_BYTES,
		TQI_RING_SLACK,
		schema->fingerprint,
	};
	uint64_t hash = 0xcbf29ce484222325ull;

	for (uint32_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		hash = tqi_hash(hash, facts[i]);
	/* The C library decides what is inside a mutex; musl has no such function. */
	for (const char *libc = "glibc"; *libc; libc++)
		hash = tqi_hash(hash, (uint64_t)*libc);
	for (uint32_t t = 0; t < schema->table_count; t++) {
		hash = tqi_hash(hash, schema->tables[t].record_bytes);
		hash = tqi_hash(hash, schema->tables[t].max);
	}
	return hash;
}
