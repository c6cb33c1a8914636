/* SPDX-License-Identifier: MIT */
/*
 * Fair queues: tenants, tasks of one fair key each, share one by run time.
 *
 * FA-1  Start-time fair queueing.  A tenant's tag is the virtual time at which its next
 *     attempt begins, in microseconds of run time.  What starts next is of the tenant
 *     with the least tag among those that have something the worker can start; equal ones
 *     in the order in which they came.  Inside the tenant the queue's policy decides
 *     (PO-1 to PO-6), so that priorities count only there.
 * FA-2  The queue's virtual time is that at which its last start began.  A tenant whose tag
 *     lies before it was idle, or could not start: it begins at the queue's time, and has
 *     no credit for its absence.
 * FA-3  A start adds the mean run time of the kind to the tag.  At the end of the attempt,
 *     whatever it is, what it ran longer is added, too; what it was charged too much is
 *     the tenant's credit, and pays its next starts.  So tags never go back.
 * FA-4  An unfinished task is in a class of its tenant, as finely as policy and kind want,
 *     which is there while it has members; tasks without a key are one tenant of their
 *     own.
 * FA-5  In the heap of their stream stand the tenants' classes that have something in their
 *     heap of lanes, by the tag that their tenant had when they came or were last looked
 *     at.  Tags only grow, so that is a lower bound: a claim that meets an old one at the
 *     head enters it anew.  Many streams have a contest (TN-4).
 * FA-6  Until a change between fair and not is through (PO-3), what is in classes of tenants
 *     goes first, then what is not.
 *
 * Two tenants that have work all the time run for the same time, but for at most a mean
 * and the longest attempt of each that is under way.  Where workers serve only some kinds
 * of a queue, that holds among the tenants that the same workers can serve.
 */
#ifndef TQI_SCHEDULER_ORDER_FAIR_H
#define TQI_SCHEDULER_ORDER_FAIR_H

#include "scheduler/order/tournament.h"

#define TQI_MEAN_FIRST_US 1000 /* of a kind of which no attempt has ended: any guess will do */
#define TQI_MEAN_WEIGHT 8      /* the latest attempt counts for one in so many */

/* A tenant by queue and name, "" that of tasks without a key; 0 none. */
uint32_t tqi_tenant_find(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes);
/* The tenant that a task's record names; 0 none. */
uint32_t tqi_tenant_of(struct tqi_tx *tx, const struct tqi_task *task);

/* A task's record will name it: found or made.  0; TQ_EFULL; -ENOMEM: abort. */
int tqi_tenant_join(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t *ret_tenant);
/* It names it no more; 0 none.  Its class has no members of this task. */
void tqi_tenant_leave(struct tqi_tx *tx, uint32_t tenant);
/* A waiting task's goes with it to another queue, before its lane does.  As above. */
int tqi_tenant_move(struct tqi_tx *tx, struct tqi_task *task, uint32_t queue);

/* The queue's own tenant, made where missing.  0; TQ_EFULL; -ENOMEM: abort. */
int tqi_tenant_own(struct tqi_tx *tx, uint32_t queue);

/* A place for one more class of a tenant in the heap of a stream; -ENOMEM.  It comes; it goes. */
int tqi_fair_reserve(struct tqi_tx *tx, uint32_t queue, uint32_t kind);
void tqi_fair_enter(struct tqi_tx *tx, const struct tqi_class *class_);
void tqi_fair_leave(struct tqi_tx *tx, const struct tqi_class *class_);
/* Its heap of lanes has become empty, or is no more. */
void tqi_fair_follow(struct tqi_tx *tx, uint32_t class_);

/* The heads of a class that is watched have changed. */
static inline void tqi_class_follow(struct tqi_tx *tx, uint32_t class_)
{
	if (tqi_class_at(tx, class_)->tenant)
		tqi_fair_follow(tx, class_);
	tqi_tournament_follow(tx, class_);
}

/*
 * The tenant with the least tag that has something for a worker; 0 none.  *ret_unsettled:
 * it shows in the next transaction.
 */
uint32_t tqi_fair_tenant(struct tqi_tx *tx, const struct tqi_worker *worker,
			 const struct tqi_queue *queue, bool *ret_unsettled);

/* An attempt of a task in a tenant's class begins: what it is charged. */
int64_t tqi_fair_begin(struct tqi_tx *tx, const struct tqi_class *class_);
/* One that was charged has ended. */
void tqi_fair_end(struct tqi_tx *tx, const struct tqi_task *task,
		  const struct tqi_attempt *attempt);

#endif
