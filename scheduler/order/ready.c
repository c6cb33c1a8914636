/* SPDX-License-Identifier: MIT */
/* Entering and leaving lanes. */
#include "scheduler/order/ready.h"

#include "scheduler/order/assign.h"
#include "scheduler/order/lane.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/policy.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/fair.h"
#include "scheduler/order/run.h"
#include "scheduler/record/stream.h"
#include "scheduler/record/task_record.h"
#include "scheduler/wake/wake.h"

/* Few classes are. */
static __attribute__((noinline)) void follow_ages(struct tqi_tx *tx, uint32_t l,
						  struct tqi_lane *lane, struct tqi_class *class,
						  const struct tqi_heads *before)
{
	tqi_lane_stand(tx, l, lane, TQI_BY_AGE, &class->oldest, before, before->length,
		       lane->tasks.length);
}

static void follow(struct tqi_tx *tx, uint32_t l, struct tqi_lane *lane, struct tqi_class *class,
		   const struct tqi_heads *before)
{
	if (lane->limits[0]) {
		tqi_lane_follow(tx, l, before);
		return;
	}
	tqi_lane_stand(tx, l, lane, TQI_BY_KEY, &class->open, before, before->length,
		       lane->tasks.length);
	if (class->aged)
		follow_ages(tx, l, lane, class, before);
	if (class->watched)
		tqi_class_follow(tx, lane->class_);
}

/* A ready one that is held has come (1), or it leaves (-1). */
static __attribute__((noinline)) void count_held(struct tqi_tx *tx, const struct tqi_task *task,
						 int change)
{
	TQI_ADD(tx, tqi_stream_of(tx, task)->held, change);
}

/* A task has come into its lane (1), or has left it (-1). */
static void count(struct tqi_tx *tx, const struct tqi_lane *lane, int change)
{
	TQI_ADD(tx, tqi_root(tx)->ready, change);
	if (lane->limits[0])
		tqi_limits_wait(tx, lane->limits, change);
}

/* Of a task with rare settings. */
static __attribute__((noinline)) int64_t rare_key(struct tqi_tx *tx, const struct tqi_task *task,
						  const struct tqi_class *class)
{
	const struct tqi_worth worth = tqi_worth_of(tx, task);

	return tqi_policy_key_in(class, task->ready_ns, &worth);
}

/* SV-7: it stands in the place of a server. */
static void set_key(struct tqi_tx *tx, struct tqi_task *task, const struct tqi_class *class)
{
	const struct tqi_worth own = { UINT64_MAX, task->priority, 0, 0 };
	int64_t key = task->flags & TQI_TASK_EXTRA ? rare_key(tx, task, class)
						   : tqi_policy_key_in(class, task->ready_ns, &own);

	if (key != task->key)
		TQI_SET(tx, task->key, key);
	if (task->flags & TQI_TASK_SERVED)
		TQI_SET(tx, task->flags, (uint16_t)(task->flags & ~TQI_TASK_SERVED));
}

/* One order, one lane, and nobody else to be told of its first task. */
static inline bool is_plain(const struct tqi_lane *lane, const struct tqi_class *class)
{
	return !lane->limits[0] && !(class->aged | class->watched) && class->lane_count == 1;
}

/*
 * What follow() and count() come to where a plain lane gets its first task, all under one
 * count: where tasks do not pile up, that is every one.
 */
static inline __attribute__((always_inline)) void push_first(struct tqi_tx *tx, uint32_t l,
							     struct tqi_lane *lane,
							     struct tqi_class *class,
							     const struct tqi_heap_entry *entry)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_undo *u = tqi_undo_room(tx, 2 * TQI_HEAP_ALONE + 1);

	if (!u)
		return;
	tqi_heap_note_alone(tx, &u, &lane->tasks, TQI_FAMILY_LANE);
	tqi_heap_note_alone(tx, &u, &class->open, TQI_FAMILY_OPEN);
	TQI_NOTE(tx, u, root->ready);
	tqi_undo_count(tx, 2 * TQI_HEAP_ALONE + 1);
	tqi_heap_store_alone(tx, &lane->tasks, TQI_FAMILY_LANE, *entry);
	tqi_heap_store_alone(tx, &class->open, TQI_FAMILY_OPEN, tqi_lane_entry(entry, l));
	TQI_PUT(root->ready, root->ready + 1);
}

/*
 * The same where it had others, and has: the lane's entry, alone in its class's heap, follows
 * its first task, which had this tag before.
 */
