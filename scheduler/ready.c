/* SPDX-License-Identifier: MIT */
/* Entering and leaving lanes; choosing the best. */
#include "scheduler/ready.h"

#include "scheduler/policy.h"
#include "scheduler/queue.h"
#include "scheduler/task.h"
#include "scheduler/wake.h"

/* A lane's entry in its class: the key and sequence of its first task. */
static struct tqi_heap_entry lane_entry(const struct tqi_heap_entry *first, uint32_t lane)
{
	return (struct tqi_heap_entry){ first->key,
					(first->tag & ~(uint64_t)TQI_INDEX_MASK) | lane };
}

/* One order of a lane's tasks, and of the class's lanes by their first ones. */
struct order {
	struct tqi_heap *tasks, *lanes;
	uint32_t task_family, lane_family;
};

static struct order by_key(struct tqi_lane *lane, struct tqi_class *class)
{
	return (struct order){ &lane->tasks, &class->open, TQI_FAMILY_LANE, TQI_FAMILY_OPEN };
}

/* P6. */
static struct order by_age(struct tqi_lane *lane, struct tqi_class *class)
{
	return (struct order){ &lane->ages, &class->oldest, TQI_FAMILY_AGE, TQI_FAMILY_OLDEST };
}

/* The lane's first task has changed from `before` (length 0: there was none). */
static void reopen(struct tqi_tx *tx, const struct order *o, uint32_t lane, uint32_t length_before,
		   struct tqi_heap_entry before)
{
	const struct tqi_heap_entry *first = &o->tasks->root;

	if (o->tasks->length == 0)
		tqi_heap_remove(tx, o->lanes, o->lane_family, lane);
	else if (length_before == 0)
		tqi_heap_push(tx, o->lanes, o->lane_family, lane_entry(first, lane));
	else if (first->tag != before.tag || first->key != before.key)
		tqi_heap_rekey(tx, o->lanes, o->lane_family, lane, lane_entry(first, lane));
}

static void insert(struct tqi_tx *tx, const struct order *o, uint32_t lane,
		   struct tqi_heap_entry entry)
{
	uint32_t length = o->tasks->length;
	struct tqi_heap_entry first = o->tasks->root;

	tqi_heap_push(tx, o->tasks, o->task_family, entry);
	reopen(tx, o, lane, length, first);
}

static void take_out(struct tqi_tx *tx, const struct order *o, uint32_t lane, uint32_t index)
{
	uint32_t length = o->tasks->length;
	struct tqi_heap_entry first = o->tasks->root;

	tqi_heap_remove(tx, o->tasks, o->task_family, index);
	reopen(tx, o, lane, length, first);
}

static void set_key(struct tqi_tx *tx, struct tqi_task *task, const struct tqi_class *class)
{
	uint64_t deadline = class->edf ? tqi_task_deadline(tx, task) : UINT64_MAX;
	int64_t key = tqi_policy_key_in(class, task, deadline);

	if (key != task->key)
		TQI_SET(tx, task->key, key);
}

