/* SPDX-License-Identifier: MIT */
/*
 * The records of the scheduler, as they lie in the segment.
 *
 * Unless a field's comment says otherwise: written in transactions under the
 * lock, journalled, read under the lock and by observers; a crash half-way leaves
 * the old values after rollback.  References are record indices, 0 = none.
 *
 * RC-1  Task records are the truth.  Heaps, lists, streams' depths and the root's
 *     gauges can be rebuilt from them by one scan (scheduler/rebuild/rebuild.c).
 * RC-2  state == RUNNING  <=>  attempt != 0  <=>  one attempt record names this task.  Of a
 *     free record `attempt` means nothing.
 * RC-3  state == READY and neither held nor assigned  <=>  the task is in its lane's heap;
 *     where the class is aged, in the lane's other heap, too.  Assigned => READY, and on
 *     the list of one worker.
 * RC-4  in the due heap  <=>  state is DELAYED by the monotonic clock, or RUNNING with a
 *     time to watch, or waiting once more with a time-out in all, or the task has a
 *     deadline that has not been noticed to have passed.  One entry a task, by the
 *     earliest of its times.
 *     in the wall heap  <=>  DELAYED by the wall clock  <=>  DELAYED with due_ns
 *     UINT64_MAX; its key is the task's at_ns, and no step of the clock changes it.
 * RC-5  A final task has no attempt; it is on the finished list unless pinned.
 * RC-6  epoch grows by one with each attempt; a claim carries the epoch it was given.
 * RC-7  A key is in the index  <=>  its record says held  =>  no other key of its queue
 *     has its name.  Its task is then: waiting and never started (scope queued),
 *     unfinished (active), anything (kept), unfinished and no successor (coalesce).
 *     A successor is BLOCKED, and one held key of the same name names it.
 * RC-8  A limit's `used` and `waiting` are what the tasks that name it add up to; an
 *     unfinished task is in the lane of its class and its limits (scheduler/order/lane.h).
 * RC-9  A delivery is TAKEN  <=>  its worker's `command` names its command.  A command is
 *     OPEN, and on that list by sequence, while a delivery of it is unanswered; else it is
 *     on the list of the ended ones.  command_seen == the root's command_change  =>
 *     nothing waits that the worker could take.
 * RC-10  In a fair queue an unfinished task of the queue's era is in a class of its tenant,
 *     otherwise in one of its queue (scheduler/order/fair.h).  The lane of a finished one
 *     means nothing.
 * RC-11  state == BLOCKED  <=>  unmet != 0, or the task is a successor (RC-7).  `unmet` is what
 *     its untold edges and the gates on it add up to (scheduler/graph/blocked.h).
 * RC-12  A server's `used` is the number of attempts that name it; it is in the pool that its
 *     name calls for, whose `used` is what its servers add up to (scheduler/limit/server.h).
 * RC-13  There is one stream for each queue and kind that have had a task, found by these
 *     (scheduler/record/stream.h): whatever orders its tasks may come and go, and what is
 *     counted of them stays.  Its `times` names histograms, but where it was made when
 *     their table was full, or by a repair without memory.  They have at most as many
 *     samples as it has counted: of waits and of runs the attempts that started, of lives
 *     the tasks that are done or failed.  A process killed between a commit and its
 *     samples leaves these out (shm/histogram.h).
 */
#ifndef TQI_SCHEDULER_RECORD_RECORDS_H
#define TQI_SCHEDULER_RECORD_RECORDS_H

#include "shm/hash.h"
#include "shm/histogram.h"
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

/* What a wait slot waits for (shm/wait.h). */
enum tqi_interest {
	TQI_INTEREST_WORK = TQI_WAITER_FOR_WORK, /* subject: worker */
	TQI_INTEREST_TASKS = 2,	 /* a client; edges: the tasks; subject: states it wants, bits,
				    and how (scheduler/graph/cycle.h) */
	TQI_INTEREST_STOPS = 3,	 /* a heartbeat thread; subject: worker */
	TQI_INTEREST_MASTER = 4, /* a farm's master; subject: its worker record */
	TQI_INTEREST_ROOM = 5,	 /* a submitter waiting for room; subject: queue, 0 not made yet */
	TQI_INTEREST_COMMAND = 6, /* who waits for a command's answers; subject: its record */
	TQI_INTEREST_GROUP = 7, /* who waits for ends in a group; subject: its record; `told`: ends
				   that it has seen, UINT32_MAX it waits for the last */
};

/*
 * The lists of those who sleep: one for each interest, by its number; workers that leave
 * when nothing is left (TQI_WORKER_EMPTY) have one of their own.
 */
#define TQI_SLEEPERS_EMPTY 0u
#define TQI_SLEEPERS_OF(interest) (1u << (interest))

/* flags of a task */
#define TQI_TASK_HELD (1u << 0)
#define TQI_TASK_FORGET (1u << 1)
#define TQI_TASK_KEEP (1u << 2)
#define TQI_TASK_ONCE (1u << 3)
#define TQI_TASK_CANCEL (1u << 4)  /* a cancel of the running task has been asked for */
#define TQI_TASK_CUT (1u << 5)	   /* the result is the tail of a longer output */
#define TQI_TASK_STALLED (1u << 6)
#define TQI_TASK_DUE (1u << 7)	   /* is in the due heap (RC-4) */
#define TQI_TASK_LISTED (1u << 8)  /* is on the finished list (RC-5) */
#define TQI_TASK_TELLING (1u << 9) /* is on the telling list (ED-3) */
#define TQI_TASK_EXTRA (1u << 10)  /* rare settings stand in its block: struct tqi_extra */
#define TQI_TASK_LATE (1u << 11)   /* it ran, and its deadline passed before it was through */
#define TQI_TASK_AT (1u << 12)	   /* is in the wall heap (RC-4) */
#define TQI_TASK_ASSIGNED (1u << 13) /* is on a worker's list (scheduler/order/assign.h) */
#define TQI_TASK_SERVED                                                                            \
	(1u << 14) /* ended or delayed: `key` names its last attempt's server (SV-7) */
