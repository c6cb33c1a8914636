/* SPDX-License-Identifier: MIT */
/*
 * Spans of 64 KiB: the unit that tables, heaps and blocks take from the segment.
 * A bit in the span map means "has memory and is free".
 */
#ifndef TQI_SHM_SPAN_H
#define TQI_SHM_SPAN_H

#include "shm/tx.h"

/* `count` spans in a row; 0 = none: grow (shm/extent.h) and try again. */
uint32_t tqi_span_take(struct tqi_tx *tx, uint32_t count, enum tqi_span_use use);
void tqi_span_give(struct tqi_tx *tx, uint32_t span, uint32_t count);

struct tqi_span *tqi_span_at(struct tqi_tx *tx, uint32_t span);

/* Mark spans with fresh memory behind them as free, or free spans as gone. */
void tqi_span_map_set(struct tqi_tx *tx, uint32_t first, uint32_t count, bool free);
bool tqi_span_is_free(struct tqi_tx *tx, uint32_t span);

#endif
