/* SPDX-License-Identifier: MIT */
/* The root, and records by their index. */
#ifndef TQI_SCHEDULER_RECORD_ROOT_H
#define TQI_SCHEDULER_RECORD_ROOT_H

#include "scheduler/record/layout_graph.h"
#include "scheduler/record/layout_limit.h"
#include "scheduler/record/layout_order.h"
#include "scheduler/record/layout_task.h"
#include "scheduler/record/layout_time.h"
#include "scheduler/record/layout_worker.h"

/* A bit per queue record; journalled (scheduler/record/queue_set.h). */
struct tqi_queue_set {
	uint64_t bits[(TQI_QUEUES_MAX + 1) / 64];
};

/* flags of the root */
#define TQI_ROOT_SHUTDOWN (1u << 0)
#define TQI_ROOT_CANCEL (1u << 1) /* shutdown with cancel: also groups are cancelled (GR-9) */
#define TQI_ROOT_DESTROYED (1u << 2)
#define TQI_ROOT_REPAIR (1u << 3) /* plain store: a rebuild is under way; all else waits for it */

/* What is one per segment. */
struct tqi_root {
	uint64_t sequence;   /* of the next task */
	uint32_t flags;
	uint32_t unfinished; /* tasks not final: the due heap has room for all of them */
	uint32_t ready;	     /* in lane heaps */
	uint32_t running;
	uint32_t finished_oldest; /* evictable records, by when they ended */
	uint32_t finished_newest;
	uint32_t finished_count;
	uint32_t telling;    /* list of tasks whose edges are being gone through (ED-3) */
	uint32_t sweep_at;   /* next task index of the sweep */
	uint32_t sweep_left; /* records still to look at; 0 nothing is being swept */
	uint64_t cancel_before; /* as a queue's purge_before, for shutdown with cancel */

	uint64_t retention_ns;
	uint64_t look_ns;     /* last look of a keeper */
	uint64_t unbroken_ns; /* since when looks have followed each other without a gap */
	uint64_t reclaimed;
	uint64_t evicted;
	uint64_t seed; /* of back-off jitter */
	uint32_t worker_cursor; /* where the next look goes on */
	uint32_t room_waiters;	/* submitters asleep for want of room */
	uint32_t empty_workers; /* registered workers that leave when nothing is left */
	uint32_t
		sweep_count; /* records when the sweep last went on: newer ones add to sweep_left */
	uint32_t untidy; /* work has ended since somebody last looked for memory to give back */
	uint32_t dying_workers; /* somebody must look at them again */
	uint32_t moving; /* queues with TQI_QUEUE_MOVING */
	uint32_t appointments; /* unfinished tasks with at_ns: the wall heap has room for all */
	uint32_t assigned; /* tasks assigned to workers */
	uint32_t loosened; /* list of limits with room whose closed parkings are to be opened */
	struct tqi_heap due;
	struct tqi_heap wall;
	struct tqi_heap every; /* schedules by the monotonic clock, and */
	struct tqi_heap cron;  /* by the wall clock (SC-2); either has room for all */
	uint32_t schedules;
	uint32_t crons; /* of them by cron: then every hold reads the wall clock */
	uint64_t schedule_sequence; /* of the next one */
	uint64_t wall_seen_ns; /* the wall clock some time ago: has it been set back by much? */
	uint32_t anew; /* schedules up to this one begin anew by it; 0 none */
	uint32_t rates; /* limits with a rate: `refills` has room for all of them */
	struct tqi_hash_index keys; /* held unique keys, by queue and name */
	struct tqi_hash_index limits; /* by name */
	struct tqi_hash_index lanes;  /* with limits, and parkings: by class and limits */
	struct tqi_heap refills;      /* limits that are waited for, by their next token */
	uint64_t command_change;    /* +1 whenever a delivery comes to be there for the taking */
	uint64_t command_sequence;  /* of the last command */
	uint32_t commands_oldest;   /* open ones */
	uint32_t commands_newest;
	uint32_t commands_open;
	uint32_t ended_oldest; /* ended ones */
	uint32_t ended_newest;
	uint32_t ended_count;
	uint32_t command_waiters; /* sleepers that wait for answers */
	uint32_t carrying; /* queues with carry_at */
	uint32_t telling_last;
	struct tqi_hash_index tenants; /* by queue and name */
	struct tqi_hash_index servers; /* likewise */
	struct tqi_hash_index pools;   /* by queue and pattern */
	struct tqi_hash_index queues;  /* by name: each record that is in use is in it once */
	struct tqi_hash_index kinds;   /* likewise */
	struct tqi_hash_index named_schedules; /* by name: each that has one */
	uint32_t reserved1;
	struct tqi_queue_set moving_queues; /* those with TQI_QUEUE_MOVING ... */
	uint32_t moving_at; /* ... and the one that a round of the sweep looks at next; 0 none */
	uint32_t reserved0;
	struct tqi_queue_set carrying_queues; /* those with carry_at */
	struct tqi_heap owners; /* workers with assigned tasks: it has room for all workers */
	uint32_t stale_first; /* tasks whose worth is to be looked at (scheduler/graph/inherit.h) */
	uint32_t stale_last;
	uint32_t stale_stuck; /* 1: the last slice wanted for memory; till the next look */
	uint32_t stale_stage; /* of the first one: its edges are being walked ... */
	uint32_t stale_cursor; /* ... and this is the next one; 0 none is left */
	int32_t stale_best;	/* counting: the best so far */
	uint64_t stale_best_deadline_ns;
	uint16_t stale_best_hops;
	uint16_t stale_best_deadline_hops;
	uint32_t groups_closing; /* GR-9: the groups up to this one are still to be; 0 none */
	struct tqi_group_ends groups_owned; /* GR-7 */
	/* Complete and released, by when that was; who was passed over is behind (retirement). */
	struct tqi_group_ends groups_ended;
	uint32_t groups_busy; /* GR-8; those that wait longest for their turn first */
	uint32_t groups_busy_last;
	uint32_t groups_cursor; /* the next owned one to be looked at; 0 the first */
	uint32_t group_waiters; /* sleepers that wait for groups */
	uint32_t waiter_cursor; /* wait slot that was last looked at for its owner's death */
	uint32_t asleep_queues; /* queues that workers are asleep for */
};

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
