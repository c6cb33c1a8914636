/* SPDX-License-Identifier: MIT */
/*
 * A process's handle, and holds: one visit of the lock each.
 *
 * A handle made before fork() serves the child too: the child notices that it is
 * another process (a page that is wiped on fork) and takes its own identity.
 */
#ifndef TQI_CLIENT_CORE_HANDLE_H
#define TQI_CLIENT_CORE_HANDLE_H

#include <pthread.h>

#include "client/core/wipe.h"
#include "scheduler/record/name.h"
#include "shm/lock.h"
#include "shm/span.h"
#include "shm/tx.h"
#include "taskq/taskq.h"

struct tqi_handlers;

#define TQI_NAMES_CACHED 8192 /* places: of 1,023 queues one in nine shares its place */
#define TQI_NAMES_TEXTS 64    /* a program names few queues and kinds by texts of its own */

/*
 * Records of names that this process has used before, by a hash of table and name.  A place
 * has 48 bits of the hash, and the record's index below them; 0 nothing.  It is one word,
 * read and written by any thread at any time, and by a child of a fork in its own copy.
 * What is found is a hint: whoever holds the lock asks the record for its name.
 *
 * Most name a queue by the same text, a literal, so texts are asked first: a place has the
 * low 48 bits of its address, and the record below them, 0 once it has had several names.
 */
struct tqi_names {
	struct tqi_word64 places[TQI_NAMES_CACHED];
	struct tqi_word64 texts[TQI_NAMES_TEXTS];
};

struct tq {
	struct tqi_segment seg;
	struct tqi_seen seen;
	uint64_t lock_timeout_ns;
	uint64_t opened_ns; /* CLOCK_MONOTONIC; no two handles of a process have address and this */
	pthread_key_t thread_key; /* struct tqi_self of each thread */
	struct tqi_wipe *wipe;	  /* reads as zero in a child */
	struct tqi_handlers *handlers;
	struct tqi_word64 removal_look_ns; /* when to look whether its file has a name again */
	bool farms; /* of a farm's process: it ends what dead farms have left behind */
	struct tqi_word32 mapped; /* 1: a living thread holds a life lock in it: never unmapped */
	struct tqi_names names;
	struct {
		uint64_t id;
		uint32_t attempt; /* which one, counted from 1; 0 none */
	} command;		  /* that this process is part of (client/core/current_attempt.h) */
	struct tqi_word32
		times_queue; /* whose times were read last: who reads all goes on behind it */
};

/* A claim that a thread works on; it may have ended since. */
struct tqi_work {
	uint32_t worker;
	uint32_t slot;
	bool farms;  /* its worker is one of our farm's */
	uint64_t id; /* 0 none */
	uint64_t epoch;
};

/* What a thread knows of itself. */
struct tqi_self {
	struct tqi_thread thread;
	/*
	 * A wait slot whose owner could not have the lock to leave it: it is left at
	 * the thread's next hold; 0 none.
	 */
	uint32_t orphan;
	struct tqi_work work;
};

/*
 * Whom a thread was in the handle that it used last: by address and by the time of its
 * opening, for a later handle may have the address of a closed one.
 */
