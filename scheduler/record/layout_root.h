/* SPDX-License-Identifier: MIT */
/*
 * What is one per segment.  All of it is written in transactions, under the lock, but for the
 * flag TQI_ROOT_REPAIR; observers read it as they read records.
 */
#ifndef TQI_SCHEDULER_RECORD_LAYOUT_ROOT_H
#define TQI_SCHEDULER_RECORD_LAYOUT_ROOT_H

#include "scheduler/record/layout_graph.h"
#include "scheduler/record/tables.h"
#include "shm/hash.h"
#include "shm/heap.h"

/* A bit per queue record; journalled (scheduler/record/queue_set.h). */
struct tqi_queue_set {
	uint64_t bits[(TQI_QUEUES_MAX + 1) / 64];
};

/* flags of the root */
#define TQI_ROOT_SHUTDOWN (1u << 0)
#define TQI_ROOT_CANCEL (1u << 1) /* shutdown with cancel: also groups are cancelled (GR-9) */
#define TQI_ROOT_DESTROYED (1u << 2)
#define TQI_ROOT_KINDS (1u << 4) /* set_kinds is not 0 */
#define TQI_ROOT_REPAIR (1u << 3) /* a rebuild is under way, set plainly; all else waits for it */

/* Final records that may be evicted, by when they ended. */
struct tqi_finished {
	uint32_t oldest;
	uint32_t newest;
	uint32_t count;
};

/* Tasks whose edges are being gone through (ED-3). */
struct tqi_telling {
	uint32_t first;
	uint32_t last;
};

/* The sweep over all tasks. */
struct tqi_sweep {
	uint32_t at;	/* next task index */
	uint32_t left;	/* records still to look at; 0 nothing is being swept */
	uint32_t count; /* records when it last went on: newer ones add to `left` */
	uint32_t reserved0;
	uint64_t cancel_before; /* as a queue's purge_before, for shutdown with cancel */
};

/* Queues with TQI_QUEUE_MOVING. */
struct tqi_moving {
	uint32_t count;
	uint32_t at; /* the one that a round of the sweep looks at next; 0 none */
	struct tqi_queue_set queues;
};

/* Queues with carry_at. */
struct tqi_carrying {
	uint32_t count;
	uint32_t reserved0;
	struct tqi_queue_set queues;
};

/* Tasks whose worth is to be looked at (scheduler/graph/inherit.h). */
struct tqi_stale {
	uint32_t first;
	uint32_t last;
	uint32_t stuck;	 /* 1: the last slice wanted for memory; till the next look */
	uint32_t stage;	 /* of the first one: its edges are being walked ... */
	uint32_t cursor; /* ... and this is the next one; 0 none is left */
	int32_t best;	 /* counting: the best so far */
	uint64_t best_deadline_ns;
	uint16_t best_hops;
	uint16_t best_deadline_hops;
	uint32_t reserved0;
};

/* What comes by a clock. */
struct tqi_clocks {
	uint32_t appointments; /* unfinished tasks with at_ns: `wall` has room for all */
	uint32_t schedules;
	uint32_t crons; /* of them by cron: then every hold reads the wall clock */
	uint32_t anew; /* schedules up to this one begin anew by wall_seen_ns; 0 none */
	struct tqi_heap due; /* it has room for all unfinished tasks */
	struct tqi_heap wall;
	struct tqi_heap every; /* schedules by the monotonic clock, and */
	struct tqi_heap cron;  /* by the wall clock (SC-2); either has room for all */
	uint64_t sequence;     /* of the next schedule */
	uint64_t wall_seen_ns; /* the wall clock some time ago: has it been set back by much? */
};

struct tqi_throttle {
	uint32_t rates;	   /* limits with a rate: `refills` has room for all of them */
	uint32_t loosened; /* list of limits with room whose closed parkings are to be opened */
	struct tqi_heap refills; /* limits that are waited for, by their next token */
};

