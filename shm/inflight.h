/* SPDX-License-Identifier: MIT */
/*
 * Things that a process has taken out between two holds: extents that it is
 * growing or punching, blocks that it is filling.  One small table serves all.
 */
#ifndef TQI_SHM_INFLIGHT_H
#define TQI_SHM_INFLIGHT_H

#include "shm/tx.h"

enum tqi_inflight_kind {
	TQI_INFLIGHT_NONE = 0,
	TQI_INFLIGHT_GROW = 1,	/* extents first .. first+count-1, from HOLE */
	TQI_INFLIGHT_PUNCH = 2, /* the same, from HERE */
	TQI_INFLIGHT_BLOCK = 3, /* block `first` */
};

/* A token; 0 = the table is full of live owners' entries. */
uint64_t tqi_inflight_take(struct tqi_tx *tx, enum tqi_inflight_kind kind, uint32_t first,
			   uint32_t count, const struct tqi_ident *owner);
/* The entry of a token; NULL when it has been undone meanwhile. */
struct tqi_inflight *tqi_inflight_get(struct tqi_tx *tx, uint64_t token);
void tqi_inflight_drop(struct tqi_tx *tx, struct tqi_inflight *entry);

/* Entry `i` as a copy, to prove its owner dead outside the lock; false when unused. */
bool tqi_inflight_peek(struct tqi_tx *tx, uint32_t i, struct tqi_inflight *ret_entry);
/* Undo entry `i` of a dead owner, if it is still the one that was peeked. */
void tqi_inflight_undo(struct tqi_tx *tx, uint32_t i, const struct tqi_inflight *seen);

#endif
