/* SPDX-License-Identifier: MIT */
/*
 * The layout of a segment as docs/shared-memory-layout.md states it.
 *
 *   layout_test FILE            compare
 *   layout_test FILE --update   write it
 *
 * A difference means that two builds do not understand each other's segments: the
 * fingerprint, and at a release TQI_LAYOUT_VERSION, must differ, too.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/time/cron.h"
#include "scheduler/record/fields.h"
#include "scheduler/record/trace.h"

#define TEXT_BYTES 65536
#define GEOMETRY_BYTES (1ull << 30)
#define GEOMETRY_ENTRIES 4096

struct text {
	char bytes[TEXT_BYTES];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	t->length += (size_t)vsnprintf(t->bytes + t->length, TEXT_BYTES - t->length, format, ap);
	va_end(ap);
	if (t->length >= TEXT_BYTES)
		exit(2);
}

#define STRUCT(type)                                                                               \
	add(t, "\n## struct %s, %zu bytes\n\n| offset | bytes | field |\n|---|---|---|\n", #type,  \
	    sizeof(struct type))
#define FIELD(type, field)                                                                         \
	add(t, "| %zu | %zu | %s |\n", offsetof(struct type, field),                               \
	    sizeof(((struct type *)0)->field), #field)

static void add_header(struct text *t)
{
	STRUCT(tqi_header);
	FIELD(tqi_header, magic);
	FIELD(tqi_header, layout_version);
	FIELD(tqi_header, fingerprint);
	FIELD(tqi_header, creation_id);
	FIELD(tqi_header, max_bytes);
	FIELD(tqi_header, tasks_max);
	FIELD(tqi_header, ring_entries);
	FIELD(tqi_header, pid_namespace);
	FIELD(tqi_header, time_namespace);
	FIELD(tqi_header, created_unix_ns);
	FIELD(tqi_header, creator_uid);
	FIELD(tqi_header, boot_id);
	FIELD(tqi_header, destroyed);
}

static void add_core(struct text *t)
{
	STRUCT(tqi_core);
	FIELD(tqi_core, lock);
	FIELD(tqi_core, holder_tid);
	FIELD(tqi_core, holder_pid);
	FIELD(tqi_core, holder_start);
	FIELD(tqi_core, version);
	FIELD(tqi_core, rollbacks);
	FIELD(tqi_core, undo);
	FIELD(tqi_core, ring_head);
	FIELD(tqi_core, ring_shown);
	FIELD(tqi_core, closed);
	FIELD(tqi_core, undone);
	FIELD(tqi_core, last_now_ns);
	FIELD(tqi_core, waiter_oldest);
	FIELD(tqi_core, waiter_newest);
	FIELD(tqi_core, waiter_count);
	FIELD(tqi_core, waiter_coming);
	FIELD(tqi_core, waiter_for_work);
	FIELD(tqi_core, spans_free);
	FIELD(tqi_core, spans_hint);
	FIELD(tqi_core, extents_reserved);
	FIELD(tqi_core, class_head);
	FIELD(tqi_core, tables);
	FIELD(tqi_core, inflight);
	FIELD(tqi_core, waiter_turn);
	FIELD(tqi_core, waiter_lists);
	FIELD(tqi_core, waiter_transit);
	FIELD(tqi_core, waiter_keepers);
	FIELD(tqi_core, waiter_domains_in_use);
	FIELD(tqi_core, waiter_domains);
}

static void add_parts(struct text *t)
{
	STRUCT(tqi_table);
	FIELD(tqi_table, count);
	FIELD(tqi_table, free);
	FIELD(tqi_table, live);
	FIELD(tqi_table, spans);
	STRUCT(tqi_undo);
	FIELD(tqi_undo, where);
	FIELD(tqi_undo, old);
	STRUCT(tqi_inflight);
	FIELD(tqi_inflight, kind);
	FIELD(tqi_inflight, first);
	FIELD(tqi_inflight, count);
	FIELD(tqi_inflight, generation);
	FIELD(tqi_inflight, owner);
	STRUCT(tqi_span);
	FIELD(tqi_span, use);
	FIELD(tqi_span, class_);
	FIELD(tqi_span, used);
	FIELD(tqi_span, bump);
	FIELD(tqi_span, free);
	FIELD(tqi_span, prev);
	FIELD(tqi_span, next);
	STRUCT(tqi_heap);
	FIELD(tqi_heap, length);
	FIELD(tqi_heap, capacity);
	FIELD(tqi_heap, root);
	FIELD(tqi_heap, array.directory);
	FIELD(tqi_heap, array.chunks);
}

static void add_schedule(struct text *t)
{
	STRUCT(tqi_cron);
	FIELD(tqi_cron, minutes);
	FIELD(tqi_cron, hours);
	FIELD(tqi_cron, days);
	FIELD(tqi_cron, months);
	FIELD(tqi_cron, weekdays);
	FIELD(tqi_cron, any);
	STRUCT(tqi_zone);
	FIELD(tqi_zone, count);
	FIELD(tqi_zone, offset_s);
	FIELD(tqi_zone, has_rule);
	FIELD(tqi_zone, rule);
	STRUCT(tqi_zone_change);
	FIELD(tqi_zone_change, at_s);
	FIELD(tqi_zone_change, offset_s);
}

static void add_indexes(struct text *t)
{
	STRUCT(tqi_hash_node);
	FIELD(tqi_hash_node, link);
	FIELD(tqi_hash_node, next);
	FIELD(tqi_hash_node, hash);
	STRUCT(tqi_chain);
	FIELD(tqi_chain, first);
	FIELD(tqi_chain, tournaments);
	FIELD(tqi_chain, left);
	STRUCT(tqi_hash_index);
	FIELD(tqi_hash_index, count);
	FIELD(tqi_hash_index, buckets);
	FIELD(tqi_hash_index, heads.directory);
	FIELD(tqi_hash_index, heads.chunks);
}

static void add_deliveries(struct text *t)
{
	STRUCT(tqi_delivery);
	FIELD(tqi_delivery, worker);
	FIELD(tqi_delivery, state);
	FIELD(tqi_delivery, takes);
	FIELD(tqi_delivery, generation);
	FIELD(tqi_delivery, changed_ns);
	FIELD(tqi_delivery, pid);
	FIELD(tqi_delivery, text);
}

static void add_counts(struct text *t)
{
	STRUCT(tqi_by_kind);
	FIELD(tqi_by_kind, streams);
	STRUCT(tqi_histogram);
	FIELD(tqi_histogram, longest_ns);
	FIELD(tqi_histogram, sum_ns);
	FIELD(tqi_histogram, buckets);
	STRUCT(tqi_trace_entry);
	FIELD(tqi_trace_entry, time_ns);
	FIELD(tqi_trace_entry, task);
	FIELD(tqi_trace_entry, pid);
	FIELD(tqi_trace_entry, worker);
	FIELD(tqi_trace_entry, event);
	FIELD(tqi_trace_entry, from);
	FIELD(tqi_trace_entry, to);
	FIELD(tqi_trace_entry, cause);
	FIELD(tqi_trace_entry, argument);
}

/* Every byte of a record is of one field, and the lists go from first to last. */
static void add_field(struct text *t, size_t *end, const char *record,
		      const struct tqi_field *field, const char *name)
{
	static const char *const sorts[] = { "truth", "derived", "hint", "word", "room" };

	if (field->at != *end) {
		fprintf(stderr, "struct %s: %s is at %u, the field before it ends at %zu\n", record,
			name, field->at, *end);
		exit(1);
	}
	*end = field->at + field->bytes;
	add(t, "| %u | %u | %s | %s |\n", field->at, field->bytes, name, sorts[field->sort]);
}

