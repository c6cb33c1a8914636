/* SPDX-License-Identifier: MIT */
/* When somebody must look, and what is passed on to others. */
#ifndef TQI_SCHEDULER_WORKER_KEEPERS_H
#define TQI_SCHEDULER_WORKER_KEEPERS_H

#include "scheduler/record/records.h"

/*
 * 0.5 s: the timekeeper looks so often while anything is under way.  Each deputy comes 0.2 s
 * later, in case those before it cannot: within a second all have looked.
 */
#define TQI_LOOK_NS 500000000ull
#define TQI_DEPUTY_NS 200000000ull
#define TQI_LOOKS_NS 1000000000ull

/* Pass over: if anything is startable by a sleeper, or a command or its answers wait for
 * one, pop one.  True when it did. */
bool tqi_wake_any(struct tqi_tx *tx);
/* The same of who was popped and is back: for work only if there is more to start than what
 * others are on their way to. */
bool tqi_wake_next(struct tqi_tx *tx);
/* Whether others are on their way to all that waits to be started (WT-7). */
bool tqi_work_is_covered(struct tqi_tx *tx);

/* Until when the keeper at this place may sleep. */
uint64_t tqi_keeper_until(struct tqi_tx *tx, uint32_t place);
/* The same for what waits for the wall clock, by that clock. */
uint64_t tqi_keeper_until_wall(struct tqi_tx *tx, uint32_t place);
/*
 * At the end of every transaction: keepers that must look earlier are told; and, when
 * room was made at a limit, one worker for those who wait there.
 */
void tqi_wake_keepers(struct tqi_tx *tx);
/* Whether there is anybody to be told. */
static inline bool tqi_wake_keepers_must(const struct tqi_tx *tx)
{
	return tx->pass_on || tx->core->waiter_count;
}

#endif
