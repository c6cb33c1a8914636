/* SPDX-License-Identifier: MIT */
/* Records of schedules (scheduler/record/records.h has the rules). */
#ifndef TQI_SCHEDULER_RECORD_LAYOUT_TIME_H
#define TQI_SCHEDULER_RECORD_LAYOUT_TIME_H

#include "scheduler/record/tables.h"
#include "shm/hash.h"

/* flags of a schedule */
#define TQI_SCHEDULE_PAUSED TQ_SCHEDULE_PAUSED
#define TQI_SCHEDULE_LIVE (1u << 16) /* the record is in use */

/*
 * A schedule (scheduler/time/schedule.h), with what its runs are made of.  The block has
 * payload, label, unique key, expression, the zone's name, and for cron the expression
 * and the zone as they are computed with.
 */
struct tqi_schedule {
	struct tqi_hash_node node; /* in the root's index of schedules, if it has a name (SC-5) */
	uint64_t generation; /* with the index: the id */
	uint64_t sequence;   /* order of making; of one that was replaced, of that */
	uint64_t every_ns;   /* 0: cron */
	uint64_t next_ns;    /* SC-1 */
	uint64_t retry_ns;   /* monotonic: when to try to make what is owed; 0 as next_ns says */
	uint64_t last_run;   /* id of a task; 0 none */

	uint64_t made_ns;
	uint64_t last_run_ns; /* when the last run was made; 0 never */
	uint64_t runs;	      /* made */
	uint64_t skipped;     /* times without a run, at least */
	uint32_t overlap;     /* enum tq_overlap */
	uint32_t catch_up;
	uint32_t owed;	    /* at most catch_up */
	int32_t last_error; /* why the last try to make a run failed; 0 it did not */
	uint32_t block;
	uint32_t payload_bytes;
	uint8_t label_bytes;
	uint8_t key_bytes;
	uint8_t cron_bytes; /* of the expression */
	uint8_t zone_bytes; /* of the zone's name */
	uint32_t zone_changes;

	uint64_t delay_ns; /* these as in struct tq_task_spec, 0 the default */
	uint64_t timeout_ns;
	uint64_t timeout_total_ns;
	uint64_t progress_timeout_ns;
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	uint64_t deadline_ns;
	int32_t priority;
	uint32_t attempts_max;
	uint32_t crashes_max;
	uint32_t losses_max;
	uint32_t task_flags;
	uint32_t unique_scope;
	uint32_t queue; /* record */
	uint32_t kind;
	uint32_t limit_count;
	uint32_t limit_bytes; /* of the limit keys, each with a NUL behind it */
	uint32_t fair_bytes;  /* of the fair key */
	uint32_t flags;
	char name[TQ_NAME_MAX + 8]; /* NUL-terminated; "" none */
	uint32_t limit_weights[TQ_LIMITS_MAX]; /* of the limit keys, in their order; then 0 */
};
_Static_assert(sizeof(struct tqi_schedule) == 320, "five cache lines");

#endif
