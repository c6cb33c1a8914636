/* SPDX-License-Identifier: MIT */
/*
 * Blocking: the loop that every sleeper runs (docs/protocol.md).
 *
 *   hold: tend, try; if it is to sleep: queue the slot, note until when, pass a
 *         wake on, read the words to sleep on
 *   sleep on {own word, the mutex of the sleeper queued before it}
 *   whatever woke it: look if it is a keeper or something died, then again
 */
#ifndef TQI_CLIENT_CORE_SLEEPER_H
#define TQI_CLIENT_CORE_SLEEPER_H

#include "client/core/handle.h"
#include "scheduler/task/look.h"

struct tqi_sleeper {
	enum tqi_interest interest;
	uint32_t subject;     /* record that the interest is about, or as enum tqi_interest says */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; UINT64_MAX no limit */
	/*
	 * Tried in each hold.  -EAGAIN: sleep on; -EINPROGRESS: the hold has done its
	 * share, again at once.  Anything else ends the sleep and
	 * is returned; what was done is committed.  It may set `deadline_ns` and
	 * `wake_ns`.  `waiter` is its slot, 0 before the first sleep.
	 */
	int (*attempt)(struct tqi_tx *tx, struct tqi_sleeper *sleeper);
	void *arg;
	bool lends; /* what it waits for is to be as urgent as `priority`: see TQ_WAIT_PRIORITY */
	int32_t priority;
	bool on_behalf; /* its slot counts for the attempt that the caller works for */
	bool again; /* try once more with the slot before the first sleep */
	uint32_t waiter;
	uint64_t wake_ns;   /* the attempt's own wish for the next try; UINT64_MAX none */
	bool handle_intr;   /* a signal handler ran: true = try again, false = -EINTR */
	/* More words to sleep on (life locks of a master's workers); may be NULL. */
	uint32_t (*words)(struct tqi_sleeper *sleeper, struct tqi_futex *words, uint32_t room);
};

/* -ETIMEDOUT deadline over, -EINTR, TQ_EFULL no slot, or the attempt's answer. */
int tqi_block(struct tq *tq, struct tqi_sleeper *sleeper);
/*
 * The same for who has begun the first hold and made the first attempt in it, with this answer:
 * most come and find what they want, and need be no sleeper.
 */
int tqi_block_from(struct tq *tq, struct tqi_sleeper *sleeper, struct tqi_tx *tx, int r);
/*
 * The same, and no hold in it waits for the lock beyond the deadline: where that is over, it
 * comes first (-ETIMEDOUT), for who has the lock is not the sleeper's question.
 */
int tqi_block_in_time(struct tq *tq, struct tqi_sleeper *sleeper);

/* A keeper's look: everything that is due, and the proofs it asks for. */
void tqi_keep(struct tq *tq);

/* Groups of dead owners are given up; true when there were some. */
bool tqi_bury_owners(struct tq *tq);

/* Whether nobody runs in the groups that a suspect's death must have ended, too. */
bool tqi_groups_are_empty(struct tq *tq, const struct tqi_suspect *suspect);

/*
 * Prove one worker's death and, if proved, give its tasks back.  True when it is
 * gone and has been taken apart.
 */
bool tqi_prove(struct tq *tq, const struct tqi_suspect *suspect);

#endif