#define TQI_TASK_DOOMS (1u << 15) /* its end cancels all that depends on it, whatever it is */

/*
 * One task; four cache lines.  Submit, claim and complete touch the first three.
 * `stamp` is not journalled: the version of the last transaction that touched the
 * record, for observers; it only grows.
 */
struct tqi_task {
	uint32_t link;
	uint8_t state; /* enum tq_state */
	uint8_t cause; /* enum tq_cause, of the final state or the last ended attempt */
	uint16_t flags;
	uint64_t generation; /* with the index: the id */
	uint64_t sequence;   /* order of submission */
	uint64_t wait_sequence; /* the root's, when it began to wait: a purge spares later ones */
	int64_t key;		/* fixed when it becomes ready; smaller starts earlier; or a server */
	int32_t priority;
	uint32_t lane;	  /* until it is finished */
	uint64_t due_ns; /* DELAYED: not before; UINT64_MAX not before extra.at_ns; assigned: to
			    which worker */
	uint32_t payload; /* block: payload, then label, then what TQI_TASK_EXTRA says */
	uint32_t payload_bytes;

	uint64_t stamp;
	uint32_t attempt; /* record of the attempt under way */
	uint32_t epoch;
	uint32_t edges; /* who waits for it, not yet told; whom its end has cancelled */
	uint32_t prev;	/* finished list; while assigned, its worker's; while telling, those of
			   its edges that stay */
	uint32_t next;	/* the same lists; the telling list */
	uint32_t pins;	/* edges, told or not */
	uint16_t queue;
	uint16_t kind;
	uint16_t failures;
	uint16_t crashes;
	uint16_t losses;
	uint16_t attempts_max;
	uint16_t crashes_max;
	uint16_t losses_max;
	uint32_t attempts; /* begun */
	uint32_t result;
	uint32_t result_bytes;
	int32_t cause_arg;

	uint64_t submitted_ns;
	uint64_t ready_ns;
	uint64_t started_ns;
	uint64_t ended_ns;
	uint64_t timeout_ns; /* per attempt; UINT64_MAX none */
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	uint64_t timeout_total_ns; /* UINT64_MAX none */

	uint64_t first_started_ns;
	uint64_t progress_timeout_ns; /* UINT64_MAX none */
	uint64_t output_bytes;
	uint64_t cpu_ns;
	uint64_t max_rss_bytes;
	uint32_t error; /* block of error_bytes */
	uint32_t history; /* block: ring of TQ_HISTORY_MAX struct tq_attempt_info */
	uint32_t checkpoint; /* block saved by an ended attempt */
	uint32_t checkpoint_bytes;
	uint32_t worker_pid; /* of the last attempt */
	uint16_t error_bytes;
	uint8_t label_bytes;
	uint8_t history_count; /* entries ever written, saturating by modulo 2*MAX */
};
_Static_assert(sizeof(struct tqi_task) == 256, "four cache lines");

/*
 * Settings that few tasks have; behind payload and label in the task's block, at the
 * next multiple of 8.  Written when the task comes in, by a retry, and by an update; it
 * lives as long as the record, which says by a flag that it is there.  A waiting task
 * without one gets one when it needs it (scheduler/record/extra.h).
 */
struct tqi_extra {
	/* What every start looks at ... */
	uint64_t deadline_ns; /* no attempt starts from then on; UINT64_MAX none */
	uint32_t key;	      /* its unique key's record, as long as its own; 0 none */
	uint32_t tenant;      /* of its fair key, as long as its record; 0 none */
	uint32_t limits[TQ_LIMITS_MAX]; /* of its limit keys, ascending; then 0 */
	uint32_t group;			/* that it is a member of (scheduler/graph/group.h); 0 none */
	uint8_t counted; /* enum tq_state of its end, as its group has counted it; 0 not yet (GR-2) */
	uint8_t pinned;	 /* 1: one of its pins is its group's (GR-3) */
	uint8_t shut;	 /* 1: its graph is being built, or has just been (GR-4) */
	uint8_t stale;	 /* TQI_STALE_* */
	uint8_t again;	 /* 1: after this round its list of edges is gone through once more */
	uint8_t reserved0[3];
	uint32_t completes; /* group whose completion task it is, until that is decided; 0 none */
	uint32_t after;	    /* chain of its dependencies, through edge.next_of_waiter */
	uint32_t unmet;	    /* things that it waits for while BLOCKED (RC-7, RC-11) */
	int32_t inherited;  /* priority of those that wait for it, if that is higher ... */
	uint16_t inherited_hops; /* ... over so many waits; 0 it is not */
	uint16_t inherited_deadline_hops;

	/* ... and what few do. */
	uint64_t inherited_deadline_ns; /* of those that wait, if that is earlier (IN-1) ... */
	uint64_t at_ns;	      /* wall clock: its life begins with waiting for then; 0 none */
	uint64_t schedule;    /* id of the one that made it; 0 none */
	uint64_t culprit;     /* of cause dependency: id of the task that it is about; else 0 */
	uint32_t after_count; /* edges in `after` */
	uint32_t group_prev;  /* others in its chain (GR-1) */
	uint32_t group_next;
	uint32_t group_order; /* number of its end among the group's, while `counted` */
	uint32_t stale_prev;  /* on the root's list of stale tasks (scheduler/graph/inherit.h) */
	uint32_t stale_next;
};
_Static_assert(sizeof(struct tqi_extra) == 120, "as little as can be");

