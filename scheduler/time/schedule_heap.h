/* SPDX-License-Identifier: MIT */
/* Times of schedules: their grids, and the heap that each is in (SC-1, SC-2). */
#ifndef TQI_SCHEDULER_TIME_SCHEDULE_HEAP_H
#define TQI_SCHEDULER_TIME_SCHEDULE_HEAP_H

#include "scheduler/time/schedule.h"

/* The expression and the zone of one of cron; NULL its block makes no sense. */
const struct tqi_cron *tqi_schedule_cron(struct tqi_tx *tx, const struct tqi_schedule *schedule,
					 const struct tqi_zone **ret_zone);

/* SC-2: which heap, and the key there. */
static inline bool tqi_schedule_is_by_wall(const struct tqi_schedule *schedule)
{
	return !schedule->every_ns && !schedule->retry_ns;
}
uint64_t tqi_schedule_look_ns(const struct tqi_schedule *schedule);

/* From now on: its first time to come, and into the heap. */
void tqi_schedule_begin(struct tqi_tx *tx, uint32_t schedule);
/*
 * Move next_ns beyond now: how many times have come; of cron counted up to one more than
 * catch_up.
 */
uint32_t tqi_schedule_advance(struct tqi_tx *tx, uint32_t schedule);
/* Out of its heap before its times change, and into the one where it belongs after. */
void tqi_schedule_enter(struct tqi_tx *tx, uint32_t schedule);
void tqi_schedule_leave(struct tqi_tx *tx, uint32_t schedule);

/*
 * When the wall clock has been set back by hours, times by cron begin anew with the clock
 * as it is now, a slice in each hold.  True when something was changed.
 */
bool tqi_schedule_watch_clock(struct tqi_tx *tx);

#endif
