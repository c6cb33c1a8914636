/* SPDX-License-Identifier: MIT */
/* Wait slots as the scheduler uses them: with their edges and gauges. */
#ifndef TQI_SCHEDULER_WORKER_SLEEP_H
#define TQI_SCHEDULER_WORKER_SLEEP_H

#include "scheduler/wake/sleepers.h"

/* Take a slot and queue it; 0 as tqi_table_take(). */
uint32_t tqi_sleep_enter(struct tqi_tx *tx, const struct tqi_ident *owner,
			 enum tqi_interest interest, uint32_t subject, bool *ret_full);
/* What its slot, which has been listed for the first time, stands for elsewhere. */
void tqi_sleep_listed(struct tqi_tx *tx, uint32_t waiter);
/* Leave it; all edges have been dropped before. */
void tqi_sleep_leave(struct tqi_tx *tx, uint32_t waiter);
/*
 * About to sleep (again): queue it if it was popped, note until when.  `until_ns`
 * is the sleeper's own wish; returns the time to sleep to.  What waits for the wall
 * clock is noted beside it, in until_wall_ns.
 */
uint64_t tqi_sleep_again(struct tqi_tx *tx, uint32_t waiter, uint64_t until_ns);
/* Bury dead sleepers that this one queued behind; true when there may be more. */
bool tqi_sleep_bury_older(struct tqi_tx *tx, uint32_t waiter);
/* Bury some of the dead among the next slots of the table, listed or in transit; true when
 * there were any. */
bool tqi_sleep_bury(struct tqi_tx *tx);

#endif
