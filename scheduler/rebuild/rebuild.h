/* SPDX-License-Identifier: MIT */
/*
 * Rebuilds everything derived from the records: heaps, lists, indexes, gauges, and
 * who uses which memory.  The records are believed as far as they make sense; what
 * does not is given up: a block that is no block, an attempt of no worker (its task
 * starts again), a task of no queue (lost).
 *
 * In place, under the lock, and plain (TX-8): TQI_ROOT_REPAIR is set until it is
 * through, and cleared by the transaction that wakes the sleepers.  It begins with what is
 * true in every half-way state, so that it may be killed anywhere and run again.  What it
 * makes anew it makes, as far as it can, by the functions that others call for one record.
 */
#ifndef TQI_SCHEDULER_REBUILD_REBUILD_H
#define TQI_SCHEDULER_REBUILD_REBUILD_H

#include "shm/tx.h"

/*
 * `scratch`: tqi_check_scratch_bytes(), zeroed.  All sleepers are woken.  0; -ENOMEM
 * the heaps find no memory: TQI_ROOT_REPAIR stays, grow and run it again.
 */
int tqi_rebuild(struct tqi_tx *tx, void *scratch);

#endif
