/* SPDX-License-Identifier: MIT */
/* Members of groups: their chain (GR-1), what is counted of them (GR-2), shut ones (GR-4). */
#include "scheduler/graph/blocked.h"
#include "scheduler/time/due.h"
#include "scheduler/graph/group_list.h"
#include "scheduler/order/queue.h"
#include "scheduler/record/stream.h"
#include "scheduler/record/task_record.h"
#include "scheduler/wake/called.h"
#include "scheduler/wake/room.h"
#include "scheduler/wake/wake.h"
#include "shm/list.h"

static struct tqi_extra *extra_at(struct tqi_tx *tx, uint32_t task)
{
	return tqi_task_extra(tx, tqi_task_at(tx, task));
}

TQI_LINKS(links_of, extra_at, tqi_extra, group_prev, group_next)

/* The chain (GR-1). */
static inline struct tqi_list chain_of(struct tqi_group *g)
{
	return (struct tqi_list){ links_of, &g->first, &g->last };
}

static void take_out(struct tqi_tx *tx, struct tqi_group *g, uint32_t task)
{
	const struct tqi_extra *extra = extra_at(tx, task);

	if (g->walk == task)
		TQI_SET(tx, g->walk, extra->group_next);
	if (g->ended_last == task)
		TQI_SET(tx, g->ended_last, extra->group_prev);
	tqi_list_remove(tx, chain_of(g), task);
}

static void put_behind(struct tqi_tx *tx, struct tqi_group *g, uint32_t task, uint32_t prev)
{
	uint32_t next = prev ? extra_at(tx, prev)->group_next : g->first;

	tqi_list_put(tx, chain_of(g), task, prev, next);
}

void tqi_member_join(struct tqi_tx *tx, uint32_t group, uint32_t task)
{
	struct tqi_group *g = tqi_group_at(tx, group);
	struct tqi_task *t = tqi_task_at(tx, task);
	struct tqi_extra *extra = tqi_task_extra(tx, t);

	TQI_SET(tx, extra->group, group);
	TQI_SET(tx, extra->pinned, 1);
	TQI_ADD(tx, t->pins, 1);
	put_behind(tx, g, task, g->last);
	TQI_ADD(tx, g->members, 1);
	TQI_ADD(tx, g->unfinished, 1);
}

/* Whether an end in this state is against the condition, and so why a completion is not met. */
static bool is_against(const struct tqi_group *g, uint32_t state)
{
	return g->condition == TQ_GROUP_OK ? state != TQ_DONE
					   : g->condition == TQ_GROUP_FAIL && state == TQ_DONE;
}

/* Of the completion task, if it still waits; when not, the walk cancels it. */
static bool is_met(const struct tqi_group *g)
{
	if (g->condition == TQ_GROUP_OK)
		return g->states[TQ_DONE] == g->ends;
	return g->condition == TQ_GROUP_FAIL ? g->states[TQ_DONE] < g->ends : true;
}

uint32_t tqi_group_decided(struct tqi_tx *tx, struct tqi_group *g)
{
	uint32_t completion = g->completion;

	TQI_SET(tx, g->completion, 0u);
	TQI_SET(tx, extra_at(tx, completion)->completes, 0u);
	return completion;
}

/* The wait for each of its ends is over. */
static void call_waiters(struct tqi_tx *tx, struct tqi_group *g)
{
	bool last = tqi_called_all(tx, &g->asleep_last), next = tqi_called_all(tx, &g->asleep_next);

	if (last || next)
		tqi_wake_called(tx, TQI_WAKE_POPS);
}

void tqi_group_completes(struct tqi_tx *tx, uint32_t group)
{
	struct tqi_group *g = tqi_group_at(tx, group);

	if (g->state != TQI_GROUP_SEALED || g->unfinished)
		return;
	TQI_SET(tx, g->state, TQI_GROUP_COMPLETE);
	TQI_SET(tx, g->ended_ns, tx->now_ns);
	call_waiters(tx, g);
	if (g->completion && is_met(g))
		tqi_task_unblock(tx, tqi_group_decided(tx, g));
	tqi_group_work(tx, group, TQI_GROUP_RELEASING);
}

