/* SPDX-License-Identifier: MIT */
/* Everything that a repair makes anew is written over: by its end nothing of that may be left. */
#include <string.h>

#include "scheduler/record/fields.h"
#include "scheduler/record/task_record.h"
#include "shm/span.h"
#include "tests/property/world.h"

/* What is written: zeros, ones, or bytes that differ from field to field. */
struct dirt {
	struct world *w;
	uint32_t sort;
};

static void spoil(struct dirt *d, void *at, size_t bytes)
{
	memset(at, d->sort == 0 ? 0 : d->sort == 1 ? 0xff : (int)below(d->w, 256), bytes);
}

#define SPOIL(d, field) spoil((d), &(field), sizeof(field))

static void spoil_fields(struct dirt *d, uint32_t list, void *record)
{
	uint32_t count;
	const struct tqi_field *fields = tqi_fields_of(list, &count);

	for (uint32_t i = 0; i < count; i++)
		if (fields[i].sort == TQI_SORT_D || fields[i].sort == TQI_SORT_H)
			spoil(d, (unsigned char *)record + fields[i].at, fields[i].bytes);
}

static void spoil_records(struct dirt *d, struct tqi_tx *tx)
{
	for (uint32_t i = 1; i < tx->core->tables[TQI_TASKS].count; i++) {
		const struct tqi_task *t = tqi_task_at(tx, i);

		if (t->state != TQ_FREE && t->flags & TQI_TASK_EXTRA)
			spoil_fields(d, TQI_FIELDS_OF_EXTRA, tqi_task_extra(tx, t));
	}
	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++)
		for (uint32_t i = 1; i < tx->core->tables[t].count; i++)
			spoil_fields(d, t, tqi_table_at(tx, t, i));
	spoil_fields(d, TQI_FIELDS_OF_ROOT, tqi_root(tx));
}

/* All but what a span is used for, the class of its blocks, and the length of a run. */
static void spoil_spans(struct dirt *d, const struct tqi_segment *seg)
{
	struct tqi_span *spans = (struct tqi_span *)(void *)(seg->base + seg->geometry.spans);

	for (uint32_t s = 0; s < seg->geometry.span_count; s++) {
		SPOIL(d, spans[s].used);
		SPOIL(d, spans[s].bump);
		SPOIL(d, spans[s].free);
		SPOIL(d, spans[s].prev);
		if (spans[s].use == TQI_SPAN_BLOCKS)
			SPOIL(d, spans[s].next);
	}
	spoil(d, seg->base + seg->geometry.span_map, (seg->geometry.span_count + 63) / 64 * 8);
}

/* Places in heaps. */
static void spoil_positions(struct dirt *d, const struct tqi_segment *seg)
{
	for (uint32_t f = 0; f < TQI_FAMILY_COUNT; f++) {
		const uint32_t *directory = tqi_positions(seg, f);
		uint32_t spans = (seg->geometry.positions_max[f] - 1) >> TQI_POSITIONS_SHIFT;

		for (uint32_t i = 0; i <= spans; i++)
			if (directory[i])
				spoil(d, seg->base + ((uint64_t)directory[i] << TQI_SPAN_SHIFT),
				      TQI_SPAN_BYTES);
	}
}

static void spoil_core(struct dirt *d, struct tqi_core *core)
{
	SPOIL(d, core->waiter_oldest);
	SPOIL(d, core->waiter_newest);
	SPOIL(d, core->waiter_count);
	SPOIL(d, core->waiter_coming);
	SPOIL(d, core->waiter_for_work);
	SPOIL(d, core->spans_free);
	SPOIL(d, core->spans_hint);
	SPOIL(d, core->extents_reserved);
	SPOIL(d, core->class_head);
	SPOIL(d, core->waiter_lists);
	SPOIL(d, core->waiter_transit);
	SPOIL(d, core->waiter_keepers);
	SPOIL(d, core->waiter_domains_in_use);
	SPOIL(d, core->waiter_domains);
	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++) {
		SPOIL(d, core->tables[t].free);
		SPOIL(d, core->tables[t].live);
		SPOIL(d, core->tables[t].spans);
	}
}

void wipe(struct world *w)
{
	struct dirt d = { w, below(w, 3) };
	struct tqi_tx tx;

	tqi_tx_view(&tx, &w->box.seg);
	spoil_records(&d, &tx);
	spoil_spans(&d, &w->box.seg);
	spoil_positions(&d, &w->box.seg);
	spoil_core(&d, tx.core);
}
