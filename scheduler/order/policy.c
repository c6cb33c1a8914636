/* SPDX-License-Identifier: MIT */
/* Changes of a queue's policy, and the way of its tasks into the new era. */
#include "scheduler/order/policy.h"

#include <errno.h>
#include <string.h>

#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/record/queue_set.h"
#include "scheduler/record/sweep_state.h"
#include "scheduler/record/task_record.h"
#include "scheduler/worker/wake.h"

#define QUEUES_SLICE 64 /* queues whose move may end in one hold: four entries each */

static const int32_t default_from[TQ_BANDS - 1] = { TQ_PRIORITY_NORMAL, TQ_PRIORITY_HIGH,
						    TQ_PRIORITY_CRITICAL };

void tqi_policy_init(struct tqi_queue *queue)
{
	for (uint32_t b = 0; b < TQ_BANDS - 1; b++)
		TQI_INIT(queue->band_from[b], default_from[b]);
	TQI_INIT(queue->max_wait_ns, UINT64_MAX);
}

void tqi_policy_give(const struct tqi_queue *queue, struct tqi_class *class)
{
	TQI_INIT(class->rate, queue->ageing[class->band]);
	TQI_INIT(class->edf, (uint16_t)queue->edf);
	TQI_INIT(class->aged, (uint8_t)(queue->max_wait_ns != UINT64_MAX));
}

static struct tqi_policy policy_of(const struct tqi_queue *queue)
{
	struct tqi_policy p = { .hybrid = queue->hybrid,
				.edf = queue->edf,
				.fair = queue->fair,
				.max_wait_ns = queue->max_wait_ns };

	memcpy(p.ageing, queue->ageing, sizeof(p.ageing));
	memcpy(p.band_from, queue->band_from, sizeof(p.band_from));
	return p;
}

static bool ages(const struct tqi_policy *p)
{
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (p->ageing[b])
			return true;
	return false;
}

/* P2. */
static bool is_banded(const struct tqi_policy *p)
{
	if (p->hybrid || p->edf)
		return true;
	for (uint32_t b = 1; b < TQ_BANDS; b++)
		if (p->ageing[b] != p->ageing[0])
			return true;
	return false;
}

static bool is_aged(const struct tqi_policy *p)
{
	return p->max_wait_ns != UINT64_MAX;
}

uint32_t tqi_policy_flags(const struct tqi_queue *queue)
{
	const struct tqi_policy p = policy_of(queue);
	uint32_t moving = queue->flags & TQI_QUEUE_MOVING;
	uint32_t banded = is_banded(&p) ? TQI_QUEUE_BANDED : 0;
	uint32_t shared = p.fair || (moving && queue->tenant) ? TQI_QUEUE_SHARED : 0;

	return moving | banded | shared | (moving || banded || is_aged(&p) ? TQI_QUEUE_ORDERED : 0);
}

static void set_flags(struct tqi_tx *tx, struct tqi_queue *queue)
{
	uint32_t flags = (queue->flags & ~TQI_POLICY_FLAGS) | tqi_policy_flags(queue);

	if (flags != queue->flags)
		TQI_SET(tx, queue->flags, flags);
}

static bool has_bands(const struct tqi_policy *p)
{
	for (uint32_t b = 0; b < TQ_BANDS - 1; b++)
		if (p->band_from[b])
			return true;
	return false;
}

static bool is_ascending(const int32_t *from)
{
	for (uint32_t b = 1; b < TQ_BANDS - 1; b++)
		if (from[b] <= from[b - 1])
			return false;
	return true;
}

static uint32_t setting(uint32_t change, uint32_t before)
{
	return change == TQ_OFF ? 0 : change ? change : before;
}

/* What the queue would have. */
static struct tqi_policy changed(const struct tqi_policy *before, const struct tqi_policy *change)
{
	struct tqi_policy p = *before;

	if (has_bands(change))
		memcpy(p.band_from, change->band_from, sizeof(p.band_from));
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		p.ageing[b] = setting(change->ageing[b], p.ageing[b]);
	p.hybrid = setting(change->hybrid, p.hybrid);
	p.edf = setting(change->edf, p.edf);
	p.fair = setting(change->fair, p.fair);
	if (change->max_wait_ns)
		p.max_wait_ns = change->max_wait_ns;
	return p;
}

/* P3: bounds matter where bands do. */
static bool begins_era(const struct tqi_policy *before, const struct tqi_policy *p)
{
	bool banded = is_banded(p);

	return memcmp(before->ageing, p->ageing, sizeof(p->ageing)) || before->edf != p->edf ||
	       before->fair != p->fair || is_aged(before) != is_aged(p) ||
	       banded != is_banded(before) ||
	       (banded && memcmp(before->band_from, p->band_from, sizeof(p->band_from)));
}

static void store(struct tqi_tx *tx, struct tqi_queue *queue, const struct tqi_policy *p)
{
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (queue->ageing[b] != p->ageing[b])
			TQI_SET(tx, queue->ageing[b], p->ageing[b]);
	for (uint32_t b = 0; b < TQ_BANDS - 1; b++)
		if (queue->band_from[b] != p->band_from[b])
			TQI_SET(tx, queue->band_from[b], p->band_from[b]);
	if (queue->hybrid != p->hybrid) {
		TQI_SET(tx, queue->hybrid, p->hybrid);
		TQI_SET(tx, queue->hybrid_count, 0u);
	}
	if (queue->edf != p->edf)
		TQI_SET(tx, queue->edf, p->edf);
	if (queue->fair != p->fair)
		TQI_SET(tx, queue->fair, p->fair);
	if (queue->max_wait_ns != p->max_wait_ns) {
		TQI_SET(tx, queue->max_wait_ns, p->max_wait_ns);
		TQI_SET(tx, queue->overdue_turn, 0u);
	}
}