struct tqi_last {
	const struct tq *tq; /* NULL none */
	uint64_t opened_ns;
	struct tqi_self *self;
};
extern __thread struct tqi_last tqi_last
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A thread that ends, or the handle: forget it (the key's destructor). */
void tqi_self_free(void *self);
/* The calling thread; NULL no memory. */
struct tqi_self *tqi_self_find(struct tq *tq);
static inline struct tqi_self *tqi_self(struct tq *tq)
{
	/* In a child of fork() the page is wiped, and the pid 0. */
	if (__builtin_expect(tqi_last.tq == tq && tqi_last.opened_ns == tq->opened_ns &&
				     tqi_last.self->thread.pid ==
					     tqi_load_acquire32(&tq->wipe->pid),
			     1))
		return tqi_last.self;
	return tqi_self_find(tq);
}
struct tqi_ident tqi_ident_self(struct tq *tq);
/* Pid of the calling process without a system call. */
static inline uint32_t tqi_pid_self(struct tq *tq)
{
	return tqi_wipe_pid(tq->wipe);
}

uint64_t tqi_now(const struct tq *tq);
/* CLOCK_REALTIME; only for what is said in it. */
uint64_t tqi_wall(const struct tq *tq);
/* now + timeout, saturating. */
uint64_t tqi_deadline(const struct tq *tq, uint64_t timeout_ns);

/*
 * Take the lock and begin a transaction.  -EROFS, -EDEADLK, TQ_ELOCKED,
 * TQ_ECORRUPT, TQ_ESHUTDOWN (destroyed), TQ_EREMOVED.
 */
int tqi_hold_begin(struct tq *tq, struct tqi_tx *tx);
/* Also in a segment that is lost: destroyed, or removed. */
int tqi_hold_force(struct tq *tq, struct tqi_tx *tx);
/*
 * Commit (r >= 0) or abort (r < 0) and give the lock back.  Returns r, or
 * TQ_ECORRUPT when the transaction met damage: then it was aborted too.
 */
int tqi_hold_end(struct tq *tq, struct tqi_tx *tx, int r);
/* The same, but also commits what was done when r < 0 is an answer, not a failure. */
int tqi_hold_commit(struct tq *tq, struct tqi_tx *tx, int r);

/*
 * For operations that never fail for want of memory but then keep less (results,
 * histories): if this one did without, undo it, make room, and answer true: begin
 * again.  `tries` starts at 0; when no room can be made it answers false.
 */
bool tqi_hold_lacked(struct tq *tq, struct tqi_tx *tx, uint32_t *tries);
static inline bool tqi_hold_again(struct tq *tq, struct tqi_tx *tx, uint32_t *tries)
{
	return __builtin_expect(tx->lacked, 0) && tqi_hold_lacked(tq, tx, tries);
}
#define TQI_ROOM_TRIES 64

/*
 * Run an operation in a hold of its own; when it answers -ENOMEM, grow the segment
 * or evict old records, and run it again; likewise for want of names.  TQ_EFULL when
 * that does not help, -ENOSPC when the tmpfs is full.
 */
typedef int tqi_operation(struct tqi_tx *tx, void *arg);
int tqi_run(struct tq *tq, tqi_operation *op, void *arg);
/* One step of making room for `bytes` more: 0 try again, TQ_EFULL, -ENOSPC. */
int tqi_make_room(struct tq *tq, uint64_t bytes);
/* Whether an operation that was undone may be tried again once there is room: of memory, or for
 * the name of a queue, or of a kind. */
static inline bool tqi_is_lacking(int r)
{
	return r == -ENOMEM || r == TQ_EQUEUES || r == TQ_EKINDS;
}
/* The same step for what was lacking: 0 try again, else an error; names: there are no more. */
int tqi_make_up(struct tq *tq, int lacking);

/* Ends what a purge or a shutdown has decided, a slice a hold.  Best effort:
 * the decision stands, and every other holder of the lock sweeps too. */
void tqi_sweep_out(struct tq *tq);

/*
 * A large block, taken and noted in flight, to be filled outside the lock.  `spares`: what
 * it leaves of the last memory.
 * 0, TQ_EFULL, -ENOSPC, lock errors.
 */
int tqi_block_begin(struct tq *tq, uint64_t bytes, enum tqi_spares spares, uint64_t *ret_token,
		    void **ret_block);
/* Give back one that was not used after all. */
void tqi_block_cancel(struct tq *tq, uint64_t token);

/* Where a text is, and the word there without a record. */
static inline struct tqi_word64 *tqi_names_text(struct tqi_names *names, uint32_t table,
						const char *name, uint64_t *ret_word)
{
	*ret_word = (uint64_t)(uintptr_t)name << 16;
	return &names->texts[((uintptr_t)name >> 4 ^ (uintptr_t)name ^ table) % TQI_NAMES_TEXTS];
}

/* Record of TQI_QUEUES or TQI_KINDS that a name probably has; 0 not known. */
uint32_t tqi_names_search(struct tqi_names *names, uint32_t table, const char *name);
static inline uint32_t tqi_names_find(struct tqi_names *names, uint32_t table, const char *name)
{
	uint64_t word;
	const uint64_t found = tqi_load_relaxed64(tqi_names_text(names, table, name, &word));
	const uint64_t record = found ^ word;

	return record && record <= UINT16_MAX ? (uint32_t)record
					      : tqi_names_search(names, table, name);
}
void tqi_names_add(struct tqi_names *names, uint32_t table, const char *name, uint32_t index);

#endif
