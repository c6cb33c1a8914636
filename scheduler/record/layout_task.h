/* SPDX-License-Identifier: MIT */
/* Records of tasks and their attempts (scheduler/record/records.h has the rules). */
#ifndef TQI_SCHEDULER_RECORD_LAYOUT_TASK_H
#define TQI_SCHEDULER_RECORD_LAYOUT_TASK_H

#include "scheduler/record/tables.h"

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
	uint64_t due_ns; /* DELAYED, BLOCKED: not before; UINT64_MAX by extra.at_ns; assigned: to
			    which worker */
	uint32_t payload; /* block: payload, then label, then what TQI_TASK_EXTRA says */
	uint32_t payload_bytes;

	uint64_t stamp;
	uint32_t attempt; /* record of the attempt under way */
	uint32_t epoch;
	uint32_t edges; /* who waits for it, not yet told; whom its end has cancelled */
	uint32_t prev;	/* finished list; while assigned, its worker's; in its lane, its run;
			   while telling, those of its edges that stay */
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
	uint32_t history; /* block: struct tqi_history */
	uint32_t kept; /* block that ended attempts leave: struct tqi_kept and what is behind it */
	uint32_t kept_bytes; /* of all that */
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

/* What an attempt has written, while a later one's output is the task's result. */
struct tqi_earlier {
	uint64_t output_bytes; /* all that it wrote */
	uint32_t block;	       /* the last bytes of that; 0 not kept */
	uint32_t bytes;
};
#define TQI_EARLIER_BYTES (64u << 10) /* of one task together: as much as its result, by default */

/*
 * The attempts that have ended last: a ring, in which task.history_count says where the next
 * one goes.  The output of the newest is the task's result.  All of it is journalled.
 */
struct tqi_history {
	struct tq_attempt_info attempts[TQ_HISTORY_MAX];
	struct tqi_earlier outputs[TQ_HISTORY_MAX]; /* of the attempt in the same place */
};
_Static_assert(sizeof(struct tqi_history) == 448, "a block of 512");

/*
 * What attempts that have ended leave to the next one, and to who looks; behind it, the
 * checkpoint.  Filled before anything refers to it (TX-3), and never changed.
 */
struct tqi_kept {
	uint32_t reported; /* 1: there is a report, the last one */
	uint32_t saved;	   /* 1: there is a checkpoint, perhaps of no bytes */
	struct tqi_progress report;
};
_Static_assert(sizeof(struct tqi_kept) == 72, "no hidden padding");

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
	uint32_t inherited;  /* block: the task's `kept`, as long as this attempt is under way */
	uint32_t inherited_bytes; /* if there is one */

	_Alignas(64) struct tqi_word64 pgid_start; /* start time of the group's leader */
	struct tqi_word32 pgid;			   /* 0 no command runs */
	struct tqi_word32 progress_index;	   /* +1 at each report; odd: progress[1] */
	struct tqi_word64 progress_ns;		   /* of the last report, if any */
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

/* Where it is in the block. */
static inline uint64_t tqi_extra_at(uint64_t payload_bytes, uint64_t label_bytes)
{
	return (payload_bytes + label_bytes + 7) & ~7ull;
}

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
