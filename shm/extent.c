/* SPDX-License-Identifier: MIT */
/* Growth and shrinkage, extent by extent. */
#include "shm/extent.h"

#include <errno.h>
#include <fcntl.h>

#include "shm/span.h"

#define EXTENTS_KEPT_FREE                                                                          \
	2 /* 2 MiB stay reserved, so that idle and busy do not alternate with holes */

static uint8_t *states_of(struct tqi_tx *tx)
{
	return tx->base + tx->seg->geometry.extents;
}

void tqi_extent_set(struct tqi_tx *tx, uint32_t first, uint32_t count, enum tqi_extent_state state)
{
	uint8_t *states = states_of(tx);

	if (first + count > tx->seg->geometry.extent_count) {
		tx->corrupt = true;
		return;
	}
	for (uint32_t e = first; e < first + count; e++)
		TQI_SET(tx, states[e], (uint8_t)state);
}

static uint32_t find_holes(struct tqi_tx *tx, uint32_t count)
{
	const uint8_t *states = states_of(tx);
	uint32_t run = 0;

	for (uint32_t e = 1; e < tx->seg->geometry.extent_count; e++) {
		run = states[e] == TQI_EXTENT_HOLE ? run + 1 : 0;
		if (run == count)
			return e - count + 1;
	}
	return 0;
}

uint64_t tqi_extent_grow_begin(struct tqi_tx *tx, uint32_t count, const struct tqi_ident *owner,
			       uint32_t *ret_first)
{
	uint32_t first = find_holes(tx, count);

	if (!first)
		return 0;
	tqi_extent_set(tx, first, count, TQI_EXTENT_MOVING);
	*ret_first = first;
	return tqi_inflight_take(tx, TQI_INFLIGHT_GROW, first, count, owner);
}

bool tqi_extent_is_moving(struct tqi_tx *tx)
{
	for (uint32_t e = 0; e < tx->seg->geometry.extent_count; e++)
		if (states_of(tx)[e] == TQI_EXTENT_MOVING)
			return true;
	return false;
}

int tqi_extent_reserve(const struct tqi_segment *seg, uint32_t first, uint32_t count)
{
	off_t offset = (off_t)first << TQI_EXTENT_SHIFT, bytes = (off_t)count << TQI_EXTENT_SHIFT;

	/* Kernels before 2024 undo their work on any signal: again until it is done. */
	while (fallocate(seg->fd, 0, offset, bytes) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

void tqi_extent_grow_end(struct tqi_tx *tx, uint64_t token, bool reserved)
{
	struct tqi_inflight *entry = tqi_inflight_get(tx, token);

	if (!entry)
		return;
	uint32_t first = entry->first, count = entry->count;

	if (reserved) {
		tqi_extent_set(tx, first, count, TQI_EXTENT_HERE);
		TQI_ADD(tx, tx->core->extents_reserved, count);
		tqi_span_map_set(tx, first * TQI_SPANS_PER_EXTENT, count * TQI_SPANS_PER_EXTENT,
				 true);
	} else {
		tqi_extent_set(tx, first, count, TQI_EXTENT_HOLE);
	}
	tqi_inflight_drop(tx, entry);
}

static bool is_free(struct tqi_tx *tx, uint32_t extent)
{
	const uint64_t *map =
		(const uint64_t *)(const void *)(tx->base + tx->seg->geometry.span_map);
	uint32_t span = extent * TQI_SPANS_PER_EXTENT;

	return (map[span / 64] >> (span % 64) & 0xffff) == 0xffff;
}

uint64_t tqi_extent_punch_begin(struct tqi_tx *tx, const struct tqi_ident *owner,
				uint32_t *ret_extent)
{
	if (tx->core->spans_free <= EXTENTS_KEPT_FREE * TQI_SPANS_PER_EXTENT)
		return 0;
	for (uint32_t e = tx->seg->geometry.extent_count - 1; e > 0; e--) {
		if (states_of(tx)[e] != TQI_EXTENT_HERE || !is_free(tx, e))
			continue;
		uint64_t token = tqi_inflight_take(tx, TQI_INFLIGHT_PUNCH, e, 1, owner);

		if (!token)
			return 0;
		tqi_extent_set(tx, e, 1, TQI_EXTENT_MOVING);
		TQI_ADD(tx, tx->core->extents_reserved, -1);
		tqi_span_map_set(tx, e * TQI_SPANS_PER_EXTENT, TQI_SPANS_PER_EXTENT, false);
		*ret_extent = e;
		return token;
	}
	return 0;
}

int tqi_extent_punch(const struct tqi_segment *seg, uint32_t extent)
{
	off_t offset = (off_t)extent << TQI_EXTENT_SHIFT;
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	return fallocate(seg->fd, mode, offset, TQI_EXTENT_BYTES) < 0 ? -errno : 0;
}

void tqi_extent_punch_end(struct tqi_tx *tx, uint64_t token)
{
	struct tqi_inflight *entry = tqi_inflight_get(tx, token);

	if (!entry)
		return;
	tqi_extent_set(tx, entry->first, entry->count, TQI_EXTENT_HOLE);
	tqi_inflight_drop(tx, entry);
}