/* False: it is held, and stays out. */
static bool push(struct tqi_tx *tx, uint32_t index, struct tqi_task *task, struct tqi_lane *lane)
{
	struct tqi_class *class = tqi_class_at(tx, lane->class_);
	const struct order key = by_key(lane, class), age = by_age(lane, class);
	uint64_t tag = tqi_tag(task->sequence, index);

	set_key(tx, task, class);
	if (task->flags & TQI_TASK_HELD)
		return false;
	insert(tx, &key, task->lane, (struct tqi_heap_entry){ task->key, tag });
	if (class->aged)
		insert(tx, &age, task->lane,
		       (struct tqi_heap_entry){ (int64_t)task->ready_ns, tag });
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
	struct tqi_class *class = tqi_class_at(tx, lane->class_);
	const struct order key = by_key(lane, class), age = by_age(lane, class);

	if (task->flags & TQI_TASK_HELD)
		return;
	take_out(tx, &key, task->lane, index);
	if (class->aged)
		take_out(tx, &age, task->lane, index);
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

/* A head, as it stands now: `rank` decides, then `urgency`. */
struct head {
	int64_t urgency;
	uint64_t tag; /* sequence and lane; 0 none */
	uint32_t rank;
	uint32_t band;
};

static bool is_before(const struct head *a, const struct head *b)
{
	if (!b->tag || a->rank != b->rank)
		return !b->tag || a->rank > b->rank;
	return a->urgency > b->urgency ||
	       (a->urgency == b->urgency && (int64_t)(a->tag - b->tag) < 0);
}

/* P5: by what it would be in the queue's era. */
static struct head foreign_head(struct tqi_tx *tx, const struct tqi_queue *queue,
				const struct tqi_class *class)
{
	const struct tqi_lane *lane = tqi_lane_at(tx, tqi_tag_index(class->open.root.tag));
	const struct tqi_task *task = tqi_task_at(tx, tqi_tag_index(lane->tasks.root.tag));
	uint32_t band = tqi_policy_band(queue, task->priority), rate = queue->ageing[band];
	uint64_t deadline = tqi_task_deadline(tx, task);
	int64_t key = tqi_policy_key(rate, task->ready_ns, task->priority);

	if (queue->edf)
		return (struct head){ deadline < INT64_MAX ? -(int64_t)deadline : -INT64_MAX,
				      class->open.root.tag, band, class->band };
	return (struct head){ tqi_policy_urgency(rate, tx->now_ns, key), class->open.root.tag, 0,
			      class->band };
}

static struct head head_of(struct tqi_tx *tx, const struct tqi_queue *queue,
			   const struct tqi_class *class)
{
	const struct tqi_heap_entry *entry = &class->open.root;

	if (class->edf != queue->edf)
		return foreign_head(tx, queue, class);
	if (class->edf)
		return (struct head){ -entry->key, entry->tag, class->band, class->band };
	return (struct head){ tqi_policy_urgency(class->rate, tx->now_ns, entry->key), entry->tag,
			      0, class->band };
}

/* P1, P5, P7: classes of several rates, bands or eras, compared now; equal ones by sequence. */
static uint32_t most_urgent(struct tqi_tx *tx, const struct tqi_worker *worker,
			    const struct tqi_queue *queue, struct tqi_turn *turn)
{
	struct head best = { 0, 0, 0, 0 }, least = { 0, 0, 0, TQ_BANDS };

	for (uint32_t c = queue->classes; c && !tx->corrupt;) {
		const struct tqi_class *class = tqi_class_at(tx, c);

		c = class->next;
		if (!class->open.length || !can_run(worker, class))
			continue;
		struct head head = head_of(tx, queue, class);

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

/* P6: the task that has been ready longest, if it is overdue; 0 none. */
static uint32_t most_overdue(struct tqi_tx *tx, const struct tqi_worker *worker,
			     const struct tqi_queue *queue)
{
	struct tqi_heap_entry best = { INT64_MAX, 0 };

	for (uint32_t c = queue->classes; c && !tx->corrupt;) {
		const struct tqi_class *class = tqi_class_at(tx, c);
		const struct tqi_heap_entry *oldest = &class->oldest.root;

		c = class->next;
		if (class->oldest.length && can_run(worker, class) &&
		    (!best.tag || tqi_entry_before(oldest, &best)))
			best = *oldest;
	}
	if (!best.tag || tx->now_ns - (uint64_t)best.key < queue->max_wait_ns)
		return 0;
	return tqi_tag_index(tqi_lane_at(tx, tqi_tag_index(best.tag))->ages.root.tag);
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
		bool waits = queue->max_wait_ns != UINT64_MAX;
		uint32_t overdue = waits && !queue->overdue_turn ? most_overdue(tx, worker, queue)
								 : 0;

		*turn = (struct tqi_turn){ .queue = queue->hybrid || waits ? q : 0,
					   .is_overdue = overdue };
		if (overdue)
			return overdue;
		lane = most_urgent(tx, worker, queue, turn);
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

	if (turn->is_overdue != queue->overdue_turn)
		TQI_SET(tx, queue->overdue_turn, (uint32_t)turn->is_overdue);
	if (turn->is_overdue)
		return;
	if (count > queue->hybrid)
		count = queue->hybrid;
	if (count != queue->hybrid_count)
		TQI_SET(tx, queue->hybrid_count, count);
}
