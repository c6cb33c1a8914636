/* SPDX-License-Identifier: MIT */
/* The root, and records by their index. */
#ifndef TQI_SCHEDULER_RECORD_ROOT_H
#define TQI_SCHEDULER_RECORD_ROOT_H

#include "scheduler/record/layout_graph.h"
#include "scheduler/record/layout_limit.h"
#include "scheduler/record/layout_order.h"
#include "scheduler/record/layout_root.h"
#include "scheduler/record/layout_task.h"
#include "scheduler/record/layout_time.h"
#include "scheduler/record/layout_worker.h"

extern const struct tqi_schema tqi_schema;

static inline struct tqi_root *tqi_root(const struct tqi_tx *tx)
{
	return tx->root;
}

#define TQI_RECORD(name, type, table)                                                              \
	static inline struct type *name(struct tqi_tx *tx, uint32_t index)                         \
	{                                                                                          \
		return tqi_table_at(tx, table, index);                                             \
	}
TQI_RECORD(tqi_task_at, tqi_task, TQI_TASKS)
TQI_RECORD(tqi_attempt_at, tqi_attempt, TQI_ATTEMPTS)
TQI_RECORD(tqi_worker_at, tqi_worker, TQI_WORKERS)
TQI_RECORD(tqi_queue_at, tqi_queue, TQI_QUEUES)
TQI_RECORD(tqi_kind_at, tqi_kind, TQI_KINDS)
TQI_RECORD(tqi_class_at, tqi_class, TQI_CLASSES)
TQI_RECORD(tqi_lane_at, tqi_lane, TQI_LANES)
TQI_RECORD(tqi_edge_at, tqi_edge, TQI_EDGES)
TQI_RECORD(tqi_key_at, tqi_key, TQI_KEYS)
TQI_RECORD(tqi_limit_at, tqi_limit, TQI_LIMITS)
TQI_RECORD(tqi_schedule_at, tqi_schedule, TQI_SCHEDULES)
TQI_RECORD(tqi_command_at, tqi_command, TQI_COMMANDS)
TQI_RECORD(tqi_tenant_at, tqi_tenant, TQI_TENANTS)
TQI_RECORD(tqi_server_at, tqi_server, TQI_SERVERS)
TQI_RECORD(tqi_pool_at, tqi_pool, TQI_POOLS)
TQI_RECORD(tqi_group_at, tqi_group, TQI_GROUPS)
TQI_RECORD(tqi_times_at, tqi_times, TQI_TIMES)
TQI_RECORD(tqi_stream_at, tqi_stream, TQI_STREAMS)
#undef TQI_RECORD

#endif
