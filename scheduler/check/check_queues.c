/* SPDX-License-Identifier: MIT */
/* Policies of queues, tasks by their times, and gauges against the recount. */
#include "scheduler/check/check_state.h"

#include "scheduler/order/policy.h"
#include "scheduler/record/queue_set.h"
#include "scheduler/record/task_record.h"

/* PO-2, PO-3. */
static void check_policy(struct tqi_check *c, uint32_t q)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

	if (!queue)
		return;
	c->moving += !!(queue->flags & TQI_QUEUE_MOVING);
	if (!(queue->flags & TQI_QUEUE_MOVING) !=
	    !tqi_queue_set_has(&tqi_root(c->tx)->moving.queues, q))
		tqi_check_fault(c, "queue %u: among those with tasks on their way, or not", q);
	tqi_check_equal(c, "queue", q, "flags of its policy", queue->flags & TQI_POLICY_FLAGS,
			tqi_policy_flags(queue));
	if (queue->hybrid > TQ_HYBRID_MAX || queue->hybrid_count > queue->hybrid)
		tqi_check_fault(c, "queue %u: start %u of %u to the turn of the least urgent", q,
				queue->hybrid_count, queue->hybrid);
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (queue->ageing[b] > TQ_AGEING_MAX || (queue->ageing[b] && queue->edf))
			tqi_check_fault(c, "queue %u: band %u ages at %u", q, b, queue->ageing[b]);
	if (queue->batch > TQ_BATCH_MAX)
		tqi_check_fault(c, "queue %u: batch %u", q, queue->batch);
	if (queue->edf > 1 || !queue->max_wait_ns ||
	    queue->overdue_turn > (queue->max_wait_ns != UINT64_MAX))
		tqi_check_fault(c, "queue %u: edf %u, turn of the overdue %u", q, queue->edf,
				queue->overdue_turn);
	for (uint32_t b = 1; b < TQ_BANDS - 1; b++)
		if (queue->band_from[b] <= queue->band_from[b - 1])
			tqi_check_fault(c, "queue %u: band %u begins at %d", q, b,
					queue->band_from[b]);
}

void tqi_check_queues(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++)
		check_policy(c, q);
	tqi_check_classes(c);
}

/*
 * Of a running task the key is when it was next to be looked at, seen some time ago;
 * a deadline to watch is never missed.
 */
static bool expect_in_due(struct tqi_check *c, uint32_t index, const struct tqi_check_heap *h,
			  struct tqi_heap_entry *entry)
{
	const struct tqi_task *t = tqi_task_at(c->tx, index);

	(void)h;
	uint64_t latest = t->flags & TQI_TASK_LATE ? UINT64_MAX : tqi_check_deadline(c, t);

	if (t->state != TQ_RUNNING && tqi_task_total_end(t) < latest)
		latest = tqi_task_total_end(t);
	if (t->state == TQ_DELAYED && t->due_ns < latest)
		latest = t->due_ns;

	entry->tag = tqi_tag(t->sequence, index);
	if (t->state != TQ_RUNNING || (uint64_t)entry->key > latest)
		entry->key = (int64_t)latest;
	return t->flags & TQI_TASK_DUE;
}

static bool expect_in_wall(struct tqi_check *c, uint32_t index, const struct tqi_check_heap *h,
			   struct tqi_heap_entry *entry)
{
	const struct tqi_task *t = tqi_task_at(c->tx, index);

	(void)h;
	*entry =
		(struct tqi_heap_entry){ (int64_t)tqi_check_at(c, t), tqi_tag(t->sequence, index) };
	return t->flags & TQI_TASK_AT;
}

/* Nothing is missing from the heaps. */
static void check_in_heaps(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, i);
		uint32_t mark = c->marks[TQI_TASKS][i];

		if (!t)
			continue;
		if ((t->flags & TQI_TASK_ASSIGNED) && !(mark & TQI_SEEN_LINKED))
			tqi_check_fault(c, "task %u: assigned, but on no worker's list", i);
		if (t->state != TQ_FREE && (t->flags & TQI_TASK_DUE) && !(mark & TQI_SEEN_DUE))
			tqi_check_fault(c, "task %u: not in the due heap", i);
		if (t->state != TQ_FREE && (t->flags & TQI_TASK_AT) && !(mark & TQI_SEEN_WALL))
			tqi_check_fault(c, "task %u: not in the wall heap", i);
	}
}

static void check_root(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);

	tqi_check_heap(c, &(struct tqi_check_heap){ &root->time.due, TQI_FAMILY_DUE, TQI_TASKS,
						    TQI_SEEN_DUE, 0, "due times", expect_in_due });
	tqi_check_heap(c, &(struct tqi_check_heap){ &root->time.wall, TQI_FAMILY_WALL, TQI_TASKS,
						    TQI_SEEN_WALL, 0, "appointments",
						    expect_in_wall });
	tqi_check_equal(c, "root", 0, "appointments", root->time.appointments, c->appointments);
	tqi_check_equal(c, "root", 0, "unfinished", root->unfinished, c->unfinished);
	tqi_check_equal(c, "root", 0, "ready", root->ready, c->ready);
	tqi_check_equal(c, "root", 0, "assigned", root->assigned, c->assigned);
	tqi_check_equal(c, "root", 0, "running", root->running, c->running);
	tqi_check_equal(c, "root", 0, "empty_workers", root->empty_workers, c->empty_workers);
	tqi_check_equal(c, "root", 0, "dying_workers", root->dying_workers, c->dying_workers);
	tqi_check_equal(c, "root", 0, "room_waiters", root->room_waiters, c->room_waiters);
	tqi_check_equal(c, "root", 0, "moving", root->moving.count, c->moving);
	if (root->time.wall.capacity < root->time.appointments)
		tqi_check_fault(c, "root: no room for %u appointments", root->time.appointments);
	if (root->time.due.capacity < root->unfinished)
		tqi_check_fault(c, "root: no due times for all of %u unfinished", root->unfinished);
}

void tqi_check_gauges(struct tqi_check *c)
{
	tqi_check_lanes(c);
	check_root(c);
	check_in_heaps(c);
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (queue)
			tqi_check_equal(c, "queue", q, "waiting", queue->waiting, c->waiting[q]);
	}
}
