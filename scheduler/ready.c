/* SPDX-License-Identifier: MIT */
/* Entering and leaving lanes; choosing the best. */
#include "scheduler/ready.h"

#include "scheduler/policy.h"
#include "scheduler/queue.h"
#include "scheduler/wake.h"

static struct tqi_heap_entry entry_of(const struct tqi_task *task, uint32_t index)
{
	return (struct tqi_heap_entry){ task->key, tqi_tag(task->sequence, index) };
}

/* A lane's entry in its class: the key and sequence of its first task. */
static struct tqi_heap_entry lane_entry(const struct tqi_heap_entry *first, uint32_t lane)
{
	return (struct tqi_heap_entry){ first->key,
					(first->tag & ~(uint64_t)TQI_INDEX_MASK) | lane };
}

/* The lane's first task has changed from `before` (length 0: there was none). */
static void reopen(struct tqi_tx *tx, uint32_t l, uint32_t length_before,
		   struct tqi_heap_entry before)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);
	struct tqi_class *class = tqi_class_at(tx, lane->class_);
	const struct tqi_heap_entry *first = &lane->tasks.root;

	if (lane->tasks.length == 0)
		tqi_heap_remove(tx, &class->open, TQI_FAMILY_OPEN, l);
	else if (length_before == 0)
		tqi_heap_push(tx, &class->open, TQI_FAMILY_OPEN, lane_entry(first, l));
	else if (first->tag != before.tag || first->key != before.key)
		tqi_heap_rekey(tx, &class->open, TQI_FAMILY_OPEN, l, lane_entry(first, l));
}

static void set_key(struct tqi_tx *tx, struct tqi_task *task, const struct tqi_class *class)
{
	int64_t key = tqi_policy_key(class->rate, task->ready_ns, task->priority);

	if (key != task->key)
		TQI_SET(tx, task->key, key);
}

/* False: it is held, and stays out. */
static bool push(struct tqi_tx *tx, uint32_t index, struct tqi_task *task, struct tqi_lane *lane)
{
	uint32_t length = lane->tasks.length;
	struct tqi_heap_entry first = lane->tasks.root;

	set_key(tx, task, tqi_class_at(tx, lane->class_));
	if (task->flags & TQI_TASK_HELD)
		return false;
	tqi_heap_push(tx, &lane->tasks, TQI_FAMILY_LANE, entry_of(task, index));
	reopen(tx, task->lane, length, first);
	TQI_ADD(tx, tqi_root(tx)->ready, 1);
	return true;
}

void tqi_ready_enter(struct tqi_tx *tx, uint32_t index, bool keep_place)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_lane *lane = tqi_lane_at(tx, task->lane);

	if (!keep_place || task->ready_ns == 0)
		TQI_SET(tx, task->ready_ns, tx->now_ns);
	if (push(tx, index, task, lane))
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
	uint32_t length = lane->tasks.length;
	struct tqi_heap_entry first = lane->tasks.root;

	if (task->flags & TQI_TASK_HELD)
		return;
	tqi_heap_remove(tx, &lane->tasks, TQI_FAMILY_LANE, index);
	reopen(tx, task->lane, length, first);
	TQI_ADD(tx, tqi_root(tx)->ready, -1);
}

static bool can_run(const struct tqi_worker *worker, const struct tqi_class *class)
{
	return tqi_worker_serves_kind(worker, class->kind);
}

bool tqi_worker_serves_queue(const struct tqi_worker *worker, uint32_t queue)
{
	for (uint32_t i = 0; i < worker->queue_count && i < TQ_WORKER_QUEUES_MAX; i++)
		if (worker->queues[i] == queue)
			return true;
	return false;
}

bool tqi_worker_serves(const struct tqi_worker *worker, const struct tqi_class *class)
{
	return can_run(worker, class) && tqi_worker_serves_queue(worker, class->queue);
}