static void follow_alone(struct tqi_tx *tx, uint32_t l, const struct tqi_lane *lane,
			 struct tqi_class *class, uint64_t before, int change)
{
	struct tqi_root *root = tqi_root(tx);
	const bool follows = lane->tasks.root.tag != before;
	const uint32_t entries = 1 + (follows ? TQI_HEAP_ONLY : 0);
	struct tqi_undo *u = tqi_undo_room(tx, entries);

	if (!u)
		return;
	if (follows)
		tqi_heap_note_only(tx, &u, &class->open, TQI_FAMILY_OPEN);
	TQI_NOTE(tx, u, root->ready);
	tqi_undo_count(tx, entries);
	if (follows)
		tqi_heap_store_only(&class->open, tqi_lane_entry(&lane->tasks.root, l));
	TQI_PUT(root->ready, root->ready + (uint32_t)change);
}

/* Behind others, in order: nothing follows. */
static void push_behind(struct tqi_tx *tx, struct tqi_task *task, uint32_t index,
			struct tqi_lane *lane, struct tqi_task *last)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_undo *u = tqi_undo_room(tx, TQI_RUN_APPEND + 1);

	if (!u)
		return;
	tqi_run_note_append(tx, &u, lane, task, last);
	TQI_NOTE(tx, u, root->ready);
	tqi_undo_count(tx, TQI_RUN_APPEND + 1);
	tqi_run_store_append(lane, task, last, index);
	TQI_PUT(root->ready, root->ready + 1);
}

static void push_among(struct tqi_tx *tx, struct tqi_task *task, struct tqi_lane *lane,
		       struct tqi_class *class, const struct tqi_heap_entry *entry)
{
	const uint64_t before = lane->tasks.root.tag;
	struct tqi_task *last = tqi_run_end(tx, lane, entry);

	if (last) {
		push_behind(tx, task, tqi_tag_index(entry->tag), lane, last);
		return;
	}
	tqi_run_begin(tx, lane, entry);
	follow_alone(tx, task->lane, lane, class, before, 1);
}

/* The first of all, in order: the next one of its run is the first. */
static void remove_before(struct tqi_tx *tx, const struct tqi_task *task, uint32_t index,
			  struct tqi_lane *lane, struct tqi_class *class)
{
	const uint32_t entries = TQI_RUN_UP + TQI_HEAP_ONLY + 1;
	struct tqi_root *root = tqi_root(tx);
	struct tqi_task *next = tqi_run_next(tx, index, task->next);
	struct tqi_undo *u = tqi_undo_room(tx, entries);

	if (!u)
		return;
	tqi_run_note_up(tx, &u, lane, next);
	tqi_heap_note_only(tx, &u, &class->open, TQI_FAMILY_OPEN);
	TQI_NOTE(tx, u, root->ready);
	tqi_undo_count(tx, entries);
	tqi_run_store_up(tx, lane, next, task->next);
	tqi_heap_store_only(&class->open, tqi_lane_entry(&lane->tasks.root, task->lane));
	TQI_PUT(root->ready, root->ready - 1);
}

static void remove_among(struct tqi_tx *tx, const struct tqi_task *task, uint32_t index,
			 struct tqi_lane *lane, struct tqi_class *class)
{
	const uint64_t before = lane->tasks.root.tag;

	if (lane->tasks.length == 1 && tqi_tag_index(before) == index) {
		remove_before(tx, task, index, lane, class);
		return;
	}
	tqi_run_leave(tx, lane, index, task);
	follow_alone(tx, task->lane, lane, class, before, -1);
}

/* The same where it loses its last one. */
static void remove_last(struct tqi_tx *tx, struct tqi_lane *lane, struct tqi_class *class)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_undo *u = tqi_undo_room(tx, 3);

	if (!u)
		return;
	tqi_heap_note_length(tx, &u, &lane->tasks, TQI_FAMILY_LANE);
	tqi_heap_note_length(tx, &u, &class->open, TQI_FAMILY_OPEN);
	TQI_NOTE(tx, u, root->ready);
	tqi_undo_count(tx, 3);
	TQI_PUT(lane->tasks.length, 0);
	TQI_PUT(class->open.length, 0);
	TQI_PUT(root->ready, root->ready - 1);
	if (lane->last)
		TQI_SET(tx, lane->last, 0u);
}

