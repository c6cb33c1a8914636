/* SPDX-License-Identifier: MIT */
/* The tables that the scheduler keeps in a segment, and the fingerprint of their records. */
#include "scheduler/record/records.h"

/* From the first word of its owner's up to the field behind the last one. */
#define OWN(type, first, behind) offsetof(struct type, first), offsetof(struct type, behind)

static const struct tqi_table_spec tables[TQI_TABLE_COUNT] = {
	[TQI_WAITERS] = { "waiters", sizeof(struct tqi_waiter), TQI_WAITERS_MAX,
			  OWN(tqi_waiter, word, attempt) },
	[TQI_TASKS] = { "tasks", sizeof(struct tqi_task), 0, 0, 0 },
	[TQI_ATTEMPTS] = { "attempts", sizeof(struct tqi_attempt), TQI_WORKERS_MAX *TQ_CLAIMS_MAX,
			   OWN(tqi_attempt, pgid_start, serial) },
	[TQI_WORKERS] = { "workers", sizeof(struct tqi_worker), TQI_WORKERS_MAX,
			  OWN(tqi_worker, lease_deadline_ns, command) },
	[TQI_QUEUES] = { "queues", sizeof(struct tqi_queue), TQI_QUEUES_MAX, 0, 0 },
	[TQI_KINDS] = { "kinds", sizeof(struct tqi_kind), TQI_KINDS_MAX, 0, 0 },
	[TQI_CLASSES] = { "classes", sizeof(struct tqi_class), TQI_CLASSES_MAX, 0, 0 },
	[TQI_LANES] = { "lanes", sizeof(struct tqi_lane), TQI_LANES_MAX, 0, 0 },
	[TQI_EDGES] = { "edges", sizeof(struct tqi_edge), 1u << 22, 0, 0 },
	[TQI_KEYS] = { "keys", sizeof(struct tqi_key), 0, 0, 0 },
	[TQI_LIMITS] = { "limits", sizeof(struct tqi_limit), TQI_LIMITS_RECORDS_MAX, 0, 0 },
	[TQI_SCHEDULES] = { "schedules", sizeof(struct tqi_schedule), TQI_SCHEDULES_MAX, 0, 0 },
	[TQI_COMMANDS] = { "commands", sizeof(struct tqi_command), TQI_COMMANDS_MAX, 0, 0 },
	[TQI_TENANTS] = { "tenants", sizeof(struct tqi_tenant), TQI_TENANTS_MAX, 0, 0 },
	[TQI_SERVERS] = { "servers", sizeof(struct tqi_server), TQI_SERVERS_MAX, 0, 0 },
	[TQI_POOLS] = { "pools", sizeof(struct tqi_pool), TQI_POOLS_MAX, 0, 0 },
	[TQI_GROUPS] = { "groups", sizeof(struct tqi_group), TQI_GROUP_RECORDS_MAX, 0, 0 },
	[TQI_TIMES] = { "times", sizeof(struct tqi_times), TQI_TIMES_MAX, 0, 0 },
	[TQI_STREAMS] = { "streams", sizeof(struct tqi_stream), TQI_STREAMS_MAX, 0, 0 },
};

/* Every field that two builds must place alike would be too many: sizes and joints. */
#define FACT(type, field) (sizeof(struct type) * 4096 + offsetof(struct type, field))
#define LAYOUT                                                                                     \
	(FACT(tqi_task, stamp) ^ FACT(tqi_attempt, progress) << 8 ^ FACT(tqi_worker, life) << 16 ^ \
	 FACT(tqi_queue, band_from) << 24 ^ FACT(tqi_class, open) << 28 ^                          \
	 FACT(tqi_lane, tasks) << 32 ^ FACT(tqi_waiter, word) << 36 ^                              \
	 FACT(tqi_root, time.due) << 40 ^ FACT(tqi_key, name) << 44 ^                              \
	 FACT(tqi_limit, needed) << 20 ^ FACT(tqi_schedule, limit_weights) << 12 ^                 \
	 FACT(tqi_command, name) << 6 ^ sizeof(struct tqi_delivery) << 2 ^                         \
	 FACT(tqi_tenant, name) << 10 ^ FACT(tqi_server, name) << 14 ^                             \
	 FACT(tqi_pool, load) << 18 ^ FACT(tqi_group, label) << 22 ^                               \
	 FACT(tqi_stream, next) << 26 ^ FACT(tqi_tournament, first) << 34 ^                        \
	 FACT(tqi_times, of) << 30 ^ sizeof(struct tqi_history) << 38)

const struct tqi_schema tqi_schema = {
	.tables = tables,
	.table_count = TQI_TABLE_COUNT,
	.family_table = { [TQI_FAMILY_LANE] = TQI_TASKS,
			  [TQI_FAMILY_DUE] = TQI_TASKS,
			  [TQI_FAMILY_OPEN] = TQI_LANES,
			  [TQI_FAMILY_AGE] = TQI_TASKS,
			  [TQI_FAMILY_OLDEST] = TQI_LANES,
			  [TQI_FAMILY_WALL] = TQI_TASKS,
			  [TQI_FAMILY_REFILL] = TQI_LIMITS,
			  [TQI_FAMILY_SCHEDULE] = TQI_SCHEDULES,
			  [TQI_FAMILY_FAIR] = TQI_CLASSES,
			  [TQI_FAMILY_LOAD] = TQI_SERVERS,
			  [TQI_FAMILY_ROOM] = TQI_POOLS,
			  [TQI_FAMILY_OWNERS] = TQI_WORKERS },
	.family_count = TQI_FAMILY_COUNT,
	.root_bytes = sizeof(struct tqi_root),
	.fingerprint = LAYOUT,
};
