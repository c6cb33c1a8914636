/* SPDX-License-Identifier: MIT */
/* Walks over the members of groups, a slice in each hold (GR-8). */
#include "scheduler/task/group_walk.h"

#include "scheduler/graph/after.h"
#include "scheduler/graph/group_list.h"
#include "scheduler/task/steer.h"
#include "scheduler/task/submit.h"
#include "scheduler/task/task.h"
#include "scheduler/wake/wake.h"

#define LOOKS_SLICE 64	/* members looked at in one hold ... */
#define CHANGES_SLICE 8 /* ... of which so many may be changed: journal space */

/* The next one, from which the walk has moved on; 0 none, or enough for this hold. */
static uint32_t step(struct tqi_tx *tx, struct tqi_group *g, uint32_t looks, uint32_t changes)
{
	uint32_t task = g->walk;

	if (!task || looks >= LOOKS_SLICE || changes >= CHANGES_SLICE || tx->corrupt ||
	    tqi_tx_is_filling(tx))
		return 0;
	TQI_SET(tx, g->walk, tqi_task_extra(tx, tqi_task_at(tx, task))->group_next);
	return task;
}

static bool open_one(struct tqi_tx *tx, uint32_t task)
{
	if (!tqi_task_is_shut(tx, tqi_task_at(tx, task)))
		return false;
	tqi_member_open(tx, task);
	return true;
}

static bool cancel_one(struct tqi_tx *tx, uint32_t task)
{
	const struct tqi_task *t = tqi_task_at(tx, task);

	if (open_one(tx, task)) /* it ends by that: refused before, or condemned now */
		return true;
	if (tqi_state_is_final(t->state) || (t->flags & TQI_TASK_CANCEL))
		return false;
	tqi_steer_cancel_task(tx, task);
	return true;
}

static bool release_one(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_task *t = tqi_task_at(tx, task);
	struct tqi_extra *extra = tqi_task_extra(tx, t);

	if (!extra->pinned)
		return false;
	tqi_task_touch(tx, t);
	TQI_SET(tx, extra->pinned, 0);
	TQI_ADD(tx, t->pins, -1);
	if (tqi_state_is_final(t->state))
		tqi_task_settle(tx, task);
	return true;
}

static void walk(struct tqi_tx *tx, struct tqi_group *g)
{
	static bool (*const of[])(struct tqi_tx *, uint32_t) = {
		[TQI_GROUP_OPENING] = open_one,
		[TQI_GROUP_CANCELLING] = cancel_one,
		[TQI_GROUP_RELEASING] = release_one,
	};
	const uint32_t work = g->work; /* the last end may make it another */
	uint32_t looks = 0, changes = 0, task;

	while (g->work == work && (task = step(tx, g, looks, changes))) {
		looks++;
		changes += of[work](tx, task);
	}
}

/* Newest first: who depends on a member goes before it. */
static void undo(struct tqi_tx *tx, struct tqi_group *g)
{
	for (uint32_t i = 0; i < CHANGES_SLICE && g->last && !tx->corrupt && !tqi_tx_is_filling(tx);
	     i++)
		if (!tqi_submit_undo(tx, g->last))
			return;
}

/* GR-5: the condition was not met. */
static void cancel_completion(struct tqi_tx *tx, struct tqi_group *g)
{
	uint32_t task = tqi_group_decided(tx, g);

	if (g->culprit)
		tqi_after_refuse(tx, task, g->culprit, false);
	else
		tqi_task_cancel_waiting(tx, task); /* nobody has failed, as nobody was there */
}

/* The walk has come to its end. */
static void rest(struct tqi_tx *tx, uint32_t group)
{
	struct tqi_group *g = tqi_group_at(tx, group);
	uint32_t work = g->work;

	TQI_SET(tx, g->work, TQI_GROUP_IDLE);
	if (work == TQI_GROUP_RELEASING)
		tqi_group_list(tx, group, &tqi_root(tx)->group.ended);
	else if (work == TQI_GROUP_UNDOING)
		tqi_group_free(tx, group);
	if (!tqi_root(tx)->group.busy)
		tqi_wake_empty(tx);
}

bool tqi_group_slice(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t group = root->group.busy;
	struct tqi_group *g = tqi_group_at(tx, group);

	if (g->work == TQI_GROUP_UNDOING)
		undo(tx, g);
	else if (g->work == TQI_GROUP_RELEASING && g->completion)
		cancel_completion(tx, g);
	else
		walk(tx, g);
	bool more = g->work == TQI_GROUP_UNDOING ? g->last : g->walk;

	TQI_SET(tx, root->group.busy, g->busy_next); /* others may have joined behind it */
	if (more)
		tqi_group_enqueue(tx, group); /* in turn */
	else
		rest(tx, group);
	return root->group.busy != 0;
}