/* Progress as its owner writes it: the buffer that the index does not name. */
struct tqi_progress {
	uint32_t percent;
	char text[TQ_PROGRESS_TEXT_MAX + 1 - 4];
};

/* Phases of ending an attempt; time and phase are committed before the signal is sent. */
enum tqi_phase {
	TQI_PHASE_NONE = 0,
	TQI_PHASE_ASKED = 1, /* stop_cause is set */
	TQI_PHASE_TERM = 2,
	TQI_PHASE_KILL = 3,
};

/*
 * One attempt under way; belongs to a worker; pins the task's record and blocks.
 * Freed only by its owner's verdict or by proof of its death.
 *
 *  field              written by           under
 *  pgid_*             the owner's process  nothing: single writer
 *  progress*          the owner's process  nothing: single writer; of a command
 *                                          instead its processes, in holds
 *  saved              likewise             likewise; names the valid half of the
 *                                          checkpoint block
 *  the rest           transactions         the lock, journalled
 *
 * Crash: the words keep their last value; they die with the record.
 */
struct tqi_attempt {
	uint32_t link;
	uint32_t task;
	uint64_t id; /* of the task */
	uint32_t epoch;
	uint32_t worker;
	uint32_t prev; /* attempts of the worker */
	uint32_t next;
	uint64_t started_ns;
	uint64_t phase_ns; /* when the phase was entered */
	uint8_t phase;	   /* enum tqi_phase */
	uint8_t stop_cause; /* enum tq_cause */
	uint16_t reserved0;
	uint32_t checkpoint; /* block of two halves; 0 none yet */
	uint32_t inherited;  /* block: an earlier attempt's checkpoint, for this one to read */
	uint32_t inherited_bytes;

	_Alignas(64) struct tqi_word64 pgid_start; /* start time of the group's leader */
	struct tqi_word32 pgid;			   /* 0 no command runs */
	struct tqi_word32 progress_index;	   /* +1 at each report; odd: progress[1] */
	struct tqi_word64 progress_ns;		   /* 0 never */
	struct tqi_word64 saved; /* number << 32 | bytes; odd number: second half */
	uint32_t serial; /* of the worker's attempts; written by the claim only */
	uint32_t server; /* that it runs at; likewise; 0 none */
	int64_t charged_us; /* to its tenant, in advance; likewise; 0 it has none */
	uint32_t waits; /* wait slots on its behalf, newest first (scheduler/graph/behalf.h) */
	uint32_t waits_life; /* outlives the record's lives: +1 when one ends with `waits` */
	uint32_t payload; /* block that its owner reads, if the task has another one since; 0 */
	uint32_t reserved1;

	struct tqi_progress progress[2]; /* single writer, ordered by progress_index */
};
_Static_assert(sizeof(struct tqi_attempt) == 256, "four cache lines");

#define TQI_CHECKPOINT_BLOCK (2u * TQ_CHECKPOINT_MAX)

/*
 * A worker's place among those asleep for one of its queues: references to others
 * (scheduler/worker/asleep.h).  As it was left while `asleep` is 0.
 */
struct tqi_rank {
	uint32_t above; /* newer one of the same stack; 0 it leads the stack */
	uint32_t below;
	uint32_t prev; /* a leader's: leaders of the queue's other stacks */
	uint32_t next;
};

/* states of a worker */
enum tqi_worker_state {
	TQI_WORKER_FREE = 0,
	TQI_WORKER_LIVE = 1,
	TQI_WORKER_DYING =
		2, /* proved gone; the master's verdict, or groups of its attempts, pend */
};

/* flags of a worker */
#define TQI_WORKER_MASTER (1u << 0)
#define TQI_WORKER_SUSPECT (1u << 1)
#define TQI_WORKER_EMPTY (1u << 2) /* its sleep ends when nothing is left to start */
#define TQI_WORKER_STOP (1u << 3)  /* told to stop claiming */
#define TQI_WORKER_GROUP (1u << 5) /* it leads a process group, which must be empty too */
#define TQI_WORKER_COMMANDS (1u << 6) /* it takes commands */
#define TQI_WORKER_POLLED (1u << 4) /* its life lock says dead, its process lives: no hint */

/*
 * Who follows a worker's output, so that the command is held back until it has read (OU-3).
 *
 *  field   written by                                  under
 *  name    0 to its own: the reader, or the worker     nothing: compare and swap
 *          when an attempt begins that has one; back
 *          to 0: the same two, the worker also for
 *          one that is gone or stopped
 *  read    the reader of that name                     nothing: single writer
 *
 * Observers read neither.  Crash: of a reader, the worker finds it gone by its name; of the
 * worker, its next attempt begins with none.
 */
struct tqi_reader {
	struct tqi_word64 name; /* pid << 32 | low half of its start time; 0 none */
	struct tqi_word32 read; /* low half of the bytes that it has read; futex for the worker */
	uint32_t reserved0;
};
#define TQI_READERS 2 /* of one ring at a time; others see gaps where they are too slow */

static inline uint64_t tqi_reader_name(const struct tqi_ident *who)
{
	return (uint64_t)who->pid << 32 | (uint32_t)who->start;
}

