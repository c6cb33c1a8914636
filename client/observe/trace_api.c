/* SPDX-License-Identifier: MIT */
/* Reading the flight recorder. */
#include <errno.h>
#include <string.h>

#include "client/core/handle.h"
#include "client/core/options.h"
#include "client/observe/snapshot.h"
#include "scheduler/record/trace.h"
#include "shm/ring.h"

#define CHUNK 128 /* entries copied at a time: 4 KiB */

/*
 * How many entries are committed, at least.  Between two transactions, or in one that
 * stopped or died, that is exact; in a busy segment it is what the last commit said.
 */
static int peek_head(const struct tqi_segment *seg, uint64_t *ret_head)
{
	const uint64_t core = seg->geometry.core;
	struct tqi_moment moment;
	uint64_t head;
	int r = tqi_peek_moment(seg, core + offsetof(struct tqi_core, ring_head), &head,
				sizeof(head), &moment);

	if (r == 0)
		r = tqi_peek(seg, core + offsetof(struct tqi_core, ring_shown), ret_head,
			     sizeof(*ret_head));
	if (r == 0 && moment.inside != TQI_MOMENT_MIXED && head > *ret_head)
		*ret_head = head;
	return r < 0 ? r : *ret_head > INT64_MAX ? TQ_ECORRUPT : 0;
}

/* The oldest entry that no transaction under way may have written over (RG-2). */
static int peek_oldest(const struct tqi_segment *seg, uint64_t *ret_oldest)
{
	const uint64_t promised = seg->geometry.ring_slots - TQI_RING_SLACK;
	uint64_t head;
	int r = tqi_peek(seg, seg->geometry.core + offsetof(struct tqi_core, ring_head), &head,
			 sizeof(head));

	if (r == 0)
		*ret_oldest = head > promised ? head - promised + 1 : 1;
	return r;
}

/* Entries from number `first` on, as far as the ring's end. */
static int peek_entries(const struct tqi_segment *seg, uint64_t first,
			struct tqi_trace_entry *entries, uint32_t *count)
{
	const struct tqi_geometry *g = &seg->geometry;
	const uint32_t slot = (uint32_t)((first - 1) % g->ring_slots);

	if (*count > g->ring_slots - slot)
		*count = g->ring_slots - slot;
	return tqi_peek(seg, g->ring + (uint64_t)slot * sizeof(*entries), entries,
			*count * sizeof(*entries));
}

static struct tq_trace_entry entry_out(uint64_t number, const struct tqi_trace_entry *e)
{
	const uint64_t other = tqi_trace_other(e);

	return (struct tq_trace_entry){
		.number = number,
		.time_ns = e->time_ns,
		.task = e->task,
		.event = e->event,
		.from = e->from,
		.to = e->to,
		.cause = e->cause,
		.argument = other ? 0 : e->argument,
		.pid = e->pid,
		.worker = other ? 0 : e->worker,
		.other = other,
	};
}

/* A part of what is wanted, from the cursor on: how many were filled, or an error. */
static int read_chunk(struct tq *tq, uint64_t *cursor, struct tq_trace_entry *to, uint32_t count,
		      uint64_t *lost)
{
	struct tqi_trace_entry entries[CHUNK];
	uint64_t head = 0, oldest = 1;
	int r = peek_head(&tq->seg, &head);

	if (r == 0)
		r = peek_oldest(&tq->seg, &oldest);
	if (r < 0)
		return r;
	uint64_t first = *cursor > oldest ? *cursor : oldest;

	if (first > head)
		return 0;
	if (count > CHUNK)
		count = CHUNK;
	if (count > head - first + 1)
		count = (uint32_t)(head - first + 1);
	r = peek_entries(&tq->seg, first, entries, &count);
	if (r == 0)
		r = peek_oldest(&tq->seg, &oldest);
	if (r < 0)
		return r;
	/* The ring may have lapped the copy. */
	uint32_t skip = oldest <= first		 ? 0
			: oldest - first < count ? (uint32_t)(oldest - first)
						 : count;

	for (uint32_t i = skip; i < count; i++) {
		const struct tq_trace_entry e = entry_out(first + i, &entries[i]);

		tqi_snapshot_out(&to[i - skip], sizeof(e), &e, sizeof(e));
	}
	if (*cursor)
		*lost += first + skip - *cursor;
	*cursor = first + count;
	return (int)(count - skip);
}

int tq_trace_read(struct tq *tq, uint64_t *cursor, struct tq_trace_entry *entries, uint32_t count,
		  uint64_t *ret_lost)
{
	if (!tq || !cursor || (count && !entries))
		return -EINVAL;
	uint64_t at = *cursor, lost = 0, from;
	uint32_t n = 0;
	int r = 0;

	if (count && entries->size != sizeof(*entries))
		return -EINVAL;
	if (tq->seg.geometry.ring_slots == 0)
		return -ENODATA;
	do {
		from = at;
		r = n < count ? read_chunk(tq, &at, &entries[n], count - n, &lost) : 0;
		n += r > 0 ? (uint32_t)r : 0;
	} while (r >= 0 && at != from && n < count);
	if (r < 0)
		return r;
	*cursor = at;
	if (ret_lost)
		*ret_lost = lost;
	return (int)n;
}
