/* SPDX-License-Identifier: MIT */
/*
 * What starts before a task.  It is found by starting it, on an overlay (shm/overlay.h): one
 * after the other, as claims would choose, with what that does to turns and tenants.
 */
#ifndef TQI_SCHEDULER_ORDER_BEFORE_H
#define TQI_SCHEDULER_ORDER_BEFORE_H

#include "scheduler/record/records.h"

/*
 * How many tasks of its queue start before a ready one, up to `most`, for a worker of these
 * kinds: as if its queue were not paused, and servers and the task's own limits had room.
 * *ret_is_all: then it is its turn, or it is in no heap.
 */
uint32_t tqi_count_before(struct tqi_tx *tx, uint32_t task, const uint64_t kinds[4], uint32_t most,
			  bool *ret_is_all);

#endif