/*
 * A worker, or a farm's master.
 *
 *  field           written by                          under
 *  lease_ns_word   the owner (any thread)              nothing: single writer process
 *  output_*        the owner's process                 nothing: single writer
 *  readers         whoever reads its output            nothing: as struct tqi_reader says
 *  life            one lasting thread of the owner,    itself: a hint of death
 *                  and the kernel
 *  the rest        transactions                        the lock, journalled
 */
struct tqi_worker {
	uint32_t link;
	uint32_t state;
	struct tqi_ident owner;
	uint64_t generation; /* +1 at each registration */
	uint32_t flags;
	uint32_t kill; /* enum tq_kill_policy */
	uint32_t attempts;
	uint32_t attempt_count;
	uint32_t master; /* worker record of its farm's master */
	uint32_t queue_count;

	uint64_t lease_ns; /* 0 none */
	uint64_t grace_ns;
	uint64_t registered_ns;
	uint64_t suspect_ns; /* when the lease was first seen to have run out */
	uint64_t dying_ns;
	uint64_t tasks;
	uint64_t master_generation;
	uint32_t output; /* block: ring of the running command's output */
	uint32_t output_bytes; /* its size, a power of two; 0 none */

	uint64_t kinds[4]; /* bit per kind record; all ones = any kind */
	uint16_t queues[TQ_WORKER_QUEUES_MAX];

	char name[TQ_NAME_MAX + 8]; /* NUL-terminated */

	_Alignas(64) struct tqi_word64 lease_deadline_ns;
	struct tqi_word64 output_head; /* bytes ever written by this attempt's command */
	struct tqi_word32 output_word; /* futex for readers: +1 at each write */
	struct tqi_word32 output_serial; /* of the attempt that writes; 0 none */
	struct tqi_reader readers[TQI_READERS];
	uint64_t reserved2;

	_Alignas(64) pthread_mutex_t life; /* robust; held while registered */
	uint32_t life_made; /* written once, by the first taker */
	uint32_t command;   /* that it has taken and not answered yet; 0 none */
	uint64_t command_seen; /* the root's command_change when it last found none */
	uint32_t asleep; /* its wait slot while listed for work (SL-1); 0 none */
	uint32_t stopper; /* wait slot of its heartbeat thread; 0 none */

	uint32_t
		assigned; /* list of tasks assigned to it, the next one to start (scheduler/order/assign.h) */
	uint32_t assigned_last;
	uint32_t assigned_count;
	uint32_t steal_max;	 /* tasks it steals at a time; 0 none */
	uint32_t steal_capacity; /* thousandths of its slots that must be free to steal */
	uint32_t waiting; /* attempts with wait slots on their behalf */
	uint64_t steal_interval_ns;
	uint64_t stole_ns; /* when it stole last */
	uint64_t stolen;   /* tasks that it has stolen */
	uint64_t reserved3;
	struct tqi_rank ranks[TQ_WORKER_QUEUES_MAX]; /* in each of its queues, while asleep */
	uint64_t reserved4;
};
_Static_assert(sizeof(struct tqi_worker) == 704, "eleven cache lines");

/*
 * Bytes beyond the head that the owner may be writing: of a full ring the oldest so
 * many are not to be read.
 */
#define TQI_OUTPUT_CHUNK 4096u
#define TQI_OUTPUT_LEAST (4 * TQI_OUTPUT_CHUNK) /* of a ring: a chunk at a time is in motion */

/* flags of a queue */
#define TQI_QUEUE_PAUSED TQ_QUEUE_PAUSED
#define TQI_QUEUE_DRAINING TQ_QUEUE_DRAINING
#define TQI_QUEUE_BANDED (1u << 16)  /* its policy keeps the classes of its bands apart */
#define TQI_QUEUE_ORDERED (1u << 17) /* heads of its classes cannot be compared by their keys */
#define TQI_QUEUE_MOVING (1u << 18)  /* tasks of an earlier era are on their way to this one's */
#define TQI_QUEUE_SHARED                                                                           \
	(1u << 19) /* tasks may be in classes of tenants (scheduler/order/fair.h) */
#define TQI_QUEUE_SERVED (1u << 20)  /* its attempts run at servers (scheduler/limit/server.h) */

/*
 * The classes of one era, a queue's or a tenant's: each of these has a chain for even eras and
 * one for odd ones, so that what an era leaves behind is what stands in the other chain.
 */
struct tqi_chain {
	uint32_t first;	      /* through class.next, newest first */
	uint32_t tournaments; /* block: struct tqi_tournaments (TN-1); 0 none */
	uint32_t left;	      /* classes of that era; a queue's counts those of its tenants, too */
};

/*
 * A queue.  Never freed.
 *
 * Its policy (scheduler/order/policy.h) is changed as a whole: each change of what decides
 * on keys or classes begins an era, and what was there before follows in slices.
 */
