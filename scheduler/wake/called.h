/* SPDX-License-Identifier: MIT */
/*
 * Sleepers for ends in a group, or for a command's answers, by what they wait for: whoever ends
 * something finds those that wait for it, and meets none of those that wait for other things.
 *
 * CA-1  A listed one is *called* when what it waits for is there: its command has ended, its
 *     group is complete, or has had an end that it has not seen.  Called ones are on the root's
 *     list; others on one of their subject, a group's by whether they wait for its last end.
 * CA-2  An end hands the subject's list over as a whole, so it costs the same however many
 *     wait.
 * CA-3  Called ones are popped a few in each hold, those first that were called first; each
 *     that comes back pops another one (WT-7), and so do looks.
 */
#ifndef TQI_SCHEDULER_WAKE_CALLED_H
#define TQI_SCHEDULER_WAKE_CALLED_H

#include "scheduler/record/records.h"

/* A slot that sleeps for either has just been listed, or is about to leave the list. */
void tqi_called_enter(struct tqi_tx *tx, uint32_t slot);
void tqi_called_leave(struct tqi_tx *tx, uint32_t slot);

/* A listed slot has seen so many ends of its group, or waits for the last one (TQI_GROUP_LAST). */
void tqi_called_seen(struct tqi_tx *tx, uint32_t slot, uint32_t ends);

/* CA-2: what those on this list wait for is there; false: nobody does. */
bool tqi_called_all(struct tqi_tx *tx, struct tqi_waiter_list *subject);

/* The list that a listed slot belongs on now. */
struct tqi_waiter_list *tqi_called_list(struct tqi_tx *tx, const struct tqi_waiter *slot);

#endif
