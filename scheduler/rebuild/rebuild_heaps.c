/* SPDX-License-Identifier: MIT */
/* Heaps and lists of tasks, filled from their records. */
#include <errno.h>

#include "scheduler/time/due.h"
#include "scheduler/order/fair.h"
#include "scheduler/order/lane.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/policy.h"
#include "scheduler/order/tournament.h"
#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/record/stream.h"
#include "scheduler/time/wall.h"

static int reserve_all(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);
	int r = tqi_heap_reserve(c->tx, &root->due, root->unfinished);

	if (r == 0)
		r = tqi_heap_reserve(c->tx, &root->wall, root->appointments);
	if (r == 0)
		r = tqi_heap_reserve(c->tx, &root->owners, c->tx->core->tables[TQI_WORKERS].live);

	for (uint32_t k = 1; k < c->count[TQI_CLASSES] && r == 0; k++) {
		struct tqi_class *class = tqi_class_at(c->tx, k);

		if (!(c->marks[TQI_CLASSES][k] & TQI_SEEN_LINKED))
			continue;
		struct tqi_lane *lane = tqi_lane_at(c->tx, class->plain);

		r = tqi_heap_reserve(c->tx, &class->open, class->lane_count);
		if (r == 0)
			r = tqi_heap_reserve(c->tx, &class->oldest, class->lane_count);
		if (r == 0)
			r = tqi_heap_reserve(c->tx, &lane->tasks, lane->members);
		if (r == 0 && class->aged)
			r = tqi_heap_reserve(c->tx, &lane->ages, lane->members);
	}
	return r;
}

static void enter_lane(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	struct tqi_lane *lane = tqi_lane_at(c->tx, t->lane);
	const struct tqi_class *class = tqi_class_at(c->tx, lane->class_);
	uint64_t tag = tqi_tag(t->sequence, index);

	tqi_heap_push(c->tx, &lane->tasks, TQI_FAMILY_LANE, (struct tqi_heap_entry){ t->key, tag });
	if (class->tenant)
		tqi_stream_of(c->tx, t)->tenant_ready++;
	if (class->aged)
		tqi_heap_push(c->tx, &lane->ages, TQI_FAMILY_AGE,
			      (struct tqi_heap_entry){ (int64_t)t->ready_ns, tag });
	tqi_limits_wait(c->tx, lane->limits, 1);
	tqi_root(c->tx)->ready++;
}

static void enter_heaps(struct tqi_check *c, uint32_t index, struct tqi_task *t)
{
	const struct tqi_worth worth = tqi_worth_in(t, tqi_check_extra(c, t));
	uint64_t due = UINT64_MAX;

	if (t->state == TQ_READY)
		t->key = tqi_policy_key_in(tqi_class_at(c->tx, tqi_lane_at(c->tx, t->lane)->class_),
					   t->ready_ns, &worth);
	if (t->state == TQ_READY && !(t->flags & TQI_TASK_HELD))
		enter_lane(c, index, t);
	if (t->state != TQ_RUNNING || tqi_attempt_at(c->tx, t->attempt)->phase == 0)
		due = tqi_due_of(c->tx, t);
	else if (!(t->flags & TQI_TASK_LATE)) /* its attempt is being ended: no time of that */
		due = tqi_check_deadline(c, t);
	if (tqi_check_gauge(c, t) != TQ_FREE) /* of a shut one the time is watched later */
		tqi_due_set(c->tx, index, due);
	if (t->state == TQ_DELAYED && t->due_ns == UINT64_MAX)
		tqi_wall_enter(c->tx, index);
}

static void open_lane(struct tqi_check *c, struct tqi_heap *lanes, uint32_t family, uint32_t lane,
		      const struct tqi_heap *tasks)
{
	if (tasks->length)
		tqi_heap_push(c->tx, lanes, family, tqi_lane_entry(&tasks->root, lane));
}

static void open_classes(struct tqi_check *c)
{
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++) {
		struct tqi_class *class = tqi_class_at(c->tx, k);

		if (!(c->marks[TQI_CLASSES][k] & TQI_SEEN_LINKED))
			continue;
		const struct tqi_lane *lane = tqi_lane_at(c->tx, class->plain);

		open_lane(c, &class->open, TQI_FAMILY_OPEN, class->plain, &lane->tasks);
		open_lane(c, &class->oldest, TQI_FAMILY_OLDEST, class->plain, &lane->ages);
		if (class->tenant)
			tqi_fair_follow(c->tx, k);
	}
}