struct tqi_queue {
	struct tqi_hash_node node; /* in the root's index of queues, by name */
	uint32_t flags;
	uint32_t era;	  /* of the policy; classes carry that of theirs */
	uint32_t waiting; /* blocked, delayed and ready tasks that no purge has condemned */
	uint32_t attempts_max;
	uint64_t purge_before; /* waiting tasks with a smaller wait_sequence are cancelled */
	uint64_t depth_max;    /* UINT64_MAX none */
	uint64_t timeout_ns;   /* UINT64_MAX none */
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	struct tqi_chain chains[2]; /* its classes, of even and of odd eras */
	char name[TQ_NAME_MAX + 4]; /* NUL-terminated */
	uint32_t ageing[TQ_BANDS];	 /* of each band, in thousandths of a point a second */
	int32_t band_from[TQ_BANDS - 1]; /* least priority of all bands but the lowest */
	uint32_t hybrid;       /* so many starts, then one of the least urgent band; 0 off */
	uint32_t hybrid_count; /* starts since the last one of that band */
	uint32_t edf;	       /* 1: deadlines order inside a band */
	uint32_t overdue_turn; /* 1: the last start was of an overdue task, for being that */
	uint64_t max_wait_ns;  /* after so long a ready task is overdue; UINT64_MAX never */
	uint32_t batch; /* tasks that a claim may take; 0 or 1: what it starts */
	uint32_t fair; /* 1: tenants share it by run time */
	int64_t fair_time_us; /* its virtual time: where its last start of a tenant began */
	uint32_t tenant; /* of tasks without a fair key; 0 it has never been fair */
	uint32_t home;	     /* pool of its servers that have no limit; 0 it has never had any */
	uint32_t servers;    /* that may be given tasks: not leaving */
	uint32_t carry_at;   /* next server's record of a change that is carried out; 0 none is */
	uint32_t carry_from; /* pool that servers leave by it; 0 all leave for good */
	uint32_t carry_to;   /* and where they go */
	uint64_t turn; /* grows with each start at a server, and with each server */
	uint32_t asleep; /* first stack of workers asleep for it (scheduler/worker/asleep.h) */
	uint32_t asleep_prev; /* other queues that have any */
	uint32_t asleep_next;
	uint32_t streams; /* chain through stream.next, newest first */
	uint32_t by_kind; /* block: struct tqi_by_kind; 0 it has no streams */
	uint32_t contest; /* block: struct tqi_tournament of streams (TN-4); 0 none */
	uint32_t reserved0[8];
};
_Static_assert(sizeof(struct tqi_queue) == 320, "five cache lines");

/* A kind's name, and how long its attempts run, learnt in fair queues.  Never freed. */
struct tqi_kind {
	struct tqi_hash_node node; /* in the root's index of kinds, by name */
	char name[TQ_NAME_MAX + 8]; /* NUL-terminated */
	int64_t mean_us; /* of the latest ones, exponentially weighted; 0 none has ended yet */
	uint64_t reserved0[4];
};
_Static_assert(sizeof(struct tqi_kind) == 128, "two cache lines");

/*
 * What is counted of the tasks of one queue and kind.  Made with the first of them, never
 * freed (RC-13).  A submit and a claim write to the first cache line only.
 *
 *  field          written by                                    under
 *  queue, kind    the transaction that makes it                 the lock
 *  depth          whatever changes a task's state or queue      the lock, journalled
 *  the counters   submit, claim, verdict, a steal, a move       the lock, journalled
 *  tenants, ...   whatever orders tasks of tenants              the lock, journalled
 *
 * Observers read all of it.  The counters are truth; all else a rebuild makes anew.
 */
struct tqi_stream {
	uint32_t link;
	uint16_t queue;
	uint16_t kind;
	uint32_t times;			/* histograms; 0 none */
	uint32_t depth[TQ_STATE_COUNT]; /* tasks by state; of TQ_FREE those of shut graphs */
	uint64_t submitted;
	uint64_t started;

	uint64_t ended[4]; /* done, failed, cancelled, expired */
	uint64_t retried;
	uint64_t crashed;
	uint64_t reclaimed;
	uint64_t stolen; /* tasks that a worker took from another one's list */

	uint64_t throttled; /* starts that a full limit had put off (LM-9) */
	uint64_t moved;	    /* unfinished tasks that went to another queue */
	uint32_t next;	    /* others of the queue */
	uint32_t tenant_classes; /* classes of tenants: `tenants` has room for all */
	uint32_t tenant_ready;	 /* tasks in the heaps of their lanes */
	uint32_t reserved0;
	struct tqi_heap tenants; /* those with something in `open`, by their tenant's tag */
	uint64_t reserved1[3];
};
_Static_assert(sizeof(struct tqi_stream) == 256, "four cache lines");

/* Those of a queue by the record of their kind; 0 none.  It goes with nothing. */
struct tqi_by_kind {
	uint32_t streams[TQI_KINDS_MAX + 1];
};

/*
 * Tasks of one queue, kind, band and era: their lanes ordered by first task.  Unfinished
 * tasks are in classes of the queue's era, or on their way from those of the one before; a
 * class of that is freed when it has no members any more.  Beside the plain lane there is one for each set of limit keys that an
 * unfinished task of the class has, and a parking for each of these keys
 * (scheduler/order/lane.h).
 *
 * A tenant's class in a fair queue is there while it has members, in the tenant's chain; it
 * competes with others in the heap of their stream (scheduler/order/fair.h).  A start reads
 * the first two cache lines of it, and of a lane: among many tenants and keys they are in no
 * cache.
 */
struct tqi_class {
	uint32_t link;
	uint16_t queue;
	uint16_t kind;
	uint32_t band;
	uint32_t next;	/* older class of its chain */
	uint32_t prev;	/* newer one */
	uint32_t plain; /* the lane without limits and fair key */
	uint32_t lane_count; /* and parkings: `open` has room for all of them */
	uint32_t tenant;     /* whose it is; 0 the queue's */
	uint32_t era;
	uint32_t rate;	  /* of ageing: the keys of its tasks were made with it */
	uint8_t edf;	  /* 1: the keys of its tasks are deadlines */
	uint8_t watched;  /* 1: it is a tenant's, or may have a place in a tournament (TN-1) */
	uint8_t aged;	  /* 1: lanes are in `oldest`, too, and their tasks in `ages` */
	uint8_t competes; /* 1: it is a tenant's, and in its stream's heap `tenants` */
	uint32_t parked;  /* lanes that wait at a full limit */
	struct tqi_heap open; /* lanes and parkings with startable tasks */
	struct tqi_heap oldest;
};
_Static_assert(sizeof(struct tqi_class) == 192, "three cache lines");

