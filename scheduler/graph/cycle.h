/* SPDX-License-Identifier: MIT */
/*
 * Waits that can never end, because in the end their own task would have to end first.
 *
 * A task gets on when nobody waits on its attempt's behalf, or when one of those waits
 * ends; BLOCKED, when all tasks do whose end it waits for, a completion task when all
 * unfinished members of its group do; the task that is to wait does not.  A wait for all
 * ends when all of its tasks get on, a wait for any when one does, and one that a state
 * other than a final one would end always does.  A wait for a group is one for all of its
 * unfinished members; for its next end, for any of them, once it is sealed.  What is beyond
 * a bounded search gets on: a wait is refused only when it is certain not to end.  Time
 * limits do not count: what only a time limit could end is refused, too.
 */
#ifndef TQI_SCHEDULER_GRAPH_CYCLE_H
#define TQI_SCHEDULER_GRAPH_CYCLE_H

#include "scheduler/record/records.h"

/* Bits of the subject of a slot that waits for tasks, beside the states that it wants. */
#define TQI_WAIT_ANY (1u << 16)	   /* any one of them will do */
#define TQI_WAIT_ADDING (1u << 17) /* not all of its edges are there yet */

/* The slot has all its edges: no more than by this it is complete. */
void tqi_cycle_ready(struct tqi_tx *tx, uint32_t waiter);
/* Whether the slot, on behalf of an attempt and complete, would never end its wait. */
bool tqi_cycle_closes(struct tqi_tx *tx, uint32_t waiter);
/*
 * Whether a task, BLOCKED, would never get on: what it comes after waits for it, which
 * sequences do not tell of completion tasks, older than members of their groups.
 */
bool tqi_cycle_blocks(struct tqi_tx *tx, uint32_t task);

#endif
