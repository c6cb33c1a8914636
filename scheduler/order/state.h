/* SPDX-License-Identifier: MIT */
/* The state of a task: which transitions there are, and what is counted and told of each. */
#ifndef TQI_SCHEDULER_ORDER_STATE_H
#define TQI_SCHEDULER_ORDER_STATE_H

#include "scheduler/record/records.h"

/* Whether a transition is legal; the one table of them. */
bool tqi_transition_is_legal(uint32_t from, uint32_t to);

/*
 * Change the state and every gauge that depends on it, and count what begins or ends by it, a
 * life above all; the stream that counts.  Of those whose slot's subject wants a state that is not final, some
 * are woken.
 */
struct tqi_stream *tqi_task_move(struct tqi_tx *tx, uint32_t index, uint32_t to);
/* The same from its state, by way of one that is recorded, and in no gauge: a final one, to free. */
struct tqi_pass;
struct tqi_stream *tqi_task_pass(struct tqi_tx *tx, uint32_t index, const struct tqi_pass *pass);

#endif