/* What is best among the kinds of a queue, and of a tenant; without memory it does without (TN-3). */
static void hold_tournaments(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (queue)
			tqi_tournament_make(c->tx, &queue->tournaments, queue->classes, queue->era);
		if (queue && queue->tenant)
			tqi_contest_make(c->tx, queue);
	}
	for (uint32_t t = 1; t < c->count[TQI_TENANTS]; t++) {
		struct tqi_tenant *tenant = tqi_tenant_at(c->tx, t);

		if (c->marks[TQI_TENANTS][t] & TQI_SEEN_LINKED && tenant->classes)
			tqi_tournament_make(c->tx, &tenant->tournaments, tenant->classes,
					    tqi_class_at(c->tx, tenant->classes)->era);
	}
}

int tqi_rebuild_heaps(struct tqi_check *c)
{
	int r = reserve_all(c);

	for (uint32_t i = 1; i < c->count[TQI_TASKS] && r == 0; i++) {
		struct tqi_task *t = tqi_task_at(c->tx, i);

		if (t->state != TQ_FREE)
			enter_heaps(c, i, t);
	}
	if (r == 0) {
		open_classes(c);
		tqi_rebuild_open_lanes(c);
		hold_tournaments(c);
	}
	return r;
}

/* Finished tasks by when they ended: heap sort in the scratch memory. */

static bool ended_before(struct tqi_check *c, uint32_t a, uint32_t b)
{
	const struct tqi_task *x = tqi_task_at(c->tx, a), *y = tqi_task_at(c->tx, b);

	return x->ended_ns != y->ended_ns ? x->ended_ns < y->ended_ns : a < b;
}

static void sink(struct tqi_check *c, uint32_t *items, uint32_t at, uint32_t count)
{
	uint32_t item = items[at], child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && ended_before(c, items[child], items[child + 1]))
			child++;
		if (!ended_before(c, item, items[child]))
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = item;
}

static void sort(struct tqi_check *c, uint32_t *items, uint32_t count)
{
	for (uint32_t i = count / 2; i > 0; i--)
		sink(c, items, i - 1, count);
	for (uint32_t n = count; n > 1; n--) {
		uint32_t last = items[0];

		items[0] = items[n - 1];
		items[n - 1] = last;
		sink(c, items, 0, n - 1);
	}
}

static void list(struct tqi_check *c, uint32_t index)
{
	struct tqi_root *root = tqi_root(c->tx);
	struct tqi_task *t = tqi_task_at(c->tx, index);

	t->flags |= TQI_TASK_LISTED;
	t->prev = root->finished_newest;
	t->next = 0;
	if (root->finished_newest)
		tqi_task_at(c->tx, root->finished_newest)->next = index;
	else
		root->finished_oldest = index;
	root->finished_newest = index;
	root->finished_count++;
}

static void tell(struct tqi_check *c, uint32_t index, struct tqi_task *t)
{
	struct tqi_root *root = tqi_root(c->tx);

	t->flags |= TQI_TASK_TELLING;
	t->next = 0;
	if (root->telling_last)
		tqi_task_at(c->tx, root->telling_last)->next = index;
	else
		root->telling = index;
	root->telling_last = index;
}

static bool has_to_tell(struct tqi_check *c, const struct tqi_task *t)
{
	for (uint32_t e = t->edges; e; e = tqi_edge_at(c->tx, e)->next)
		if (tqi_edge_at(c->tx, e)->told == TQI_EDGE_OPEN)
			return true;
	return false;
}

/* A finished one to forget that nothing pins should have been freed: it is evicted first. */
void tqi_rebuild_lists(struct tqi_check *c)
{
	uint32_t *items = c->pins, count = 0; /* nobody needs the pins any more */

	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		struct tqi_task *t = tqi_task_at(c->tx, i);

		if (!tqi_state_is_final(t->state))
			continue;
		if (has_to_tell(c, t))
			tell(c, i, t);
		else if (!t->pins && !(t->flags & TQI_TASK_KEEP))
			items[count++] = i;
	}
	sort(c, items, count);
	for (uint32_t i = 0; i < count; i++)
		list(c, items[i]);
}