static void count_end(struct tqi_tx *tx, uint32_t task, struct tqi_extra *extra)
{
	struct tqi_group *g = tqi_group_at(tx, extra->group);
	const struct tqi_task *t = tqi_task_at(tx, task);

	TQI_SET(tx, extra->counted, t->state);
	TQI_ADD(tx, g->ends, 1);
	TQI_SET(tx, extra->group_order, g->ends);
	tqi_wake_waiters(tx, &g->asleep_next);
	TQI_ADD(tx, g->unfinished, -1);
	if (extra->group_prev != g->ended_last) {
		take_out(tx, g, task);
		put_behind(tx, g, task, g->ended_last);
	} else if (g->walk == task) {
		TQI_SET(tx, g->walk, extra->group_next);
	}
	TQI_SET(tx, g->ended_last, task);
	if (is_against(g, t->state) && (g->condition == TQ_GROUP_FAIL || !g->culprit))
		TQI_SET(tx, g->culprit, tqi_id_make(task, t->generation));
	tqi_group_completes(tx, extra->group);
}

void tqi_member_ended(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_extra *extra = extra_at(tx, task);

	if (extra->completes) /* one that ends before its group does is none any more */
		tqi_group_decided(tx, tqi_group_at(tx, extra->completes));
	if (extra->group && !extra->counted)
		count_end(tx, task, extra);
}

void tqi_member_leave(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_extra *extra = extra_at(tx, task);

	if (!extra->group)
		return;
	struct tqi_group *g = tqi_group_at(tx, extra->group);

	take_out(tx, g, task);
	TQI_SET(tx, extra->group, 0u);
	if (extra->counted)
		return;
	TQI_ADD(tx, g->members, -1); /* it is undone */
	TQI_ADD(tx, g->unfinished, -1);
}

/* As if it came in now: a purge before its graph was published is not about it. */
static void set_wait_sequence(struct tqi_tx *tx, struct tqi_task *t, uint64_t sequence)
{
	struct tqi_queue *queue = tqi_queue_at(tx, t->queue);
	bool was = t->wait_sequence >= queue->purge_before, is = sequence >= queue->purge_before;

	TQI_SET(tx, t->wait_sequence, sequence);
	if (was == is)
		return;
	TQI_ADD(tx, queue->waiting, is ? 1 : -1);
	tqi_room_opens(tx, t->queue);
}

void tqi_member_show(struct tqi_tx *tx, uint32_t task)
{
	struct tqi_task *t = tqi_task_at(tx, task);
	struct tqi_stream *stream = tqi_stream_of(tx, t);
	struct tqi_extra *extra = tqi_task_extra(tx, t);
	struct tqi_group *g = tqi_group_at(tx, extra->group);

	tqi_task_touch(tx, t);
	TQI_SET(tx, extra->shut, 0);
	TQI_ADD(tx, g->states[TQ_FREE], -1);
	TQI_ADD(tx, g->states[TQ_BLOCKED], 1);
	TQI_ADD(tx, stream->depth[TQ_FREE], -1);
	TQI_ADD(tx, stream->depth[TQ_BLOCKED], 1);
	TQI_ADD(tx, stream->submitted, 1);
	set_wait_sequence(tx, t, g->sequence);
	tqi_due_set(tx, task, tqi_due_of(tx, t));
}

void tqi_member_refused(struct tqi_tx *tx, uint32_t task, uint64_t culprit, bool dooms)
{
	struct tqi_task *t = tqi_task_at(tx, task);
	struct tqi_extra *extra = tqi_task_extra(tx, t);

	TQI_ADD(tx, extra->unmet, -1); /* its graph is still to be published */
	TQI_SET(tx, extra->culprit, culprit);
	if (dooms)
		TQI_SET(tx, t->flags, (uint16_t)(t->flags | TQI_TASK_DOOMS));
}
