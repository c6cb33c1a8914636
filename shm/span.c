/* SPDX-License-Identifier: MIT */
/* First fit over the span map, 64 spans a word. */
#include "shm/span.h"

static uint64_t *map_of(struct tqi_tx *tx)
{
	return (uint64_t *)(void *)(tx->base + tx->seg->geometry.span_map);
}

bool tqi_span_is_free(struct tqi_tx *tx, uint32_t span)
{
	return map_of(tx)[span / 64] >> (span % 64) & 1;
}

void tqi_span_map_set(struct tqi_tx *tx, uint32_t first, uint32_t count, bool free)
{
	uint64_t *map = map_of(tx);

	for (uint32_t s = first, end = first + count; s < end;) {
		uint32_t bit = s % 64, n = 64 - bit < end - s ? 64 - bit : end - s;
		uint64_t mask = (n == 64 ? UINT64_MAX : (1ull << n) - 1) << bit;
		uint64_t word = map[s / 64];

		TQI_SET(tx, map[s / 64], free ? word | mask : word & ~mask);
		s += n;
	}
	TQI_ADD(tx, tx->core->spans_free, free ? count : -count);
}

static uint32_t find_one(struct tqi_tx *tx)
{
	const uint64_t *map = map_of(tx);
	uint32_t words = (tx->seg->geometry.span_count + 63) / 64;

	for (uint32_t i = 0, w = tx->core->spans_hint % words; i < words; i++) {
		if (map[w]) {
			if (tx->core->spans_hint != w)
				TQI_SET(tx, tx->core->spans_hint, w);
			return w * 64 + (uint32_t)__builtin_ctzll(map[w]);
		}
		w = w + 1 == words ? 0 : w + 1;
	}
	return 0;
}

static uint32_t find_run(struct tqi_tx *tx, uint32_t count)
{
	const uint64_t *map = map_of(tx);
	uint32_t end = tx->seg->geometry.span_count, run = 0;

	for (uint32_t s = 0; s < end; s++) {
		if (s % 64 == 0 && map[s / 64] == 0) {
			run = 0;
			s += 63;
			continue;
		}
		run = tqi_span_is_free(tx, s) ? run + 1 : 0;
		if (run == count)
			return s - count + 1;
	}
	return 0;
}

/* Spans that this transaction leaves to others. */
static uint32_t spared(const struct tqi_tx *tx)
{
	uint32_t kept = tx->core->extents_reserved * TQI_SPANS_PER_EXTENT / TQI_SPANS_KEPT_SHARE;

	if (tx->spares == TQI_SPARES_NOTHING)
		return 0;
	if (kept < TQI_SPANS_KEPT_LEAST)
		kept = TQI_SPANS_KEPT_LEAST;
	if (kept > TQI_SPANS_KEPT_MOST)
		kept = TQI_SPANS_KEPT_MOST;
	return tx->spares == TQI_SPARES_HALF ? kept / 2 : kept;
}

uint32_t tqi_span_take(struct tqi_tx *tx, uint32_t count, enum tqi_span_use use)
{
	if (tx->core->spans_free < (uint64_t)count + spared(tx))
		return 0;
	uint32_t first = count == 1 ? find_one(tx) : find_run(tx, count);

	if (!first)
		return 0;
	tqi_span_map_set(tx, first, count, false);
	struct tqi_span *span = tqi_span_at(tx, first);

	TQI_SET(tx, span->use, (uint8_t)use);
	TQI_SET(tx, span->next, count);
	return first;
}

void tqi_span_give(struct tqi_tx *tx, uint32_t span, uint32_t count)
{
	TQI_SET(tx, tqi_span_at(tx, span)->use, TQI_SPAN_FREE);
	tqi_span_map_set(tx, span, count, true);
}
