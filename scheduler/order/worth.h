/* SPDX-License-Identifier: MIT */
/*
 * What a task is worth in the order of its queue: its own priority and deadline, or what
 * it has inherited of those that wait for it (scheduler/graph/inherit.h), whichever is better.
 * Only arithmetic: for copies of records, too.
 */
#ifndef TQI_SCHEDULER_ORDER_WORTH_H
#define TQI_SCHEDULER_ORDER_WORTH_H

#include "scheduler/record/extra.h"

/* `hops`: over so many waits it came; 0 its own. */
struct tqi_worth {
	uint64_t deadline_ns; /* UINT64_MAX none */
	int32_t priority;
	uint16_t hops;
	uint16_t deadline_hops;
};

#define TQI_WORTH_NOTHING ((struct tqi_worth){ .deadline_ns = UINT64_MAX, .priority = INT32_MIN })

/* Of two equal ones the one that came over fewer waits is the better (IN-6). */
static inline bool tqi_worth_is_higher(const struct tqi_worth *a, const struct tqi_worth *b)
{
	return a->priority > b->priority || (a->priority == b->priority && a->hops < b->hops);
}

static inline bool tqi_worth_is_earlier(const struct tqi_worth *a, const struct tqi_worth *b)
{
	return a->deadline_ns < b->deadline_ns ||
	       (a->deadline_ns == b->deadline_ns && a->deadline_hops < b->deadline_hops);
}

/* What is better of the two in each respect. */
static inline struct tqi_worth tqi_worth_best(struct tqi_worth a, const struct tqi_worth *b)
{
	if (tqi_worth_is_higher(b, &a)) {
		a.priority = b->priority;
		a.hops = b->hops;
	}
	if (tqi_worth_is_earlier(b, &a)) {
		a.deadline_ns = b->deadline_ns;
		a.deadline_hops = b->deadline_hops;
	}
	return a;
}

/* What one is worth who is waited for by somebody of this worth (IN-1, IN-6). */
static inline struct tqi_worth tqi_worth_passed_on(struct tqi_worth w)
{
	if (w.priority == INT32_MIN || w.hops == UINT16_MAX)
		w = (struct tqi_worth){ w.deadline_ns, INT32_MIN, 0, w.deadline_hops };
	else
		w.hops++;
	if (w.deadline_ns == UINT64_MAX || w.deadline_hops == UINT16_MAX)
		w = (struct tqi_worth){ UINT64_MAX, w.priority, w.hops, 0 };
	else
		w.deadline_hops++;
	return w;
}

/* What a slot lends by its edges. */
static inline struct tqi_worth tqi_worth_lent(const struct tqi_waiter *slot)
{
	return (struct tqi_worth){ slot->lent_deadline_ns, slot->lent, slot->lent_hops,
				   slot->lent_deadline_hops };
}

/* What it has inherited. */
static inline struct tqi_worth tqi_worth_inherited(const struct tqi_extra *extra)
{
	struct tqi_worth w = TQI_WORTH_NOTHING;

	if (extra->inherited_hops) {
		w.priority = extra->inherited;
		w.hops = extra->inherited_hops;
	}
	if (extra->inherited_deadline_hops) {
		w.deadline_ns = extra->inherited_deadline_ns;
		w.deadline_hops = extra->inherited_deadline_hops;
	}
	return w;
}

/* With its rare settings, NULL it has none. */
static inline struct tqi_worth tqi_worth_in(const struct tqi_task *task,
					    const struct tqi_extra *extra)
{
	struct tqi_worth w = { UINT64_MAX, task->priority, 0, 0 };

	if (!extra)
		return w;
	const struct tqi_worth inherited = tqi_worth_inherited(extra);

	w.deadline_ns = extra->deadline_ns;
	return tqi_worth_best(w, &inherited);
}

static inline struct tqi_worth tqi_worth_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_worth_in(task, task->flags & TQI_TASK_EXTRA ? tqi_task_extra(tx, task) : NULL);
}

/* Without what it has inherited. */
static inline struct tqi_worth tqi_worth_own(struct tqi_tx *tx, const struct tqi_task *task)
{
	struct tqi_worth w = { UINT64_MAX, task->priority, 0, 0 };

	if (task->flags & TQI_TASK_EXTRA)
		w.deadline_ns = tqi_task_extra(tx, task)->deadline_ns;
	return w;
}

static inline bool tqi_worth_is(const struct tqi_worth *a, const struct tqi_worth *b)
{
	return a->priority == b->priority && a->hops == b->hops &&
	       a->deadline_ns == b->deadline_ns && a->deadline_hops == b->deadline_hops;
}

#endif
