/* SPDX-License-Identifier: MIT */
/* Copies a segment and tells what differs. */
#include "tests/support/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/order/queue.h"
#include "shm/span.h"

static uint64_t present_bytes(const struct tqi_segment *seg)
{
	const uint8_t *states = seg->base + seg->geometry.extents;
	uint32_t e = seg->geometry.extent_count;

	while (e > 1 && states[e - 1] != TQI_EXTENT_HERE)
		e--;
	return (uint64_t)e << TQI_EXTENT_SHIFT;
}

void tqt_image_take(struct tqt_image *image, const struct tqi_segment *seg)
{
	const uint8_t *states = seg->base + seg->geometry.extents;
	uint64_t size = present_bytes(seg);

	if (size != image->size) {
		free(image->bytes);
		image->bytes = calloc(1, size);
		image->size = size;
	}
	if (!image->bytes)
		exit(1);
	for (uint64_t e = 0; e < size >> TQI_EXTENT_SHIFT; e++)
		if (states[e] == TQI_EXTENT_HERE)
			memcpy(image->bytes + (e << TQI_EXTENT_SHIFT),
			       seg->base + (e << TQI_EXTENT_SHIFT), TQI_EXTENT_BYTES);
}

void tqt_image_restore(const struct tqt_image *image, const struct tqi_segment *seg)
{
	memcpy(seg->base, image->bytes, image->size);
}

void tqt_image_free(struct tqt_image *image)
{
	free(image->bytes);
	*image = (struct tqt_image){ NULL, 0 };
}

#define WITHIN(type, field, at)                                                                    \
	((at)-offsetof(struct type, field) < sizeof(((struct type *)0)->field))

static bool core_may_differ(uint64_t at)
{
	return WITHIN(tqi_core, lock, at) || WITHIN(tqi_core, holder_tid, at) ||
	       WITHIN(tqi_core, holder_pid, at) || WITHIN(tqi_core, holder_start, at) ||
	       WITHIN(tqi_core, version, at) || WITHIN(tqi_core, rollbacks, at) ||
	       WITHIN(tqi_core, ring_shown, at) || WITHIN(tqi_core, closed, at) ||
	       WITHIN(tqi_core, undone, at) || WITHIN(tqi_core, last_now_ns, at);
}

/* A slot of the ring: none of the last entries that it promises is in it (shm/ring.h). */
static bool slot_may_differ(const struct tqi_segment *seg, uint64_t slot)
{
	const uint64_t slots = seg->geometry.ring_slots, head = tqi_segment_core(seg)->ring_head;
	const uint64_t back = (head + slots - 1 - slot) % slots; /* entries since that one */

	return back >= head || back >= slots - TQI_RING_SLACK;
}

static bool fixed_may_differ(const struct tqi_segment *seg, uint64_t at)
{
	const struct tqi_geometry *g = &seg->geometry;

	if (at - g->ring < (uint64_t)g->ring_slots * TQI_RING_ENTRY_BYTES)
		return slot_may_differ(seg, (at - g->ring) / TQI_RING_ENTRY_BYTES);
	if (at >= g->core && at < g->core + sizeof(struct tqi_core))
		return core_may_differ(at - g->core);
	if (at >= g->journal && at < g->journal + TQI_JOURNAL_MAX * sizeof(struct tqi_undo))
		return true;
	return at >= g->scratch && at < g->scratch + TQI_SCRATCH_BYTES;
}

/* Words that are written without the journal. */
static bool live_record_may_differ(uint32_t table, uint64_t at)
{
	switch (table) {
	case TQI_WAITERS:
		return at >= offsetof(struct tqi_waiter, word);
	case TQI_TASKS:
		return WITHIN(tqi_task, stamp, at);
	case TQI_ATTEMPTS:
		return at >= offsetof(struct tqi_attempt, pgid_start);
	case TQI_WORKERS:
		return at >= offsetof(struct tqi_worker, lease_deadline_ns);
	case TQI_TIMES:
		return at >= offsetof(struct tqi_times, of);
	default:
		return false;
	}
}

