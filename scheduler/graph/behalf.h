/* SPDX-License-Identifier: MIT */
/*
 * On whose behalf a sleeper waits: a handler's wait, or that of a process inside a
 * command, is the wait of the attempt that it works for.
 *
 * WO-1  A slot names an attempt's record and its life; it waits on that attempt's behalf
 *     <=>  the record's waits_life is the same  <=>  the slot is on the attempt's list.
 * WO-2  The attempt's end makes its life another one and forgets the list, however long it
 *     is: its slots, still linked to each other, then wait on nobody's behalf.
 * WO-3  A worker's `waiting` is the number of its attempts with a list.
 * WO-4  Its master is woken in the transaction in which an attempt begins to wait, or waits
 *     no more: an attempt that waits does not count as one that runs (E9).
 */
#ifndef TQI_SCHEDULER_GRAPH_BEHALF_H
#define TQI_SCHEDULER_GRAPH_BEHALF_H

#include "scheduler/record/records.h"

/* The slot, new in this transaction, waits on this attempt's behalf; 0: nobody's. */
void tqi_behalf_enter(struct tqi_tx *tx, uint32_t waiter, uint32_t attempt);
/* The slot is about to be freed. */
void tqi_behalf_leave(struct tqi_tx *tx, uint32_t waiter);
/* The attempt is about to be freed. */
void tqi_behalf_end(struct tqi_tx *tx, uint32_t attempt);
/* The attempt on whose behalf the slot waits; 0 nobody's. */
static inline uint32_t tqi_behalf_of(struct tqi_tx *tx, uint32_t waiter)
{
	const struct tqi_waiter *slot = tqi_waiter_at(tx, waiter);

	if (!slot->attempt)
		return 0;
	return tqi_attempt_at(tx, slot->attempt)->waits_life == slot->attempt_life ? slot->attempt
										   : 0;
}

#endif