/* Whether unfinished tasks are in classes of an earlier era. */
static bool has_members(struct tqi_tx *tx, const struct tqi_queue *queue)
{
	if (queue->tenant_classes[(queue->era & 1) ^ 1])
		return true;
	for (uint32_t c = queue->classes; c && !tx->corrupt;) {
		const struct tqi_class *class = tqi_class_at(tx, c);

		if (class->era != queue->era && tqi_class_has_members(tx, class))
			return true;
		c = class->next;
	}
	return false;
}

static void begin_era(struct tqi_tx *tx, uint32_t q, struct tqi_queue *queue)
{
	TQI_ADD(tx, queue->era, 1);
	if (has_members(tx, queue)) {
		TQI_SET(tx, queue->flags, queue->flags | TQI_QUEUE_MOVING);
		TQI_ADD(tx, tqi_root(tx)->moving, 1);
		tqi_queue_set_flip(tx, &tqi_root(tx)->moving_queues, q);
		tqi_sweep_start(tx);
	}
	set_flags(tx, queue);
}

int tqi_policy_set(struct tqi_tx *tx, uint32_t q, const struct tqi_policy *change)
{
	struct tqi_queue *queue = tqi_queue_at(tx, q);
	const struct tqi_policy before = policy_of(queue);
	const struct tqi_policy p = changed(&before, change);
	bool era = begins_era(&before, &p);

	if (!is_ascending(p.band_from))
		return -EINVAL;
	if ((p.edf && ages(&p)) || (p.fair && p.hybrid))
		return -ENOTSUP;
	if (era && (queue->flags & TQI_QUEUE_MOVING))
		return -EBUSY;
	int r = p.fair ? tqi_tenant_own(tx, q) : 0;

	if (r < 0)
		return r;
	store(tx, queue, &p);
	if (era)
		begin_era(tx, q, queue);
	return 0;
}

/* To the lane that follows from its place; false: no memory, it stays (P4). */
static bool carry_over(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_place place = tqi_place_of(tx, task);
	uint32_t lane = tqi_lane_join(tx, &place);

	if (!lane)
		return false;
	tqi_task_touch(tx, task);
	if (task->state == TQ_READY)
		tqi_ready_leave(tx, index);
	tqi_lane_leave(tx, task->lane);
	tqi_lane_change(tx, task, lane);
	if (task->state == TQ_READY)
		tqi_ready_reenter(tx, index);
	return true;
}

/* One that a worker had taken beforehand is anybody's again. */
static void wake_if_freed(struct tqi_tx *tx, const struct tqi_task *task, bool assigned)
{
	if (assigned && !(task->flags & TQI_TASK_ASSIGNED))
		tqi_wake_for(tx, tqi_lane_at(tx, task->lane)->class_);
}

bool tqi_policy_move(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_queue *queue = tqi_queue_at(tx, task->queue);

	const bool assigned = task->flags & TQI_TASK_ASSIGNED;

	if (!(queue->flags & TQI_QUEUE_MOVING) || tqi_class_of(tx, task)->era == queue->era ||
	    !carry_over(tx, index))
		return false;
	wake_if_freed(tx, task, assigned);
	return true;
}

/* In its lane, by another key. */
static void rekey(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_worth worth = tqi_worth_of(tx, task);

	if (task->state != TQ_READY ||
	    task->key == tqi_policy_key_in(tqi_class_of(tx, task), task->ready_ns, &worth))
		return;
	tqi_task_touch(tx, task);
	tqi_ready_leave(tx, index);
	tqi_ready_reenter(tx, index);
}

/* What is of an earlier era comes to its band with the rest (P3). */
bool tqi_policy_place(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_queue *queue = tqi_queue_at(tx, task->queue);
	const struct tqi_class *class = tqi_class_of(tx, task);
	uint32_t band = tqi_policy_band(queue, tqi_worth_of(tx, task).priority);
	bool assigned = task->flags & TQI_TASK_ASSIGNED;

	if (class->era != queue->era || class->band == band)
		rekey(tx, index);
	else if (!carry_over(tx, index))
		return false;
	wake_if_freed(tx, task, assigned);
	return true;
}

/* What was on its way is there. */
static void end_move(struct tqi_tx *tx, uint32_t q, struct tqi_queue *queue)
{
	TQI_SET(tx, queue->flags, queue->flags & ~TQI_QUEUE_MOVING);
	set_flags(tx, queue);
	TQI_ADD(tx, tqi_root(tx)->moving, -1);
	tqi_queue_set_flip(tx, &tqi_root(tx)->moving_queues, q);
}

void tqi_policy_round(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t moving = root->moving, left = moving < QUEUES_SLICE ? moving : QUEUES_SLICE;
	uint32_t q = root->moving_at;

	for (; left > 0 && !tx->corrupt; left--) {
		q = tqi_queue_set_next(&root->moving_queues, q + 1);
		if (!q)
			q = tqi_queue_set_next(&root->moving_queues, 1);
		if (!has_members(tx, tqi_queue_at(tx, q)))
			end_move(tx, q, tqi_queue_at(tx, q));
	}
	TQI_SET(tx, root->moving_at, q);
	if (moving > QUEUES_SLICE)
		tqi_sweep_start(tx); /* the others at the end of another round */
}
