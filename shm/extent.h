/* SPDX-License-Identifier: MIT */
/*
 * Growth by commitment.  The file is as long as it may ever get; memory comes
 * extent by extent (1 MiB) from fallocate() before it is used, so that a full
 * tmpfs is an error and never SIGBUS.  The system calls run outside the lock:
 *
 *   hold 1   choose extents, mark them MOVING, note the owner in flight
 *   outside  fallocate() or punch
 *   hold 2   HERE (their spans are free now), or HOLE
 */
#ifndef TQI_SHM_EXTENT_H
#define TQI_SHM_EXTENT_H

#include "shm/inflight.h"
#include "shm/tx.h"

/* `count` adjacent extents without memory, marked MOVING. 0 = none left. */
uint64_t tqi_extent_grow_begin(struct tqi_tx *tx, uint32_t count, const struct tqi_ident *owner,
			       uint32_t *ret_first);
/* Between the holds: reserve their memory. -ENOSPC the tmpfs is full. */
int tqi_extent_reserve(const struct tqi_segment *seg, uint32_t first, uint32_t count);
/* Whether somebody is between the holds of growing or punching. */
bool tqi_extent_is_moving(struct tqi_tx *tx);
void tqi_extent_grow_end(struct tqi_tx *tx, uint64_t token, bool reserved);

/* A wholly free extent to give back, taken out of use; 0 = none worth it. */
uint64_t tqi_extent_punch_begin(struct tqi_tx *tx, const struct tqi_ident *owner,
				uint32_t *ret_extent);
int tqi_extent_punch(const struct tqi_segment *seg, uint32_t extent);
void tqi_extent_punch_end(struct tqi_tx *tx, uint64_t token);

void tqi_extent_set(struct tqi_tx *tx, uint32_t first, uint32_t count, enum tqi_extent_state state);

#endif
