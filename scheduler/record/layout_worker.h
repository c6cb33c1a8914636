/* SPDX-License-Identifier: MIT */
/* Records of workers, of who sleeps for what, and of commands (scheduler/record/records.h has the rules). */
#ifndef TQI_SCHEDULER_RECORD_LAYOUT_WORKER_H
#define TQI_SCHEDULER_RECORD_LAYOUT_WORKER_H

#include "scheduler/record/tables.h"

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
				   that it has seen, or TQI_GROUP_LAST */
};

#define TQI_GROUP_LAST UINT32_MAX /* ends that a sleeper has seen who waits for the last one */

/*
 * The lists of those who sleep: one for each interest, by its number; workers that leave
 * when nothing is left (TQI_WORKER_EMPTY) have one of their own.
 */
#define TQI_SLEEPERS_EMPTY 0u

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
	uint32_t stopper; /* wait slot of its heartbeat thread; of a master its own; 0 none */

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
	uint32_t waiters; /* wait slots that are about it: it is not freed */
	uint64_t cancelled_ns; /* when it was taken back; 0 it was not */
	struct tqi_waiter_list asleep; /* who waits for its answers (CA-1) */
	uint32_t called; /* deliveries whose recipients have been called (CO-1) */
	uint32_t reserved1[5];
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

#endif
