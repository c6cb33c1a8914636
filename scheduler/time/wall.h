/* SPDX-License-Identifier: MIT */
/*
 * What waits for the wall clock.  A heap of its own, by times of that clock: a step
 * changes none of its keys, only which of them have come.  tx->wall_ns is read with the
 * lock when anything is in it; the due heap and all else go by the monotonic clock.
 */
#ifndef TQI_SCHEDULER_TIME_WALL_H
#define TQI_SCHEDULER_TIME_WALL_H

#include "scheduler/record/records.h"

/* Whether anything waits for the wall clock: then every hold reads it. */
static inline bool tqi_wall_is_needed(const struct tqi_root *root)
{
	return (root->time.wall.length | root->time.crons) != 0;
}

/* Earliest appointment, by the wall clock; UINT64_MAX none. */
uint64_t tqi_wall_next(struct tqi_tx *tx);
/* Whether one has come. */
static inline bool tqi_wall_is_due(struct tqi_tx *tx)
{
	return tqi_root(tx)->time.wall.length && tqi_wall_next(tx) <= tx->wall_ns;
}

/* Room for one more unfinished task with an appointment.  -ENOMEM. */
int tqi_wall_reserve(struct tqi_tx *tx);
/* Whether a task that would be startable must wait for the wall clock instead. */
bool tqi_wall_is_ahead(struct tqi_tx *tx, const struct tqi_task *task);
/* A delayed task waits for its at_ns; it does so no longer. */
void tqi_wall_enter(struct tqi_tx *tx, uint32_t task);
void tqi_wall_leave(struct tqi_tx *tx, uint32_t task);
/* A task has ended: it needs no room any more. */
void tqi_wall_ended(struct tqi_tx *tx, const struct tqi_task *task);
/* An unfinished one gets no appointment after all. */
void tqi_wall_cancel(struct tqi_tx *tx, struct tqi_task *task);
/* For a new life: the old one's appointment is over. */
void tqi_wall_renew(struct tqi_tx *tx, struct tqi_task *task);

#endif