#define TQI_TOURNAMENT_GROUP 16	 /* kinds of a group */
#define TQI_TOURNAMENT_GROUPS 16 /* groups */
#define TQI_TOURNAMENT_KINDS (TQI_TOURNAMENT_GROUP * TQI_TOURNAMENT_GROUPS)
_Static_assert(TQI_KINDS_MAX < TQI_TOURNAMENT_KINDS, "each kind has a place, and 0 is none");

/*
 * Who competes for one queue, by kind, and which has the best head
 * (scheduler/order/tournament.h): classes of one chain, era and band, or streams.  A block of
 * the queue's, or of a tenant's; whoever submits, claims or moves tasks keeps it, in
 * transactions like those themselves.  It can be made anew from these at any time.
 */
struct tqi_tournament {
	uint32_t of[TQI_TOURNAMENT_KINDS];     /* class, or stream, by kind; 0 none */
	uint16_t ready[TQI_TOURNAMENT_GROUPS]; /* bits: kinds that have a head */
	uint16_t groups;			/* bits: groups with such a kind */
	uint8_t best[2][TQI_TOURNAMENT_GROUPS]; /* by key, by age: kind; 0 the group has none */
	uint8_t winner[2];			/* kind; 0 none */
	uint8_t orders; /* that it has: 2 where the era is aged */
	uint8_t reserved0[3];
	struct tqi_heap_entry first[2][TQI_TOURNAMENT_KINDS]; /* heads; the second row only where
								 the era is aged */
};
_Static_assert(sizeof(struct tqi_tournament) == 1096 + 2 * 4096, "without gaps");

/* Those of a chain of classes, by band; 0 none. */
struct tqi_tournaments {
	uint32_t bands[TQ_BANDS];
};

/* What the histograms of a times record are of, in their order. */
enum tqi_timed {
	TQI_TIMED_WAIT = 0, /* of an attempt's start: since the task became ready */
	TQI_TIMED_RUN = 1,  /* of an attempt's end, whatever ended it: since its start */
	TQI_TIMED_LIFE = 2, /* of a task's end, done or failed: since it was submitted */
	TQI_TIMED_COUNT,
};

/*
 * How long tasks of a queue and kind have waited, run and lived.  Made with their stream,
 * so that no end of a task needs memory for it; never freed.
 *
 *  field        written by                         under
 *  queue, kind  the transaction that makes it      the lock
 *  of           commits, after them (RC-13)          the lock, not journalled
 */
struct tqi_times {
	uint32_t link;
	uint16_t queue;
	uint16_t kind;
	uint64_t reserved0[5];
	struct tqi_histogram of[TQI_TIMED_COUNT];
};
_Static_assert(sizeof(struct tqi_times) <= TQI_SCRATCH_BYTES, "as large as the scratch record");

/*
 * Who shares a fair queue with others: the tasks with one fair key, or those without
 * one.  A record is there as long as a task's names it; that of tasks without a key for
 * ever, once the queue has been fair.
 */
struct tqi_tenant {
	struct tqi_hash_node node; /* in the root's index of tenants, by queue and name */
	uint64_t sequence; /* unique: equal tags in the order in which tenants came */
	int64_t tag_us;	   /* virtual time at which its next start begins; never less */
	int64_t credit_us; /* charged too much, not given back yet */
	struct tqi_chain chains[2]; /* its classes, of even and of odd eras of its queue */

	uint32_t tasks;	       /* records that name it */
	uint32_t overdue_turn; /* as the queue's, inside the tenant (PO-6) */
	uint16_t queue;
	uint8_t bytes; /* of the name; 0: tasks without a key */
	uint8_t reserved0;
	uint32_t reserved2;
	uint64_t reserved1[6];
	char name[TQ_KEY_MAX + 1];
};
_Static_assert(sizeof(struct tqi_tenant) == 256, "four cache lines");

/* Places of a parking: it is empty, in its class's heap, or listed with its full limit. */
enum tqi_parking_state {
	TQI_PARKING_EMPTY = 0,
	TQI_PARKING_OPEN = 1,
	TQI_PARKING_CLOSED = 2,
};

/*
 * Tasks of a class with the same limit keys; or a parking: lanes of a class that wait
 * at the same limit.  Both stand in the class's heap by their first task, and come and
 * go with their members, but for the plain lane (scheduler/order/lane.h has the rules).
 */
struct tqi_lane {
	struct tqi_hash_node node; /* in the root's index of lanes, unless plain */
	uint32_t class_;
	uint32_t members; /* unfinished tasks, or lanes that may park: the heap has room for all */
	uint32_t limits[TQ_LIMITS_MAX]; /* ascending, then 0; a parking's only one first */
	uint32_t parking; /* of a lane: where it is parked; 0 it is not */
	uint32_t prev;	  /* of a closed parking: others of its limit */
	uint32_t next;
	uint8_t is_parking;
	uint8_t state; /* of a parking: enum tqi_parking_state */
	uint16_t reserved0;
	struct tqi_heap tasks; /* by key; or a parking's lanes, family open */
	struct tqi_heap ages;  /* the same by ready_ns, where the class is aged; family oldest */
	uint64_t reserved1[7];
};
_Static_assert(sizeof(struct tqi_lane) == 256, "four cache lines");

/*
 * A limit key, as long as a task's record names it or it has a setting.
 */