/* Operators' commands. */
struct tqi_mail {
	uint64_t change;   /* +1 whenever a delivery comes to be there for the taking */
	uint64_t sequence; /* of the last command */
	uint32_t oldest;   /* open ones */
	uint32_t newest;
	uint32_t open;
	uint32_t ended_oldest;
	uint32_t ended_newest;
	uint32_t ended_count;
	uint32_t waiters; /* sleepers that wait for answers */
	uint32_t calling; /* the open one that calls its recipients now (CO-1); 0 none does */
	uint32_t anybody; /* open ones for anybody that nobody has taken (CO-2) */
	uint32_t reserved0;
};

/* Records by their names. */
struct tqi_indexes {
	struct tqi_hash_index keys; /* held unique keys, by queue and name */
	struct tqi_hash_index limits;
	struct tqi_hash_index lanes;   /* with limits, and parkings: by class and limits */
	struct tqi_hash_index tenants; /* by queue and name */
	struct tqi_hash_index servers; /* likewise */
	struct tqi_hash_index pools;   /* by queue and pattern */
	struct tqi_hash_index queues;  /* each record that is in use is in it once */
	struct tqi_hash_index kinds;   /* likewise */
	struct tqi_hash_index schedules; /* each that has a name */
};

struct tqi_group_lists {
	uint32_t closing; /* GR-9: the groups up to this one are still to be; 0 none */
	uint32_t cursor;  /* the next owned one to be looked at; 0 the first */
	struct tqi_group_ends owned; /* GR-7 */
	/* Complete and released, by when that was; who was passed over is behind (retirement). */
	struct tqi_group_ends ended;
	uint32_t busy; /* GR-8; those that wait longest for their turn first */
	uint32_t busy_last;
	uint32_t waiters; /* sleepers that wait for groups */
	uint32_t reserved0;
};

/* Submitters asleep for room (scheduler/wake/room.h). */
struct tqi_room {
	uint32_t oldest; /* those that wait for no queue's */
	uint32_t newest;
	uint32_t turn;	 /* queue that was served last */
	uint32_t again;	 /* 1: the last search was cut off; a keeper goes on */
	struct tqi_queue_set queues; /* with submitters asleep, unless it was found full */
};

struct tqi_root {
	uint64_t sequence;   /* of the next task */
	uint32_t flags;
	uint32_t unfinished; /* tasks not final: the due heap has room for all of them */
	uint32_t ready;	     /* in lane heaps */
	uint32_t running;
	struct tqi_finished finished;
	struct tqi_telling telling;
	uint32_t untidy; /* work has ended since somebody last looked for memory to give back */
	uint32_t assigned;	/* tasks assigned to workers */
	uint32_t dying_workers; /* somebody must look at them again */
	struct tqi_sweep sweep;

	uint64_t retention_ns;
	uint64_t look_ns;     /* last look of a keeper */
	uint64_t unbroken_ns; /* since when looks have followed each other without a gap */
	uint64_t reclaimed;
	uint64_t evicted;
	uint64_t seed; /* of back-off jitter */
	uint32_t worker_cursor; /* where the next look goes on */
	uint32_t waiter_cursor; /* wait slot that was last looked at for its owner's death */
	uint32_t room_waiters;	/* submitters asleep for want of room */
	uint32_t empty_workers; /* registered workers that leave when nothing is left */
	uint32_t leaving_at;	/* a sleeper: where the round of those that may leave stands ... */
	uint32_t leaving_again; /* ... and 1: it is to begin anew at its end (LV-1) */
	uint32_t queues_at;	/* where the next search for an unused queue begins (UN-2) ... */
	uint32_t kinds_at;	/* ... and one for a kind */
	uint32_t set_kinds;	/* kinds with defaults */
	uint32_t reserved0;
	struct tqi_clocks time;
	struct tqi_throttle limit;
	struct tqi_stale stale;
	struct tqi_moving moving;
	struct tqi_carrying carrying;
	struct tqi_group_lists group;
	struct tqi_mail command;
	struct tqi_indexes named;
	struct tqi_heap owners; /* workers with assigned tasks: it has room for all workers */
	struct tqi_queue_set asleep_queues; /* queues that workers are asleep for */
	struct tqi_queue_set busy_queues;   /* with streams that count as busy (RC-13) */
	struct tqi_room room;
	struct tqi_waiter_list called; /* sleepers whose wait is over (CA-1) */
};

#endif
