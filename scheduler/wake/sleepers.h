/* SPDX-License-Identifier: MIT */
/*
 * Sleepers by the lists that they are on.
 *
 * LV-1  Workers that may leave when nothing is left are looked at in rounds, newest first: those
 *     that always do, and as the segment shuts down all that sleep for work.  A round goes on
 *     where the hold before has stopped; what may let another one leave begins a round, or
 *     has the one under way followed by another.  A keeper does what is left of it.
 */
#ifndef TQI_SCHEDULER_WAKE_SLEEPERS_H
#define TQI_SCHEDULER_WAKE_SLEEPERS_H

#include "scheduler/record/records.h"

/* Lists of workers that sleep for work. */
#define TQI_SLEEPERS_WORKERS (1u << TQI_SLEEPERS_EMPTY | TQI_SLEEPERS_OF(TQI_INTEREST_WORK))
#define TQI_SLEEPERS_ALL ((1u << TQI_WAITER_LISTS) - 1)

/* Take a listed one from its lists and wake it; its owner will come. */
void tqi_sleep_pop(struct tqi_tx *tx, uint32_t waiter);
/* A slot, of whomever, is about to leave its lists, if it is on any. */
void tqi_sleep_unlist(struct tqi_tx *tx, uint32_t waiter);

/* A round of those that may leave: its first one, and who follows; 0 it is over. */
uint32_t tqi_leaving_first(struct tqi_tx *tx);
uint32_t tqi_leaving_next(struct tqi_tx *tx, uint32_t waiter);

/* A walk along some lists of sleepers (bits by number), newest first, whoever is next. */
struct tqi_sleepers {
	uint32_t at[TQI_WAITER_LISTS];
	uint32_t steps;
};
void tqi_sleepers_begin(struct tqi_tx *tx, struct tqi_sleepers *walk, uint32_t lists);
/* 0 the end.  The one that was returned may be popped. */
uint32_t tqi_sleepers_next(struct tqi_tx *tx, struct tqi_sleepers *walk);
/*
 * Pop up to `count` of those on these lists that are called, newest first; fewer when the
 * journal fills.  True when one was.
 */
bool tqi_sleep_call(struct tqi_tx *tx, uint32_t lists, uint32_t count,
		    bool (*is_called)(struct tqi_tx *tx, struct tqi_waiter *slot));

/* The worker that a slot on those lists is of; NULL: it, or the sleeper, is dead. */
const struct tqi_worker *tqi_sleepers_worker(struct tqi_tx *tx, struct tqi_waiter *slot);

#endif