struct tqi_limit {
	struct tqi_hash_node node; /* in the root's index of limits, by name */
	uint32_t size;	  /* attempts at a time; UINT32_MAX any number */
	uint32_t used;	  /* attempts under way of tasks with this key */
	uint32_t tasks;	  /* records that name it */
	uint32_t waiting; /* of them in a lane's heap: ready, and not held */
	uint32_t closed;  /* chain of its closed parkings */
	uint32_t prev;	  /* the root's list of loosened limits */
	uint32_t next;
	uint8_t loosened; /* 1: it is on that list */
	uint8_t bytes;	  /* of the name */
	uint8_t booked;	  /* 1: it is in the heap of refills */
	uint8_t reserved0;
	uint64_t
		next_ns; /* no start before; 0 there are tokens, or no rate (scheduler/limit/bucket.h) */
	uint64_t interval_ns;
	uint64_t filled_ns;
	uint64_t part;
	uint32_t rate; /* tokens an interval; 0 no bucket */
	uint32_t burst;
	uint32_t tokens;
	uint32_t reserved1;
	uint64_t full_ns; /* LM-9; 0 it never was full */
	uint64_t reserved2[3];
	char name[TQ_KEY_MAX + 1];
};
_Static_assert(sizeof(struct tqi_limit) == 256, "four cache lines");

/*
 * A server of a queue (scheduler/limit/server.h).  A free record has queue 0.
 */
struct tqi_server {
	struct tqi_hash_node node; /* in the root's index of servers, by queue and name */
	uint32_t pool;
	uint32_t used; /* attempts under way at it */
	uint64_t turn; /* the queue's, when it was given a task last, or came */
	uint64_t sequence; /* the root's, when it came: no other server ever has it */
	uint16_t queue;
	uint8_t bytes;	 /* of the name */
	uint8_t leaving; /* 1: removed; the record goes with its last attempt */
	uint32_t reserved0;
	uint64_t reserved1[2];
	char name[TQ_SERVER_MAX + 1];
};
_Static_assert(sizeof(struct tqi_server) == 320, "five cache lines");

/*
 * Servers of a queue that share slots: those of one limit, or (the queue's home) those
 * of none.  A free record has queue 0.
 */
struct tqi_pool {
	struct tqi_hash_node node; /* in the root's index of pools, by queue and pattern */
	uint32_t size;	  /* attempts at a time; UINT32_MAX any number: it is not set */
	uint32_t used;	  /* attempts under way at its servers */
	uint32_t servers; /* records that are in it, leaving ones too: `load` has room for all */
	uint16_t queue;
	uint8_t bytes;	   /* of the pattern */
	uint8_t is_prefix; /* 1: of all names that begin with it; the home's is "" */
	struct tqi_heap load;  /* those not leaving, by attempts under way, then by turn */
	struct tqi_heap rooms; /* of a home: pools with room, by their first server */
	uint32_t pools;	  /* of a home: the queue's pools, for all of which `rooms` has room */
	uint8_t has_room; /* 1: it is in its home's heap */
	uint8_t reserved0[3];
	uint64_t reserved1;
	char pattern[TQ_SERVER_MAX + 1];
};
_Static_assert(sizeof(struct tqi_pool) == 448, "seven cache lines");

/* What has become of an edge. */
enum tqi_edge_told {
	TQI_EDGE_OPEN = 0,    /* on its task's list: it is waited for */
	TQI_EDGE_TOLD = 1,    /* on no list: the waiter knows, or need not know, of the end */
	TQI_EDGE_REFUSED = 2, /* on its task's list: its end has cancelled the dependant */
};

/*
 * Somebody waits for a task: a wait slot, or (kind) another task, its dependant
 * (scheduler/graph/edge.h, scheduler/graph/after.h).
 */
struct tqi_edge {
	uint32_t link;
	uint32_t waiter; /* wait slot, or the dependant's record */
	uint32_t task;
	uint32_t told; /* enum tqi_edge_told */
	uint32_t prev; /* edges of the task, unless told */
	uint32_t next;
	uint32_t next_of_waiter;
	uint16_t kind; /* enum tq_after of a dependant's; 0 a wait slot's */
	uint16_t quiet; /* 1: the task inherits nothing over it (IN-3); written once */
};
_Static_assert(sizeof(struct tqi_edge) == 32, "half a cache line");

/*
 * A task's unique key, as long as the task's record, held or not: so a new life can
 * ask for it again.  `task`, `queue`'s name and `name` never change while it is held.
 */
struct tqi_key {
	struct tqi_hash_node node;
	uint32_t task;
	uint32_t successor; /* coalesce: the task that is BLOCKED until this one ends; 0 none */
	uint16_t queue;
	uint8_t scope; /* enum tq_unique_scope */
	uint8_t held;  /* 1: it is in the index (RC-7) */
	uint8_t bytes; /* of the name */
	uint8_t reserved0[3];
	char name[TQ_KEY_MAX + 1];
	uint64_t reserved1[4];
};
_Static_assert(sizeof(struct tqi_key) == 192, "three cache lines");

enum tqi_group_state {
	TQI_GROUP_FREE = 0,
	TQI_GROUP_BUILDING = 1, /* nobody sees it */
	TQI_GROUP_OPEN = TQ_GROUP_OPEN + 1,
	TQI_GROUP_SEALED = TQ_GROUP_SEALED + 1,
	TQI_GROUP_COMPLETE = TQ_GROUP_COMPLETE + 1,
};