static bool free_record_may_differ(uint32_t table, uint64_t at)
{
	if (at < sizeof(uint32_t))
		return false; /* the link */
	if (table == TQI_TASKS)
		return !WITHIN(tqi_task, generation, at) && !WITHIN(tqi_task, state, at);
	if (table == TQI_WORKERS)
		return !WITHIN(tqi_worker, generation, at) && !WITHIN(tqi_worker, state, at);
	if (table == TQI_SERVERS)
		return !WITHIN(tqi_server, queue, at);
	if (table == TQI_POOLS)
		return !WITHIN(tqi_pool, queue, at);
	return true;
}

static bool record_is_free(struct tqi_tx *tx, uint32_t table, uint32_t index)
{
	const struct tqi_table *t = &tx->core->tables[table];
	uint32_t at = t->free;

	for (uint32_t i = 0; at && i < t->count; i++) {
		if (at == index)
			return true;
		at = *(const uint32_t *)tqi_table_at(tx, table, at);
	}
	return false;
}

static bool record_may_differ(struct tqi_tx *tx, uint32_t table, uint32_t span_place, uint64_t at)
{
	const struct tqi_table_geometry *g = &tx->seg->geometry.tables[table];
	uint32_t index = (span_place << g->shift) + (uint32_t)(at / g->record_bytes);

	if (index >= tx->core->tables[table].count || at / g->record_bytes >> g->shift)
		return true;
	at %= g->record_bytes;
	return live_record_may_differ(table, at) ||
	       (record_is_free(tx, table, index) && free_record_may_differ(table, at));
}

/* Whether the record is in a heap of the family, by what the records say. */
static bool is_in_heap(struct tqi_tx *tx, uint32_t family, uint32_t index)
{
	if (tqi_schema.family_table[family] == TQI_LANES) {
		if (index >= tx->core->tables[TQI_LANES].count)
			return false;
		const struct tqi_lane *lane = tqi_lane_at(tx, index);

		return lane->state != TQI_PARKING_CLOSED &&
		       (family == TQI_FAMILY_OPEN ? lane->tasks.length : lane->ages.length);
	}
	if (family == TQI_FAMILY_REFILL)
		return index < tx->core->tables[TQI_LIMITS].count &&
		       tqi_limit_at(tx, index)->booked;
	if (family == TQI_FAMILY_SCHEDULE)
		return index < tx->core->tables[TQI_SCHEDULES].count &&
		       (tqi_schedule_at(tx, index)->flags &
			(TQI_SCHEDULE_LIVE | TQI_SCHEDULE_PAUSED)) == TQI_SCHEDULE_LIVE;
	if (family == TQI_FAMILY_FAIR)
		return index < tx->core->tables[TQI_CLASSES].count &&
		       tqi_class_at(tx, index)->competes;
	if (family == TQI_FAMILY_LOAD)
		return index < tx->core->tables[TQI_SERVERS].count &&
		       tqi_server_at(tx, index)->queue && !tqi_server_at(tx, index)->leaving;
	if (family == TQI_FAMILY_OWNERS)
		return index < tx->core->tables[TQI_WORKERS].count &&
		       tqi_worker_at(tx, index)->state != TQI_WORKER_FREE &&
		       tqi_worker_at(tx, index)->assigned_count;
	if (family == TQI_FAMILY_ROOM)
		return index < tx->core->tables[TQI_POOLS].count && tqi_pool_at(tx, index)->queue &&
		       tqi_pool_at(tx, index)->has_room;
	if (index >= tx->core->tables[TQI_TASKS].count)
		return false;
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (family == TQI_FAMILY_DUE)
		return task->flags & TQI_TASK_DUE;
	if (family == TQI_FAMILY_WALL)
		return task->flags & TQI_TASK_AT;
	bool ready = task->state == TQ_READY &&
		     !(task->flags & (TQI_TASK_HELD | TQI_TASK_ASSIGNED));

	return ready && (family == TQI_FAMILY_AGE ? tqi_class_of(tx, task)->aged : !task->prev);
}

static bool position_may_differ(struct tqi_tx *tx, uint32_t family, uint32_t span_place,
				uint64_t at)
{
	uint32_t index = (span_place << TQI_POSITIONS_SHIFT) + (uint32_t)(at / sizeof(uint32_t));

	return index == 0 || !is_in_heap(tx, family, index);
}