static void end_record(size_t end, const char *record, size_t bytes)
{
	if (end == bytes)
		return;
	fprintf(stderr, "struct %s has %zu bytes, its fields end at %zu\n", record, bytes, end);
	exit(1);
}

#define NAME(field, sort) #field,
#define RECORD(list, type, FIELDS)                                                                 \
	{                                                                                          \
		static const char *const names[] = { FIELDS(NAME) };                               \
		uint32_t count;                                                                    \
		const struct tqi_field *fields = tqi_fields_of(list, &count);                      \
		size_t end = 0;                                                                    \
                                                                                                   \
		add(t,                                                                             \
		    "\n## struct %s, %zu bytes\n\n| offset | bytes | field | sort |\n"             \
		    "|---|---|---|---|\n",                                                         \
		    #type, sizeof(struct type));                                                   \
		for (uint32_t i = 0; i < count; i++)                                               \
			add_field(t, &end, #type, &fields[i], names[i]);                           \
		end_record(end, #type, sizeof(struct type));                                       \
	}

static void add_records(struct text *t)
{
	TQI_FIELDS_EACH(RECORD)
}

static void add_places(struct text *t)
{
	const struct tqi_sizes sizes = { GEOMETRY_BYTES, GEOMETRY_BYTES / 256, GEOMETRY_ENTRIES };
	struct tqi_geometry g;

	if (tqi_geometry_compute(&tqi_schema, &sizes, &g) < 0)
		exit(2);
	add(t, "\n## Places in a segment of 1 GiB\n\n| offset | what |\n|---|---|\n");
	add(t, "| 0 | header |\n");
	add(t, "| %llu | core |\n", (unsigned long long)g.core);
	add(t, "| %llu | journal |\n", (unsigned long long)g.journal);
	add(t, "| %llu | root |\n", (unsigned long long)g.root);
	add(t, "| %llu | scratch |\n", (unsigned long long)g.scratch);
	add(t, "| %llu | ring of the flight recorder, of %u entries of %u bytes |\n",
	    (unsigned long long)g.ring, g.ring_slots, TQI_RING_ENTRY_BYTES);
	add(t, "| %llu | states of extents |\n", (unsigned long long)g.extents);
	add(t, "| %llu | map of free spans |\n", (unsigned long long)g.span_map);
	add(t, "| %llu | spans |\n", (unsigned long long)g.spans);
	for (uint32_t i = 0; i < tqi_schema.table_count; i++)
		add(t, "| %llu | directory of %s: %u bytes a record, %u a span, %u at most |\n",
		    (unsigned long long)g.tables[i].directory, tqi_schema.tables[i].name,
		    g.tables[i].record_bytes, 1u << g.tables[i].shift, g.tables[i].max - 1);
	for (uint32_t f = 0; f < tqi_schema.family_count; f++)
		add(t, "| %llu | positions of heap family %u |\n",
		    (unsigned long long)g.positions[f], f);
	add(t, "| %llu | extents that grow |\n", (unsigned long long)g.fixed_bytes);
}

static void describe(struct text *t)
{
	add(t, "# Shared memory layout\n\n");
	add(t, "Written by `layout_test --update`, and compared by the test of that name.\n");
	add(t,
	    "What the fields mean stands in shm/layout.h, shm/wait.h and "
	    "scheduler/record/records.h; what their sorts mean, in scheduler/record/fields.h.\n\n");
	add(t, "Layout version %u, fingerprint `%016llx` (x86-64, glibc).\n", TQI_LAYOUT_VERSION,
	    (unsigned long long)tqi_fingerprint(&tqi_schema));
	add_places(t);
	add_header(t);
	add_core(t);
	add_parts(t);
	add_indexes(t);
	add_schedule(t);
	add_deliveries(t);
	add_counts(t);
	add_records(t);
}

static int update(const char *path, const struct text *t)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return 2;
	size_t n = fwrite(t->bytes, 1, t->length, file);

	return fclose(file) == 0 && n == t->length ? 0 : 2;
}

static int compare(const char *path, const struct text *t)
{
	static char old[TEXT_BYTES];
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		return 1;
	}
	size_t n = fread(old, 1, sizeof(old), file);

	fclose(file);
	if (n == t->length && memcmp(old, t->bytes, n) == 0)
		return 0;
	fputs(t->bytes, stdout);
	fprintf(stderr, "the layout is not as in %s: layout_test %s --update\n", path, path);
	return 1;
}

int main(int argc, char **argv)
{
	static struct text t;

	if (argc < 2)
		return 2;
#ifndef __x86_64__
	return 77; /* the table is that of one processor */
#endif
	describe(&t);
	return argc > 2 && strcmp(argv[2], "--update") == 0 ? update(argv[1], &t)
							    : compare(argv[1], &t);
}
