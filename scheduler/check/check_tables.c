/* SPDX-License-Identifier: MIT */
/* Tables: counts, directories, free lists. */
#include "scheduler/check/check_state.h"

static const char *const names[TQI_TABLE_COUNT] = {
	[TQI_WAITERS] = "waiters",   [TQI_TASKS] = "tasks",	[TQI_ATTEMPTS] = "attempts",
	[TQI_WORKERS] = "workers",   [TQI_QUEUES] = "queues",	[TQI_KINDS] = "kinds",
	[TQI_CLASSES] = "classes",   [TQI_LANES] = "lanes",	[TQI_EDGES] = "edges",
	[TQI_KEYS] = "keys",	     [TQI_LIMITS] = "limits",	[TQI_SCHEDULES] = "schedules",
	[TQI_COMMANDS] = "commands", [TQI_TENANTS] = "tenants", [TQI_SERVERS] = "servers",
	[TQI_POOLS] = "pools",	     [TQI_GROUPS] = "groups",	[TQI_TIMES] = "times",
};

/* A span that a directory names: it has memory, is a table's, and nobody else's. */
static void use_span(struct tqi_check *c, const char *name, uint32_t place, uint32_t span)
{
	if (!tqi_check_span_is_here(c, span)) {
		tqi_check_fault(c, "directory of %s: entry %u is %u, which has no memory", name,
				place, span);
		return;
	}
	const struct tqi_span *spans =
		(const struct tqi_span *)(const void *)(c->tx->base + c->g->spans);

	if (spans[span].use != TQI_SPAN_TABLE)
		tqi_check_fault(c, "directory of %s: span %u has use %u", name, span,
				spans[span].use);
	if (c->spans[span])
		tqi_check_fault(c, "directory of %s: span %u is used twice", name, span);
	c->spans[span] = TQI_SEEN_USED;
}

/* Entries for `count` records must be there; returns how many there are. */
static uint32_t check_directory(struct tqi_check *c, const char *name, uint64_t offset,
				uint32_t shift, uint32_t max, uint32_t count)
{
	const uint32_t *directory = (const uint32_t *)(const void *)(c->tx->base + offset);
	uint32_t places = ((max - 1) >> shift) + 1,
		 needed = count > 1 ? ((count - 1) >> shift) + 1 : 0;
	uint32_t filled = 0;

	for (uint32_t i = 0; i < places; i++) {
		if (directory[i]) {
			use_span(c, name, i, directory[i]);
			filled++;
		} else if (i < needed) {
			tqi_check_fault(c, "directory of %s: entry %u is missing", name, i);
		}
	}
	return filled;
}

static void check_free_list(struct tqi_check *c, uint32_t t)
{
	const struct tqi_table *table = &c->tx->core->tables[t];
	uint32_t index = table->free, steps = 0;

	while (index) {
		const uint32_t *link = tqi_check_record(c, t, index);

		if (!link || (c->marks[t][index] & TQI_SEEN_FREE)) {
			tqi_check_fault(c, "free list of %s: broken at %u", names[t], index);
			break;
		}
		c->marks[t][index] |= TQI_SEEN_FREE;
		index = *link;
		steps++;
	}
	tqi_check_equal(c, names[t], 0, "live", table->live, c->count[t] - 1 - steps);
}

static void check_table(struct tqi_check *c, uint32_t t)
{
	const struct tqi_table *table = &c->tx->core->tables[t];
	const struct tqi_table_geometry *g = &c->g->tables[t];

	c->count[t] = table->count;
	if (table->count < 1 || table->count > g->max) {
		tqi_check_fault(c, "table %s: count is %u, the maximum %u", names[t], table->count,
				g->max);
		c->count[t] = table->count < 1 ? 1 : g->max;
	}
	uint32_t filled = check_directory(c, names[t], g->directory, g->shift, g->max, c->count[t]);

	tqi_check_equal(c, names[t], 0, "spans", table->spans, filled);
	check_free_list(c, t);
}

void tqi_check_tables(struct tqi_check *c)
{
	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++)
		check_table(c, t);
	for (uint32_t f = 0; f < tqi_schema.family_count; f++) {
		uint32_t t = tqi_schema.family_table[f];

		check_directory(c, "positions", c->g->positions[f], TQI_POSITIONS_SHIFT,
				c->g->tables[t].max, c->count[t]);
	}
}
