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

/* Take a listed one from its lists and wake it; its owner will come. */
void tqi_sleep_pop(struct tqi_tx *tx, uint32_t waiter);
/* A slot, of whomever, is about to leave its lists, if it is on any. */
void tqi_sleep_unlist(struct tqi_tx *tx, uint32_t waiter);

/* A round of those that may leave: its first one, and who follows; 0 it is over. */
uint32_t tqi_leaving_first(struct tqi_tx *tx);
uint32_t tqi_leaving_next(struct tqi_tx *tx, uint32_t waiter);

/* The worker that a slot asleep for work is of; NULL: it, or the sleeper, is dead. */
const struct tqi_worker *tqi_sleepers_worker(struct tqi_tx *tx, struct tqi_waiter *slot);

#endif