static bool block_may_differ(struct tqi_tx *tx, uint32_t s, uint64_t at)
{
	const struct tqi_span *span = tqi_span_at(tx, s);
	uint32_t shift = TQI_UNIT_SHIFT + span->class_, index = (uint32_t)(at >> shift);
	const unsigned char *base = tx->base + ((uint64_t)s << TQI_SPAN_SHIFT);
	uint32_t f = span->free;

	if (index >= span->bump)
		return true;
	for (uint32_t i = 0; f && i < span->bump; i++) {
		if (f == index + 1)
			return (at & ((1u << shift) - 1)) >= sizeof(uint16_t);
		f = *(const uint16_t *)(const void *)(base + ((uint64_t)(f - 1) << shift));
	}
	return false;
}

static bool find_in(struct tqi_tx *tx, uint64_t directory, uint32_t spans, uint32_t s,
		    uint32_t *ret_place)
{
	const uint32_t *d = (const uint32_t *)(const void *)(tx->base + directory);

	for (uint32_t i = 0; i < spans; i++) {
		if (d[i] == s) {
			*ret_place = i;
			return true;
		}
	}
	return false;
}

static bool table_span_may_differ(struct tqi_tx *tx, uint32_t s, uint64_t at)
{
	const struct tqi_geometry *g = &tx->seg->geometry;
	uint32_t place;

	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++)
		if (find_in(tx, g->tables[t].directory,
			    ((g->tables[t].max - 1) >> g->tables[t].shift) + 1, s, &place))
			return record_may_differ(tx, t, place, at);
	for (uint32_t f = 0; f < TQI_FAMILY_COUNT; f++) {
		uint32_t max = g->tables[tqi_schema.family_table[f]].max;

		if (find_in(tx, g->positions[f], ((max - 1) >> TQI_POSITIONS_SHIFT) + 1, s, &place))
			return position_may_differ(tx, f, place, at);
	}
	return false;
}

static bool may_differ(struct tqi_tx *tx, uint64_t offset)
{
	uint32_t s = (uint32_t)(offset >> TQI_SPAN_SHIFT);
	uint64_t at = offset & (TQI_SPAN_BYTES - 1);

	if (offset < tx->seg->geometry.fixed_bytes)
		return fixed_may_differ(tx->seg, offset);
	if (tqi_span_is_free(tx, s) ||
	    tx->base[tx->seg->geometry.extents + (offset >> TQI_EXTENT_SHIFT)] != TQI_EXTENT_HERE)
		return true;
	switch (tqi_span_at(tx, s)->use) {
	case TQI_SPAN_TABLE:
		return table_span_may_differ(tx, s, at);
	case TQI_SPAN_BLOCKS:
		return block_may_differ(tx, s, at);
	default:
		return false;
	}
}

/* The first byte from `from` on that differs; `end` none. */
static uint64_t next_difference(const unsigned char *a, const unsigned char *b, uint64_t from,
				uint64_t end)
{
	const uint64_t step = 4096;

	while (from < end) {
		uint64_t n = step - from % step < end - from ? step - from % step : end - from;

		if (memcmp(a + from, b + from, n) != 0)
			break;
		from += n;
	}
	while (from < end && a[from] == b[from])
		from++;
	return from;
}

bool tqt_image_same_in(const struct tqt_image *image, const struct tqi_segment *seg, uint64_t from,
		       uint64_t end, char why[160])
{
	struct tqi_tx tx;

	tqi_tx_view(&tx, seg);
	if (end > image->size)
		end = image->size;
	for (uint64_t at = from;; at++) {
		at = next_difference(image->bytes, seg->base, at, end);
		if (at >= end)
			return true;
		if (may_differ(&tx, at))
			continue;
		uint32_t s = (uint32_t)(at >> TQI_SPAN_SHIFT);

		snprintf(why, 160, "byte %#llx (span %u, use %u, +%#llx): %#x was %#x",
			 (unsigned long long)at, s,
			 at < seg->geometry.fixed_bytes ? 0u : tqi_span_at(&tx, s)->use,
			 (unsigned long long)(at & (TQI_SPAN_BYTES - 1)), seg->base[at],
			 image->bytes[at]);
		return false;
	}
}

bool tqt_image_same(const struct tqt_image *image, const struct tqi_segment *seg, char why[160])
{
	if (present_bytes(seg) != image->size) {
		snprintf(why, 160, "another number of extents");
		return false;
	}
	return tqt_image_same_in(image, seg, 0, image->size, why);
}
