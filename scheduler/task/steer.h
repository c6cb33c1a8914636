/* SPDX-License-Identifier: MIT */
/* What operators do to single tasks, and to the segment. */
#ifndef TQI_SCHEDULER_TASK_STEER_H
#define TQI_SCHEDULER_TASK_STEER_H

#include "scheduler/record/records.h"

/* All: 0 or as the public functions say; -ENOMEM grow and try again; after an error abort. */

/* 0 cancelled, 1 being stopped. */
int tqi_steer_cancel(struct tqi_tx *tx, uint64_t id);
/* The same with all that depends on it, when it has ended. */
int tqi_steer_cancel_dependants(struct tqi_tx *tx, uint64_t id);
/* The same of a record that is not final. */
int tqi_steer_cancel_task(struct tqi_tx *tx, uint32_t task);
int tqi_steer_hold(struct tqi_tx *tx, uint64_t id, bool hold);
int tqi_steer_retry(struct tqi_tx *tx, uint64_t id);
/* The same with those that its end has cancelled; in slices, it starts when all are revived. */
int tqi_steer_revive(struct tqi_tx *tx, uint64_t id);
int tqi_steer_forget(struct tqi_tx *tx, uint64_t id);
int tqi_steer_update(struct tqi_tx *tx, uint64_t id, const struct tq_task_update *update);

/* Shut down (TQ_SHUTDOWN_*). */
void tqi_steer_shutdown(struct tqi_tx *tx, uint32_t flags);
/* The segment is being destroyed: everybody's calls answer TQ_ESHUTDOWN. */
void tqi_steer_destroy(struct tqi_tx *tx);

#endif