/* In any order, and among any lanes. */
static __attribute__((noinline)) void push_rare(struct tqi_tx *tx, struct tqi_task *task,
						struct tqi_lane *lane, struct tqi_class *class,
						const struct tqi_heap_entry *entry)
{
	const struct tqi_heads before = tqi_lane_heads(lane);

	tqi_run_enter(tx, lane, task, entry);
	if (class->aged)
		tqi_heap_push(tx, &lane->ages, TQI_FAMILY_AGE,
			      (struct tqi_heap_entry){ (int64_t)task->ready_ns, entry->tag });
	follow(tx, task->lane, lane, class, &before);
	count(tx, lane, 1);
}

/* By the key that it has. */
static inline __attribute__((always_inline)) void push_keyed(struct tqi_tx *tx, uint32_t index,
							     struct tqi_task *task,
							     struct tqi_lane *lane,
							     struct tqi_class *class)
{
	const struct tqi_heap_entry entry = tqi_run_entry(task, index);
	const bool plain = is_plain(lane, class) && lane->tasks.capacity;

	if (plain && !lane->tasks.length && !class->open.length)
		push_first(tx, task->lane, lane, class, &entry);
	else if (plain && lane->tasks.length && class->open.length == 1)
		push_among(tx, task, lane, class, &entry);
	else
		push_rare(tx, task, lane, class, &entry);
}

/* False: it is held, and stays out. */
static bool push(struct tqi_tx *tx, uint32_t index, struct tqi_task *task, struct tqi_lane *lane)
{
	struct tqi_class *class = tqi_class_at(tx, lane->class_);

	set_key(tx, task, class);
	if (task->flags & TQI_TASK_HELD) {
		count_held(tx, task, 1);
		return false;
	}
	if (task->prev | task->next) /* of another list, before */
		TQI_SETS(tx, task, (prev, 0), (next, 0));
	push_keyed(tx, index, task, lane, class);
	return true;
}

void tqi_ready_enter(struct tqi_tx *tx, uint32_t index, bool keep_place)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	tqi_ready_enter_lane(tx, index, task, tqi_lane_at(tx, task->lane), keep_place);
}

void tqi_ready_enter_lane(struct tqi_tx *tx, uint32_t index, struct tqi_task *task,
			  struct tqi_lane *lane, bool keep_place)
{
	if (!keep_place || task->ready_ns == 0)
		TQI_SET(tx, task->ready_ns, tx->now_ns);
	if (lane->limits[0] && !(task->flags & TQI_TASK_HELD))
		tqi_limits_freshen(tx, lane->limits);
	/* Whom a limit holds back is nobody's work yet. */
	if (push(tx, index, task, lane) && tx->core->waiter_for_work &&
	    !(lane->limits[0] && tqi_limits_full(tx, lane->limits)))
		tqi_wake_for(tx, lane->class_);
}

void tqi_ready_enter_new(struct tqi_tx *tx, uint32_t index, struct tqi_task *task,
			 struct tqi_lane *lane, struct tqi_class *class)
{
	if (class->edf) /* a deadline is the key: it has none */
		set_key(tx, task, class);
	push_keyed(tx, index, task, lane, class);
	if (tx->core->waiter_for_work)
		tqi_wake_for(tx, lane->class_);
}

void tqi_ready_reenter(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	push(tx, index, task, tqi_lane_at(tx, task->lane));
}

void tqi_ready_leave(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_lane *lane = tqi_lane_at(tx, task->lane);

	tqi_ready_leave_lane(tx, index, task, lane, tqi_class_at(tx, lane->class_));
}

void tqi_ready_leave_lane(struct tqi_tx *tx, uint32_t index, const struct tqi_task *task,
			  struct tqi_lane *lane, struct tqi_class *class)
{
	if (task->flags & TQI_TASK_HELD) {
		count_held(tx, task, -1);
		return;
	}
	if (task->flags & TQI_TASK_ASSIGNED) {
		tqi_assigned_leave(tx, index);
		return;
	}
	if (is_plain(lane, class) && class->open.length == 1) {
		const uint32_t tasks = tqi_run_tasks(lane);

		if (tasks > 1)
			remove_among(tx, task, index, lane, class);
		else if (tasks && tqi_tag_index(lane->tasks.root.tag) == index)
			remove_last(tx, lane, class);
		else
			tx->corrupt = true; /* it is not there */
		return;
	}
	const struct tqi_heads before = tqi_lane_heads(lane);

	tqi_run_leave(tx, lane, index, task);
	if (class->aged)
		tqi_heap_remove(tx, &lane->ages, TQI_FAMILY_AGE, index);
	follow(tx, task->lane, lane, class, &before);
	count(tx, lane, -1);
}
