/* SPDX-License-Identifier: MIT */
/*
 * The order inside a queue: bands of priorities, each with a rate of ageing.
 *
 * PO-1  A task's effective priority is its priority, its own or inherited (IN-1), + rate x
 *     (now - ready_ns).  Two tasks
 *     of one rate are in the same order at every time, so the key, rate x ready_ns -
 *     priority, is fixed when it becomes ready; heads of classes are compared at the
 *     claim, each with its class's own rate.  Equal ones start as they were submitted.
 * PO-2  A task's band is the one with the highest lower bound that is not above its
 *     priority.  Classes are kept apart by band only where bands matter
 *     (TQI_QUEUE_BANDED): without hybrid turns, all of one rate are in band 0.
 * PO-3  A change that moves tasks to other classes begins an era.  From then on whatever
 *     comes joins the new era's chain of classes; the sweep carries the unfinished ones of
 *     the earlier era over, ready_ns and all, and frees what they leave empty.  Until
 *     nothing is left of that chain (TQI_QUEUE_MOVING), claims compare heads of both eras
 *     (PO-1), and a further such change is refused: there are never more than two.
 * PO-4  A move may find no memory: the task then stays where it is, startable as before,
 *     and a keeper's look begins another round.
 * PO-5  Earliest deadline first: the band decides, and inside it the deadline, which is the
 *     key; tasks without one come last.  A head of the earlier era is compared as what it
 *     would be in the new one.
 * PO-6  Max-wait: a task that has been ready for so long is overdue.  It stays where it is,
 *     and at most every second start is the one that has been ready longest of the
 *     overdue ones, so that under overload, when all are overdue, priority still counts.
 * PO-7  Hybrid: when as many starts as the setting says were of bands other than the least
 *     urgent one that had work for the worker, the next is the best of that band.  Starts
 *     of overdue tasks do not count.  (Until a move is through, what has not been moved
 *     counts to its earlier band.)
 */
#ifndef TQI_SCHEDULER_ORDER_POLICY_H
#define TQI_SCHEDULER_ORDER_POLICY_H

#include "scheduler/order/worth.h"

/*
 * Arithmetic of PO-1, in millionths of a point: thousandths of a point a second times
 * thousandths of a second.  A segment does not outlive a boot of so many years.
 */
#define TQI_POINT INT64_C(1000000)
#define TQI_KEY_SPAN (-(int64_t)INT32_MIN * TQI_POINT) /* that priorities make up */
#define TQI_KEY_MS_MAX ((INT64_MAX - 2 * TQI_KEY_SPAN) / TQ_AGEING_MAX)
#define TQI_NS_PER_MS 1000000u
_Static_assert(TQI_KEY_MS_MAX / 1000 / 86400 / 365 >= 29, "years after a boot");

static inline int64_t tqi_policy_aged(uint32_t rate, uint64_t when_ns)
{
	uint64_t ms = when_ns / TQI_NS_PER_MS;

	return (int64_t)rate * (int64_t)(ms < TQI_KEY_MS_MAX ? ms : TQI_KEY_MS_MAX);
}

/* The key of a task that is ready since then; smaller starts earlier. */
static inline int64_t tqi_policy_key(uint32_t rate, uint64_t ready_ns, int32_t priority)
{
	int64_t key = -(int64_t)priority * TQI_POINT;

	return rate ? key + tqi_policy_aged(rate, ready_ns) : key;
}

/* The key of a task of this worth in a class. */
static inline int64_t tqi_policy_key_in(const struct tqi_class *class, uint64_t ready_ns,
					const struct tqi_worth *worth)
{
	if (class->edf)
		return worth->deadline_ns < INT64_MAX ? (int64_t)worth->deadline_ns : INT64_MAX;
	return tqi_policy_key(class->rate, ready_ns, worth->priority);
}

/* Its effective priority at a time that is not before; bigger starts earlier. */
static inline int64_t tqi_policy_urgency(uint32_t rate, uint64_t now_ns, int64_t key)
{
	return rate ? tqi_policy_aged(rate, now_ns) - key : -key;
}

static inline uint32_t tqi_policy_band(const struct tqi_queue *queue, int32_t priority)
{
	uint32_t band = 0;

	if (!(queue->flags & TQI_QUEUE_BANDED))
		return 0;
	while (band < TQ_BANDS - 1 && priority >= queue->band_from[band])
		band++;
	return band;
}

/* The policy of a queue, or a change of it. */
struct tqi_policy {
	uint32_t ageing[TQ_BANDS]; /* change: 0 leave, TQ_OFF none */
	int32_t band_from[TQ_BANDS - 1]; /* change: all 0 leave */
	uint32_t hybrid;		 /* change: 0 leave, TQ_OFF none */
	uint32_t edf;			 /* change: 0 leave, TQ_OFF none */
	uint32_t fair;			 /* likewise */
	uint64_t max_wait_ns;		 /* change: 0 leave, UINT64_MAX none */
};

/* Plain stores of the default into a new queue (TX-3). */
void tqi_policy_init(struct tqi_queue *queue);
/*
 * 0; -EBUSY tasks are still on their way from the change before; -EINVAL bands out of
 * order; -ENOTSUP ageing and deadlines cannot both order, nor can tenants have hybrid
 * turns; TQ_EFULL, -ENOMEM no tenant for tasks without a key.
 */
int tqi_policy_set(struct tqi_tx *tx, uint32_t queue, const struct tqi_policy *change);

/* The flags of a queue that follow from its policy; for check and rebuild. */
#define TQI_POLICY_FLAGS                                                                           \
	(TQI_QUEUE_BANDED | TQI_QUEUE_ORDERED | TQI_QUEUE_MOVING | TQI_QUEUE_SHARED)
uint32_t tqi_policy_flags(const struct tqi_queue *queue);
void tqi_policy_set_flags(struct tqi_tx *tx, struct tqi_queue *queue);
/* Classes of the era before, a queue's own ones; how many there are with its tenants' is `left`. */
static inline struct tqi_chain *tqi_policy_earlier(struct tqi_queue *queue)
{
	return &queue->chains[~queue->era & 1];
}

/* Sweep: carry an unfinished task over to its queue's era.  True when the record was changed. */
bool tqi_policy_move(struct tqi_tx *tx, uint32_t task);
/* An unfinished task is worth something else: to its place.  False: no memory, it stays. */
bool tqi_policy_place(struct tqi_tx *tx, uint32_t task);
/*
 * A round of the sweep is over: classes that are empty now go, and queues that have none of
 * an earlier era any more are through.  Where the root says `moving_at` it goes on from there.
 */
void tqi_policy_round(struct tqi_tx *tx, uint32_t from);

#endif
