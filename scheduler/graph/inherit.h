/* SPDX-License-Identifier: MIT */
/*
 * Inheritance: what is waited for is as urgent as who waits for it (B7).
 *
 * IN-1  An edge, not told yet, lends the *heir*, the task that is waited for, what the
 *     *donor* is worth: the task that depends on it, or the wait slot, which has the
 *     priority that its client named, or what the task is worth on whose behalf it waits.
 *     The heir inherits the best of it, priority and deadline each for itself; it is kept
 *     in its rare settings where it is better than its own.  Held, paused or delayed
 *     donors lend as others do.
 * IN-2  What a task is worth decides on its band and its key, as if that had been its own
 *     priority and deadline since it became ready.  It lifts no hold, pause or limit, and
 *     no inherited deadline ends a task.
 * IN-3  An edge between tasks of different fair keys is quiet: it lends nothing.  A client
 *     has no key: its priority counts inside the key of the task that it waits for.
 * IN-4  A better worth goes on from donor to heir at once, where there is a new edge, or
 *     else by the list of stale tasks; a worse one by that list only.  Stale tasks are
 *     dealt with a slice in each hold: first what it inherits is counted anew over all
 *     its donors (COUNT), then it moves to its place (PLACE), then its own heirs hear of
 *     it (PUSH; DOWN: what they have of it may be too much).  A task that ends while it
 *     waits for others takes back by that list what it has lent.
 * IN-5  So outside of what is on that list all worths are right.  Until it is through,
 *     tasks have places that they had, or will have: each is startable all the time.  A
 *     step that finds no memory is tried again by the next keeper's look.
 * IN-6  Waits can form a ring (a handler waits for any of some tasks).  Worth that goes
 *     round in it counts the waits that it came over, and ends after 65,535 of them.
 */
#ifndef TQI_SCHEDULER_GRAPH_INHERIT_H
#define TQI_SCHEDULER_GRAPH_INHERIT_H

#include "scheduler/order/worth.h"

/* extra.stale */
#define TQI_STALE_LISTED (1u << 0)
#define TQI_STALE_COUNT (1u << 1)
#define TQI_STALE_PLACE (1u << 2)
#define TQI_STALE_PUSH (1u << 3)
#define TQI_STALE_DOWN (1u << 4)

#define TQI_STALE_WHOLE (1u << 5) /* with COUNT: what it has is no bound for what it may have */
#define TQI_STALE_ALL ((1u << 6) - 1)
#define TQI_STALE_ENDED (TQI_STALE_LISTED | TQI_STALE_PUSH | TQI_STALE_DOWN) /* of a final task */

/* What the root's cursor is for (stale_stage): the first stale task's edges. */
enum tqi_stage {
	TQI_STAGE_NONE = 0,
	TQI_STAGE_COUNT = 1, /* those to it: `stale_best` is the best so far */
	TQI_STAGE_PUSH = 2,  /* those from it */
};

/* What a wait slot lends that is new in this transaction, before it has edges. */
void tqi_inherit_lend(struct tqi_tx *tx, uint32_t waiter, const struct tqi_worth *worth);

/* Memory for what a new edge, which will be like this, lends by tqi_inherit_begin(); -ENOMEM. */
int tqi_inherit_reserve(struct tqi_tx *tx, const struct tqi_edge *like);
void tqi_inherit_begin(struct tqi_tx *tx, const struct tqi_edge *edge);
/* An edge is about to go; to leave the list that it is on. */
void tqi_inherit_end(struct tqi_tx *tx, uint32_t edge);
void tqi_inherit_unlinked(struct tqi_tx *tx, uint32_t edge);

/* Priority or deadline of a waiting task is another one than when it was worth this.  -ENOMEM: abort. */
int tqi_inherit_changed(struct tqi_tx *tx, uint32_t task, const struct tqi_worth *before);
/* A task with TQI_TASK_EXTRA is final, and waits for nothing in a moment; its record goes. */
void tqi_inherit_finished(struct tqi_tx *tx, uint32_t task);
void tqi_inherit_forgotten(struct tqi_tx *tx, uint32_t task);
/* A final task is to have a new life; it has one, and waits for what it waits for. */
void tqi_inherit_renew(struct tqi_tx *tx, uint32_t task);
void tqi_inherit_renewed(struct tqi_tx *tx, uint32_t task);

/* One slice of the stale tasks. */
void tqi_inherit_slice(struct tqi_tx *tx);
/* Whether there are any, and the last slice did not want for memory; forget that it did. */
static inline bool tqi_inherit_pending(const struct tqi_tx *tx)
{
	return tqi_root(tx)->stale.first && !tqi_root(tx)->stale.stuck;
}
void tqi_inherit_try_again(struct tqi_tx *tx);

/* Id of a task that lends another one what that has inherited; 0 nobody does any more. */
uint64_t tqi_inherit_lender(struct tqi_tx *tx, const struct tqi_task *task);

/* What an edge lends; whether its ends have different fair keys. */
struct tqi_worth tqi_inherit_over(struct tqi_tx *tx, const struct tqi_edge *edge);
bool tqi_inherit_is_quiet(struct tqi_tx *tx, const struct tqi_edge *edge);
/*
 * Rebuild: what a task inherits, counted over all edges at once; on the list, which was
 * empty before the first, for that and for the reasons that it had been.  -ENOMEM.
 */
int tqi_inherit_restore(struct tqi_tx *tx, uint32_t task);

#endif
