/* SPDX-License-Identifier: MIT */
/* Inheritance as observers see it. */
#include "client/observe/inherited.h"

#include "client/observe/snapshot.h"
#include "scheduler/order/worth.h"

#define EDGES_MAX 64 /* of those that wait, looked at: a listing may have thousands of tasks */

/* The record of the task that waits, itself or by a slot on its behalf; 0 none. */
static uint32_t peek_donor(const struct tqi_segment *seg, const struct tqi_edge *edge)
{
	struct tqi_waiter slot;
	struct tqi_attempt attempt;

	if (edge->kind)
		return edge->waiter;
	if (tqi_peek_record(seg, TQI_WAITERS, edge->waiter, &slot) < 0 || !slot.attempt ||
	    tqi_peek_record(seg, TQI_ATTEMPTS, slot.attempt, &attempt) < 0 ||
	    attempt.waits_life != slot.attempt_life)
		return 0;
	return attempt.task;
}

/* Its id, if the task is worth what the other one has of it. */
static uint64_t lent_by(const struct tqi_segment *seg, uint32_t index, const struct tqi_worth *has)
{
	struct tqi_task task;
	struct tqi_extra extra;

	if (!index || tqi_peek_record(seg, TQI_TASKS, index, &task) < 0 ||
	    tqi_state_is_final(task.state))
		return 0;
	const struct tqi_worth w = tqi_worth_passed_on(
		tqi_worth_in(&task, tqi_peek_extra(seg, &task, &extra) ? &extra : NULL));
	bool lends = has->hops ? w.priority == has->priority && w.hops == has->hops
			       : w.deadline_ns == has->deadline_ns;

	return lends ? tqi_id_make(index, task.generation) : 0;
}

static uint64_t find_donor(const struct tqi_segment *seg, const struct tqi_task *task,
			   const struct tqi_worth *has)
{
	uint32_t e = task->edges;
	struct tqi_edge edge;
	uint64_t id = 0;

	for (uint32_t n = 0; e && !id && n < EDGES_MAX; n++) {
		if (tqi_peek_record(seg, TQI_EDGES, e, &edge) < 0)
			break;
		if (!edge.quiet)
			id = lent_by(seg, peek_donor(seg, &edge), has);
		e = edge.next;
	}
	return id;
}

void tqi_info_inherited(const struct tqi_segment *seg, const struct tqi_task *task,
			const struct tqi_extra *extra, struct tq_task_info *info)
{
	const struct tqi_worth has = tqi_worth_in(task, extra);

	if (tqi_state_is_final(task->state) || (!has.hops && !has.deadline_hops))
		return;
	info->effective_priority = has.priority;
	info->inherited_deadline_ns = has.deadline_hops ? has.deadline_ns : 0;
	info->inherited_from = find_donor(seg, task, &has);
}
