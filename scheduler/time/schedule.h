/* SPDX-License-Identifier: MIT */
/*
 * Schedules: what makes tasks at certain times.
 *
 * SC-1  One of `every` counts on the monotonic clock, in a grid from its start; one of cron
 *     goes by the wall clock, in the zone that it keeps.  next_ns is the first time of
 *     its clock for which no decision has been made.
 * SC-2  A schedule that is not paused is in exactly one heap: by next_ns, that of its
 *     clock; or, while a run is owed and nothing is in its way but room, the monotonic
 *     one, by retry_ns.
 * SC-3  Times that have come are turned into owed runs, at most catch_up of them: the rest
 *     is skipped.  With overlap `skip` none is owed for a time at which the last run has
 *     not ended.
 * SC-4  An owed run is made when the last run has ended, in one transaction with all that
 *     says so: never twice, never lost.  Without room it stays owed.
 * SC-5  A name is of one schedule.  Making another one of that name replaces it: id, runs so
 *     far, a pause, and the grid of equal times that stay so far apart are kept; what was
 *     owed is not.
 */
#ifndef TQI_SCHEDULER_TIME_SCHEDULE_H
#define TQI_SCHEDULER_TIME_SCHEDULE_H

#include "scheduler/time/cron.h"
#include "scheduler/record/records.h"

/* A checked request to make one. */
struct tqi_schedule_request {
	const struct tq_task_spec *spec; /* of its runs; queue and kind are set */
	const char *name;		 /* valid; NULL none */
	uint64_t every_ns;		 /* 0: cron */
	const char *cron_text;
	const struct tqi_cron *cron;
	const char *zone_name;
	const struct tqi_zone *zone;
	uint32_t overlap;
	uint32_t catch_up;
};

/*
 * 0; 1 it has replaced the one of its name (SC-5); TQ_EFULL a table is full; -ENOMEM.  After an
 * error the transaction must be aborted.
 */
int tqi_schedule_make(struct tqi_tx *tx, const struct tqi_schedule_request *request,
		      uint64_t *ret_id);
/* 0, TQ_EGONE removed, -ENOENT never was. */
int tqi_schedule_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index);
int tqi_schedule_pause(struct tqi_tx *tx, uint64_t id, bool pause);
int tqi_schedule_remove(struct tqi_tx *tx, uint64_t id);

/* Earliest time to look at one, by each clock; UINT64_MAX none. */
static inline uint64_t tqi_schedule_next(const struct tqi_root *root)
{
	return root->time.every.length ? (uint64_t)root->time.every.root.key : UINT64_MAX;
}
static inline uint64_t tqi_schedule_next_by_wall(const struct tqi_root *root)
{
	return root->time.cron.length ? (uint64_t)root->time.cron.root.key : UINT64_MAX;
}
/* Whether one of them has come. */
static inline bool tqi_schedule_is_due(const struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	return tqi_schedule_next(root) <= tx->now_ns ||
	       (root->time.cron.length && tqi_schedule_next_by_wall(root) <= tx->wall_ns);
}

/* Whether the next to be looked at found no memory for its run the last time. */
bool tqi_schedule_wants_memory(struct tqi_tx *tx);
/* Some has been made: try that one again now. */
void tqi_schedule_hurry(struct tqi_tx *tx);

/* A run has ended for good. */
void tqi_schedule_ended(struct tqi_tx *tx, uint32_t task);

/* Where things are in its block. */
struct tqi_schedule_parts {
	uint64_t label; /* then a NUL, as behind all texts */
	uint64_t key;
	uint64_t fair;
	uint64_t limits;
	uint64_t cron_text;
	uint64_t zone_name;
	uint64_t cron; /* struct tqi_cron, then struct tqi_zone */
	uint64_t bytes; /* of all */
};
struct tqi_schedule_parts tqi_schedule_parts(const struct tqi_schedule *schedule);

#endif
