/* SPDX-License-Identifier: MIT */
/* Who waits for which task.  An edge pins the task's record until the waiter drops it. */
#ifndef TQI_SCHEDULER_EDGE_H
#define TQI_SCHEDULER_EDGE_H

#include "scheduler/records.h"

/* False: no memory, or too many of them. */
bool tqi_edge_add(struct tqi_tx *tx, uint32_t waiter, uint32_t task);
/* Drop up to `count` of a waiter's edges; true when none is left. */
bool tqi_edge_drop(struct tqi_tx *tx, uint32_t waiter, uint32_t count);
/* The task is in another state, not final: wake (some of) those whose slot's subject wants it. */
void tqi_edge_notify(struct tqi_tx *tx, uint32_t task, uint32_t state);
/* The task is final: wake those who wait for it, the rest in later slices. */
void tqi_edge_tell(struct tqi_tx *tx, uint32_t task);
/* One slice of telling the rest; true when something is left. */
bool tqi_edge_tell_slice(struct tqi_tx *tx);

#endif