/* What a group's walk does with its members. */
enum tqi_group_work {
	TQI_GROUP_IDLE = 0,
	TQI_GROUP_OPENING = 1,	  /* shows those that are shut */
	TQI_GROUP_CANCELLING = 2, /* ends, or stops, those whose end is not counted */
	TQI_GROUP_RELEASING = 3,  /* takes back its pins; before, it cancels its completion */
	TQI_GROUP_UNDOING = 4,	  /* frees all, and then itself */
};

/*
 * A group, or a graph (scheduler/graph/group.h).  Label, condition, times and owner never
 * change.
 */
struct tqi_group {
	uint32_t link;
	uint8_t state; /* enum tqi_group_state */
	uint8_t condition; /* enum tq_group_condition */
	uint8_t cancelled; /* 1: GR-6 */
	uint8_t work;	   /* enum tqi_group_work */
	uint64_t generation; /* with the index: the id */
	struct tqi_ident owner; /* GR-7; pid 0 nobody */
	uint64_t made_ns;
	uint64_t ended_ns;
	uint64_t sequence;	/* of a graph: the root's when it was published */
	uint64_t completion_id; /* of the completion task, also when it is decided; 0 none */
	uint64_t culprit;	/* id of the member that is against the condition; 0 none */
	uint32_t completion;	/* the task while it waits for the group; 0 none, or decided */
	uint32_t members;
	uint32_t unfinished;
	uint32_t ends; /* counted; number of the last one */
	uint32_t states[TQ_STATE_COUNT]; /* GR-2 */
	uint32_t first;			 /* the chain (GR-1) */
	uint32_t last;
	uint32_t ended_last; /* of those that are counted */
	uint32_t walk;
	uint32_t prev; /* owned ones; complete ones whose members are released */
	uint32_t next;
	uint32_t busy_next;
	uint32_t waiters; /* wait slots that are about it: it is not freed */
	uint32_t reserved0;
	uint64_t reserved1[4];
	char label[TQ_LABEL_MAX + 1]; /* NUL-terminated */
};
_Static_assert(sizeof(struct tqi_group) == 320, "five cache lines");

/* A bit per queue record; journalled (scheduler/record/queue_set.h). */
struct tqi_queue_set {
	uint64_t bits[(TQI_QUEUES_MAX + 1) / 64];
};

/* Both ends of a list of groups. */
struct tqi_group_ends {
	uint32_t first;
	uint32_t last;
};

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
	uint64_t reserved1[2];
};
_Static_assert(sizeof(struct tqi_schedule) == 320, "five cache lines");
enum tqi_command_state {
	TQI_COMMAND_FREE = 0,
	TQI_COMMAND_OPEN = 1,  /* somebody has not answered yet */
	TQI_COMMAND_ENDED = 2, /* all have; kept for a while */
};

/*
 * A command: what is to be done, and in its block who is to do it: first the deliveries,
 * in the order of their workers' records, then the argument.  Who gets it is decided
 * when it is sent, in that transaction.  Name, argument and block never change.
 * Cancelling it is one word: what waits then is answered by it (tqi_delivery_answer()).
 */
struct tqi_command {
	uint32_t link;
	uint32_t state; /* enum tqi_command_state */
	uint64_t generation; /* with the index: the id */
	uint64_t sequence;   /* order of sending */
	uint64_t sent_ns;
	uint64_t ended_ns;
	uint32_t prev; /* open ones by sequence; ended ones by when they ended */
	uint32_t next;
	uint32_t block;
	uint32_t argument_bytes;
	uint32_t delivery_count;
	uint32_t waiting; /* deliveries that nobody has taken yet, unless it was cancelled ... */
	uint32_t open;	  /* ... and those that are taken and not answered yet */
	uint32_t sender_pid;
	uint16_t queue;
	uint16_t to; /* enum tq_command_to */
	char name[TQ_NAME_MAX + 8];
	uint32_t reserved0;
	uint64_t cancelled_ns; /* when it was taken back; 0 it was not */
	uint32_t reserved1[8];
};
_Static_assert(sizeof(struct tqi_command) == 192, "three cache lines");

/* One recipient of a command.  What was answered stands once the state says so. */
struct tqi_delivery {
	uint32_t worker; /* 0: for anybody, and nobody has taken it */
	uint16_t state;	 /* enum tq_answer_state */
	uint16_t takes;	 /* how often it was taken */
	uint64_t generation; /* of the worker's registration */
	uint64_t changed_ns;
	uint32_t pid;
	uint32_t reserved0;
	uint64_t text[(TQ_COMMAND_TEXT_MAX + 1) / 8]; /* NUL-terminated */
};
_Static_assert(sizeof(struct tqi_delivery) == 128, "two cache lines");

/* What has become of it: of what was not taken when the command was cancelled, that. */
static inline uint32_t tqi_delivery_answer(const struct tqi_command *command,
					   const struct tqi_delivery *delivery)
{
	return delivery->state == TQ_ANSWER_WAITING && command->cancelled_ns ? TQ_ANSWER_CANCELLED
									     : delivery->state;
}

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

/* Where it is in the block. */
static inline uint64_t tqi_extra_at(uint64_t payload_bytes, uint64_t label_bytes)
{
	return (payload_bytes + label_bytes + 7) & ~7ull;
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

static inline uint64_t tqi_id_make(uint32_t index, uint64_t generation)
{
	return generation << TQI_INDEX_BITS | index;
}

static inline uint32_t tqi_id_index(uint64_t id)
{
	return (uint32_t)(id & TQI_INDEX_MASK);
}

static inline uint64_t tqi_id_generation(uint64_t id)
{
	return id >> TQI_INDEX_BITS;
}

static inline bool tqi_state_is_final(uint32_t state)
{
	return state >= TQ_DONE;
}

#endif
