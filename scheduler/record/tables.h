/* SPDX-License-Identifier: MIT */
/* Tables and families: which records there are, and how many at most. */
#ifndef TQI_SCHEDULER_RECORD_TABLES_H
#define TQI_SCHEDULER_RECORD_TABLES_H

#include "shm/heap.h"
#include "shm/layout.h"
#include "shm/wait.h"
#include "taskq/taskq.h"

#define TQI_QUEUES_MAX 1023
#define TQI_KINDS_MAX 255
#define TQI_WORKERS_MAX 4096
#define TQI_WAITERS_MAX 8192
#define TQI_CLASSES_MAX (1u << 18)
#define TQI_LANES_MAX (1u << 20)
#define TQI_LIMITS_RECORDS_MAX (1u << 18)
#define TQI_SCHEDULES_MAX 4096
#define TQI_COMMANDS_MAX 1024 /* open and ended */
#define TQI_TENANTS_MAX (1u << 18)
#define TQI_SERVERS_MAX (1u << 16)
#define TQI_POOLS_MAX (1u << 16)
#define TQI_GROUP_RECORDS_MAX (1u << 16) /* complete ones make room for others */
#define TQI_TIMES_MAX (1u << 16)	 /* streams beyond count, and keep no times */
#define TQI_STREAMS_MAX (1u << 18)
#define TQI_GENERATION_MAX ((1ull << 40) - 1) /* then the slot is retired */

/* One per table, in the order of the schema. */
enum tqi_table_id {
	TQI_WAITERS = TQI_TABLE_WAITERS,
	TQI_TASKS,
	TQI_ATTEMPTS,
	TQI_WORKERS,
	TQI_QUEUES,
	TQI_KINDS,
	TQI_CLASSES,
	TQI_LANES,
	TQI_EDGES,
	TQI_KEYS,
	TQI_LIMITS,
	TQI_SCHEDULES,
	TQI_COMMANDS,
	TQI_TENANTS,
	TQI_SERVERS,
	TQI_POOLS,
	TQI_GROUPS,
	TQI_TIMES,
	TQI_STREAMS,
	TQI_TABLE_COUNT,
};

enum tqi_family {
	TQI_FAMILY_LANE, /* tasks in their lane, by key */
	TQI_FAMILY_DUE,	 /* tasks by the next time to look at them */
	TQI_FAMILY_OPEN, /* lanes and parkings in their class, or parked; by their first task */
	TQI_FAMILY_AGE,	 /* tasks in their lane, by the time when they became ready */
	TQI_FAMILY_OLDEST, /* the same by their oldest task */
	TQI_FAMILY_WALL, /* tasks by the wall-clock time before which they do not start */
	TQI_FAMILY_REFILL, /* limits that are waited for, by when their next token comes */
	TQI_FAMILY_SCHEDULE, /* schedules by the next time to look at them; of each in one heap */
	TQI_FAMILY_FAIR, /* tenants' classes in their stream, by the tenant's tag */
	TQI_FAMILY_LOAD, /* servers in their pool, by attempts under way */
	TQI_FAMILY_ROOM, /* pools with room in their queue's home pool, by their first server */
	TQI_FAMILY_OWNERS, /* workers with assigned tasks, those with most first */
	TQI_FAMILY_COUNT,
};

#endif