/* A head, as it stands now. */
struct head {
	int64_t urgency;
	uint64_t tag; /* sequence and lane; 0 none */
	uint32_t band;
};

static bool is_before(const struct head *a, const struct head *b)
{
	return !b->tag || a->urgency > b->urgency ||
	       (a->urgency == b->urgency && (int64_t)(a->tag - b->tag) < 0);
}

/* P1, P5: classes of several rates, bands or eras, compared now; equal ones by sequence. */
static uint32_t most_urgent(struct tqi_tx *tx, const struct tqi_worker *worker,
			    const struct tqi_queue *queue, struct tqi_turn *turn)
{
	struct head best = { 0, 0, 0 }, least = { 0, 0, TQ_BANDS };

	for (uint32_t c = queue->classes; c && !tx->corrupt;) {
		const struct tqi_class *class = tqi_class_at(tx, c);

		c = class->next;
		if (!class->open.length || !can_run(worker, class))
			continue;
		const struct tqi_heap_entry *entry = &class->open.root;
		struct head head = { tqi_policy_urgency(class->rate, tx->now_ns, entry->key),
				     entry->tag, class->band };

		if (is_before(&head, &best))
			best = head;
		if (head.band < least.band || (head.band == least.band && is_before(&head, &least)))
			least = head;
	}
	if (queue->hybrid && queue->hybrid_count >= queue->hybrid)
		best = least;
	turn->is_least = best.band == least.band;
	return tqi_tag_index(best.tag);
}

/* Lane with the best head among the classes of one queue that the worker can run. */
static uint32_t best_lane(struct tqi_tx *tx, const struct tqi_worker *worker,
			  const struct tqi_queue *queue)
{
	struct tqi_heap_entry best = { 0, 0 };
	uint32_t lane = 0;

	for (uint32_t c = queue->classes; c && !tx->corrupt;) {
		const struct tqi_class *class = tqi_class_at(tx, c);
		const struct tqi_heap_entry *head = &class->open.root;

		if (class->open.length && can_run(worker, class) &&
		    (!lane || tqi_entry_before(head, &best))) {
			best = *head;
			lane = tqi_tag_index(head->tag);
		}
		c = class->next;
	}
	return lane;
}

static uint32_t best_of_queue(struct tqi_tx *tx, const struct tqi_worker *worker, uint32_t q,
			      struct tqi_turn *turn)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, q);
	uint32_t lane;

	if (queue->flags & (TQI_QUEUE_PAUSED | TQI_QUEUE_ORDERED)) {
		if (queue->flags & TQI_QUEUE_PAUSED)
			return 0;
		lane = most_urgent(tx, worker, queue, turn);
		turn->queue = queue->hybrid ? q : 0;
	} else {
		lane = best_lane(tx, worker, queue);
	}
	return lane ? tqi_tag_index(tqi_lane_at(tx, lane)->tasks.root.tag) : 0;
}

uint32_t tqi_ready_choose(struct tqi_tx *tx, const struct tqi_worker *worker,
			  struct tqi_turn *ret_turn)
{
	ret_turn->queue = 0;
	for (uint32_t i = 0; i < worker->queue_count && i < TQ_WORKER_QUEUES_MAX; i++) {
		uint32_t task = best_of_queue(tx, worker, worker->queues[i], ret_turn);

		if (task)
			return task;
		ret_turn->queue = 0;
	}
	return 0;
}

uint32_t tqi_ready_best(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	struct tqi_turn turn;

	return tqi_ready_choose(tx, worker, &turn);
}

void tqi_ready_take_turn(struct tqi_tx *tx, const struct tqi_turn *turn)
{
	struct tqi_queue *queue = tqi_queue_at(tx, turn->queue);
	uint32_t count = turn->is_least ? 0 : queue->hybrid_count + 1;

	if (count > queue->hybrid)
		count = queue->hybrid;
	if (count != queue->hybrid_count)
		TQI_SET(tx, queue->hybrid_count, count);
}
