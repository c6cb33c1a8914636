/* SPDX-License-Identifier: MIT */
/* What all parts of a check use: its scratch memory, its reports, and careful resolving. */
#include "scheduler/check/check_state.h"

#include <stdarg.h>

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
	c->answers = carve(scratch, &at, (uint64_t)g->tables[TQI_COMMANDS].max * sizeof(uint32_t));
	c->contests =
		carve(scratch, &at, (uint64_t)g->tables[TQI_STREAMS].max * sizeof(*c->contests));
	c->eras = carve(scratch, &at, (uint64_t)g->tables[TQI_QUEUES].max * sizeof(*c->eras));
	c->servers = carve(scratch, &at, (uint64_t)g->tables[TQI_SERVERS].max * sizeof(uint32_t));
	c->pools = carve(scratch, &at, (uint64_t)g->tables[TQI_POOLS].max * sizeof(*c->pools));
	c->served = carve(scratch, &at, (uint64_t)g->tables[TQI_QUEUES].max * sizeof(*c->served));
	c->waiting = carve(scratch, &at, (uint64_t)g->tables[TQI_QUEUES].max * sizeof(uint32_t));
	c->queue_users =
		carve(scratch, &at, (uint64_t)g->tables[TQI_QUEUES].max * sizeof(uint32_t));
	c->kind_users = carve(scratch, &at, (uint64_t)g->tables[TQI_KINDS].max * sizeof(uint32_t));
	c->kind_streams =
		carve(scratch, &at, (uint64_t)g->tables[TQI_KINDS].max * sizeof(uint32_t));
	c->depth = carve(scratch, &at, (uint64_t)g->tables[TQI_STREAMS].max * sizeof(*c->depth));
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

struct tqi_extra *tqi_check_extra(struct tqi_check *c, const struct tqi_task *t)
{
	uint64_t from = ((uint64_t)t->payload << TQI_UNIT_SHIFT) +
			tqi_extra_at(t->payload_bytes, t->label_bytes);
	uint64_t to = from + sizeof(struct tqi_extra);

	if (!(t->flags & TQI_TASK_EXTRA) || !t->payload || to > c->g->max_bytes ||
	    !tqi_check_span_is_here(c, (uint32_t)(from >> TQI_SPAN_SHIFT)) ||
	    !tqi_check_span_is_here(c, (uint32_t)((to - 1) >> TQI_SPAN_SHIFT)))
		return NULL;
	return (struct tqi_extra *)(void *)(c->tx->base + from);
}

uint64_t tqi_check_deadline(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);

	return extra ? extra->deadline_ns : UINT64_MAX;
}

uint64_t tqi_check_at(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);

	return extra ? extra->at_ns : 0;
}

uint32_t tqi_check_gauge(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_extra *extra = t->state == TQ_BLOCKED ? tqi_check_extra(c, t) : NULL;

	return extra && extra->shut ? TQ_FREE : t->state;
}
