/* SPDX-License-Identifier: MIT */
/*
 * Wait slots: everyone who blocks owns one.  Mechanism only; who is eligible for
 * what, and when somebody must look, is the scheduler's to say.  The protocol was
 * model-checked (docs/protocol.md); each rule is load-bearing.
 *
 * WT-1  A slot is taken, linked and its mutex locked inside one transaction, before
 *     its commit; the mutex is released inside the transaction's hold that frees
 *     the slot, after the commit.  So a slot in use shows its owner's TID or
 *     OWNER_DIED, never 0.
 * WT-2  The word compared by the futex wait is the one read in that hold.
 * WT-3  Wake words only grow, are never journalled, and are bumped and woken before
 *     the commit.
 * WT-4  Each sleeper watches its own word and the mutex of the sleeper it queued
 *     behind, nothing else of the chain: one watcher a word.
 * WT-5  The chain changes only when a slot is taken or freed: a popped one keeps its
 *     place.  Whoever frees a slot wakes the slot queued behind it, in the same hold.
 * WT-6  The keepers are a timekeeper and TQI_DEPUTIES listed sleepers, no two of what
 *     stops together while there are others: each notes what it sleeps to, and is woken
 *     when a commit needs an earlier look.
 * WT-7  Who was popped passes a wake on in the hold that brings it back, whether it
 *     found something, found nothing or gives up, if there is more to start than others
 *     are on their way to; so do looks, whoever is on the way.  Nobody else does.
 *     Who is listed, and awake for another reason, leaves to them what they are on their
 *     way to.
 * WT-8  Listed sleepers stand, newest last, on the list of those who sleep for the same;
 *     whoever wakes for something goes along that list only.
 */
#ifndef TQI_SHM_WAIT_H
#define TQI_SHM_WAIT_H

#include <pthread.h>
#include <stddef.h>

#include "shm/table.h"
#include "shm/tx.h"

/* 200 ms: whose sleeper has not come back by then may be stopped; others are popped first. */
#define TQI_STALL_NS 200000000ull

/* The one interest that is counted (core->waiter_for_work); others are the scheduler's. */
#define TQI_WAITER_FOR_WORK 1u

enum tqi_waiter_state {
	TQI_WAITER_FREE = 0,
	TQI_WAITER_LISTED = 1,
	TQI_WAITER_TRANSIT = 2, /* popped; its owner has not yet taken the lock */
};

/*
 *  field        written by                          under
 *  word         wakers, before their commit         the lock; read by the sleeping futex
 *  mutex        its owner, and the kernel at death  itself; only says "the owner lives"
 *  the rest     transactions                        the lock, journalled
 *
 * Crash of the owner: the mutex says OWNER_DIED; whoever looks frees the slot.
 */
struct tqi_waiter {
	uint32_t link; /* tqi_table */
	uint32_t state;
	struct tqi_ident owner;
	uint32_t older; /* the chain */
	uint32_t newer;
	uint64_t until_ns;	/* when its owner will look again at the latest */
	uint32_t interest;	/* the scheduler's: what it waits for ... */
	uint32_t subject;	/* ... and of which record */
	uint32_t edges;		/* the scheduler's: tasks that it waits for ... */
	uint32_t told;		/* ... and how many of them are final */
	uint64_t until_wall_ns; /* a keeper's: the same by the wall clock; UINT64_MAX none */

	_Alignas(64) struct tqi_word32 word;
	uint32_t mutex_made; /* written once, by the first taker */
	pthread_mutex_t mutex;
	uint32_t attempt;      /* the scheduler's: on whose behalf it waits; 0 nobody's ... */
	uint32_t attempt_life; /* ... in which of that record's lives ... */
	uint32_t attempt_prev; /* ... among others that do */
	uint32_t attempt_next;

	_Alignas(64) uint64_t lent_deadline_ns; /* the scheduler's: how urgent the wait is */
	int32_t lent;
	uint16_t lent_hops;
	uint16_t lent_deadline_hops;
	uint64_t turn; /* grows with each listing: newer ones have more */
	uint32_t list;	     /* of those who sleep for the same, the scheduler's number */
	uint32_t list_older; /* listed: its neighbours on it; in transit: among those */
	uint32_t list_newer;
	uint32_t domain;       /* the scheduler's: what stops together with its owner ... */
	uint32_t domain_older; /* ... and, while listed, its neighbours among such */
	uint32_t domain_newer;
	uint64_t popped_ns; /* since when it is in transit */
	uint32_t peer_older; /* the scheduler's: while listed, among those with its subject */
	uint32_t peer_newer;
};
_Static_assert(sizeof(struct tqi_waiter) == 192, "three cache lines");

/* The table that holds them; the schema puts it first. */
#define TQI_TABLE_WAITERS 0

static inline struct tqi_waiter *tqi_waiter_at(struct tqi_tx *tx, uint32_t w)
{
	return tqi_table_at(tx, TQI_TABLE_WAITERS, w);
}

/* What a slot is taken for. */
struct tqi_waiter_wish {
	uint32_t interest;
	uint32_t subject;
	uint32_t list; /* below TQI_WAITER_LISTS */
	uint32_t domain;
};

/* Take a slot for `owner`, lock its mutex, append it to the chain. 0 as tqi_table_take(). */
uint32_t tqi_waiter_enter(struct tqi_tx *tx, const struct tqi_ident *owner,
			  const struct tqi_waiter_wish *wish, bool *ret_full);
/* One in use into the chain, as its last, and on its lists: as it was entered, or in a repair. */
void tqi_waiter_append(struct tqi_tx *tx, uint32_t w);
/* Its owner is back: list it again if it was popped. */
void tqi_waiter_relink(struct tqi_tx *tx, uint32_t w);
/* Its owner leaves: free it; the mutex is released after the commit. */
void tqi_waiter_leave(struct tqi_tx *tx, uint32_t w);
/* Take it from its lists and wake it; its owner will come. */
void tqi_waiter_pop(struct tqi_tx *tx, uint32_t w);
/* Free the slot of a dead owner. */
void tqi_waiter_bury(struct tqi_tx *tx, uint32_t w);
/* For tqi_tx_commit() only. */
void tqi_waiter_wake_now(struct tqi_tx *tx, uint32_t w);

#endif
