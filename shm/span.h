/* SPDX-License-Identifier: MIT */
/*
 * Spans of 64 KiB: the unit that tables, heaps and blocks take from the segment.
 * A bit in the span map means "has memory and is free".
 */
#ifndef TQI_SHM_SPAN_H
#define TQI_SHM_SPAN_H

#include "shm/tx.h"

/*
 * The last free spans are kept for those who drain a segment, steer it or look after it:
 * records of workers, attempts, wait slots, limits, the queue and the task of a `run`, the
 * least rings.  They have memory behind them, as a tmpfs may be full before the segment is,
 * so they grow with it.  A transaction says in tx->spares what it leaves of them.
 */
#define TQI_SPANS_KEPT_LEAST 8u	  /* 512 KiB: a span of each of these tables, and some rings */
#define TQI_SPANS_KEPT_MOST 256u  /* 16 MiB: all workers that can be, an eighth with rings */
#define TQI_SPANS_KEPT_SHARE 64u  /* in between a 64th of the memory that there is */

enum tqi_spares {
	TQI_SPARES_NOTHING = 0,
	TQI_SPARES_ALL = 1,  /* who fills it: submits */
	TQI_SPARES_HALF = 2, /* who fills it, and sees to it that it is drained */
};

/* `count` spans in a row; 0 = none: grow (shm/extent.h) and try again. */
uint32_t tqi_span_take(struct tqi_tx *tx, uint32_t count, enum tqi_span_use use);
void tqi_span_give(struct tqi_tx *tx, uint32_t span, uint32_t count);

static inline struct tqi_span *tqi_span_at(struct tqi_tx *tx, uint32_t span)
{
	struct tqi_span *spans = (struct tqi_span *)(void *)(tx->base + tx->seg->geometry.spans);

	if (__builtin_expect(span == 0 || span >= tx->seg->geometry.span_count, 0))
		return tqi_tx_scratch(tx);
	return &spans[span];
}

/* Mark spans with fresh memory behind them as free, or free spans as gone. */
void tqi_span_map_set(struct tqi_tx *tx, uint32_t first, uint32_t count, bool free);
bool tqi_span_is_free(struct tqi_tx *tx, uint32_t span);

#endif
