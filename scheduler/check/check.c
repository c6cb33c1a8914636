/* SPDX-License-Identifier: MIT */
/* The order of a check, its scratch memory, its reports, and careful resolving. */
#include "scheduler/check/check.h"

#include <stdarg.h>
#include <string.h>

#include "scheduler/check/check_state.h"

#define LINE_BYTES 200

void tqi_check_fault(struct tqi_check *c, const char *format, ...)
{
	char text[LINE_BYTES];
	va_list ap;

	va_start(ap, format);
	__builtin_vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	c->faults++;
	if (c->finding)
		c->finding(c->arg, text);
}

void tqi_check_equal(struct tqi_check *c, const char *record, uint32_t index, const char *field,
		     uint64_t is, uint64_t should_be)
{
	if (is != should_be)
		tqi_check_fault(c, "%s %u: %s is %llu, should be %llu", record, index, field,
				(unsigned long long)is, (unsigned long long)should_be);
}

/* Takes `bytes` of the scratch memory; `at` counts. */
static void *carve(unsigned char *scratch, uint64_t *at, uint64_t bytes)
{
	void *p = scratch ? scratch + *at : NULL;

	*at += (bytes + 63) & ~63ull;
	return p;
}

/* Hand out the scratch memory (NULL: only count); returns its size. */
static uint64_t lay_out(struct tqi_check *c, const struct tqi_geometry *g, unsigned char *scratch)
{
	uint64_t at = 0;

	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++)
		c->marks[t] = carve(scratch, &at, (uint64_t)g->tables[t].max * sizeof(uint16_t));
	c->spans = carve(scratch, &at, g->span_count);
	c->span_blocks = carve(scratch, &at, (uint64_t)g->span_count * sizeof(uint16_t));
	c->units = carve(scratch, &at, (g->max_bytes >> TQI_UNIT_SHIFT) / 8);
	c->pins = carve(scratch, &at, (uint64_t)g->tables[TQI_TASKS].max * sizeof(uint32_t));
	c->unmet = carve(scratch, &at, (uint64_t)g->tables[TQI_TASKS].max * sizeof(uint32_t));
	c->members = carve(scratch, &at, (uint64_t)g->tables[TQI_LANES].max * sizeof(uint32_t));
	c->limits = carve(scratch, &at, (uint64_t)g->tables[TQI_LIMITS].max * sizeof(*c->limits));
	c->lanes = carve(scratch, &at, (uint64_t)g->tables[TQI_CLASSES].max * sizeof(*c->lanes));
	c->tenants = carve(scratch, &at, (uint64_t)g->tables[TQI_TENANTS].max * sizeof(uint32_t));
	c->groups = carve(scratch, &at, (uint64_t)g->tables[TQI_GROUPS].max * sizeof(*c->groups));
	c->guests = carve(scratch, &at, (uint64_t)g->tables[TQI_QUEUES].max * sizeof(*c->guests));
	c->servers = carve(scratch, &at, (uint64_t)g->tables[TQI_SERVERS].max * sizeof(uint32_t));
	c->pools = carve(scratch, &at, (uint64_t)g->tables[TQI_POOLS].max * sizeof(*c->pools));
	c->served = carve(scratch, &at, (uint64_t)g->tables[TQI_QUEUES].max * sizeof(*c->served));
	c->waiting = carve(scratch, &at, (uint64_t)g->tables[TQI_QUEUES].max * sizeof(uint32_t));
	c->depth = carve(scratch, &at, (uint64_t)g->tables[TQI_CLASSES].max * sizeof(*c->depth));
	return at;
}

uint64_t tqi_check_scratch_bytes(const struct tqi_geometry *geometry)
{
	struct tqi_check c;

	return lay_out(&c, geometry, NULL);
}

bool tqi_check_span_is_here(const struct tqi_check *c, uint32_t span)
{
	const uint8_t *states = c->tx->base + c->g->extents;

	return span > 0 && span < c->g->span_count &&
	       states[span / TQI_SPANS_PER_EXTENT] == TQI_EXTENT_HERE;
}

void *tqi_check_record(struct tqi_check *c, uint32_t table, uint32_t index)
{
	const struct tqi_table_geometry *g = &c->g->tables[table];
	const uint32_t *directory = (const uint32_t *)(const void *)(c->tx->base + g->directory);

	if (index == 0 || index >= c->count[table] ||
	    !tqi_check_span_is_here(c, directory[index >> g->shift]))
		return NULL;
	return tqi_table_at(c->tx, table, index);
}

void *tqi_check_record_in_use(struct tqi_check *c, uint32_t table, uint32_t index)
{
	void *record = tqi_check_record(c, table, index);

	return record && !(c->marks[table][index] & TQI_SEEN_FREE) ? record : NULL;
}

void tqi_check_begin(struct tqi_check *c, struct tqi_tx *tx, void *scratch)
{
	*c = (struct tqi_check){ .tx = tx, .g = &tx->seg->geometry };
	lay_out(c, c->g, scratch);
}

uint32_t tqi_check(struct tqi_tx *tx, void *scratch, tqi_check_finding *finding, void *arg)
{
	struct tqi_check c;

	tqi_check_begin(&c, tx, scratch);
	c.finding = finding;
	c.arg = arg;
	if (tqi_root(tx)->flags & TQI_ROOT_REPAIR)
		tqi_check_fault(&c, "root: a repair was begun and has not ended");
	tqi_check_equal(&c, "journal", 0, "length", tx->core->undo_count, 0);
	if (tqi_load_relaxed64(&tx->core->ring_shown) > tx->core->ring_head)
		tqi_check_fault(&c, "ring: %llu entries are shown, %llu were written",
				(unsigned long long)tqi_load_relaxed64(&tx->core->ring_shown),
				(unsigned long long)tx->core->ring_head);
	tqi_check_tables(&c);
	tqi_check_queues(&c);
	tqi_check_times(&c);
	tqi_check_tasks(&c);
	tqi_check_keys(&c);
	tqi_check_limits(&c);
	tqi_check_fair(&c);
	tqi_check_workers(&c);
	tqi_check_servers(&c);
	tqi_check_sleepers(&c);
	tqi_check_behalf(&c);
	tqi_check_inherit(&c);
	tqi_check_commands(&c);
	tqi_check_groups(&c);
	tqi_check_lists(&c);
	tqi_check_schedules(&c);
	tqi_check_gauges(&c);
	tqi_check_memory(&c);
	if (tx->corrupt)
		tqi_check_fault(&c, "a reference out of range was met");
	tx->corrupt = false;
	return c.faults;
}
