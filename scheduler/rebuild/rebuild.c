/* SPDX-License-Identifier: MIT */
/* The order of a rebuild; classes, and the gauges that tasks add up to. */
#include "scheduler/rebuild/rebuild.h"

#include <string.h>

#include "scheduler/order/policy.h"
#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/worker/wake.h"

#define LOST_BACKOFF_NS 1000000000ull	   /* 1 s and 5 min: as a new queue has */
#define LOST_BACKOFF_CAP_NS 300000000000ull

void tqi_rebuild_keep(struct tqi_check *c)
{
	c->tx->core->undo_count = 0;
	c->tx->undo_count = 0;
	c->tx->wake_count = 0;
}

bool tqi_rebuild_block(struct tqi_check *c, uint32_t *block, uint64_t bytes)
{
	if (*block && !tqi_check_block(c, *block, bytes, "", 0, ""))
		*block = 0;
	return *block != 0;
}

static void clear_heap(struct tqi_heap *heap)
{
	memset(heap, 0, sizeof(*heap));
}

static bool lane_is_free(struct tqi_check *c, uint32_t l)
{
	return tqi_check_record(c, TQI_LANES, l) && !c->marks[TQI_LANES][l];
}

static uint32_t find_lane(struct tqi_check *c, uint32_t k)
{
	for (uint32_t l = 1; l < c->count[TQI_LANES]; l++)
		if (lane_is_free(c, l) && tqi_lane_at(c->tx, l)->class_ == k)
			return l;
	return 0;
}

/* The lane that class and lane agree on; else one of them is believed. */
static uint32_t lane_of(struct tqi_check *c, uint32_t k, uint32_t plain)
{
	if (lane_is_free(c, plain) && tqi_lane_at(c->tx, plain)->class_ == k)
		return plain;
	uint32_t l = find_lane(c, k);

	return l ? l : lane_is_free(c, plain) ? plain : 0;
}

/* The class that tasks of that kind and band come into; 0 none. */
static uint32_t find_class(struct tqi_check *c, const struct tqi_queue *queue, uint32_t kind,
			   uint32_t band, bool any_era)
{
	for (uint32_t k = queue->classes; k;) {
		const struct tqi_class *class = tqi_class_at(c->tx, k);

		if (class->kind == kind && class->band == band &&
		    (class->era == queue->era || any_era))
			return k;
		k = class->next;
	}
	return 0;
}

uint32_t tqi_rebuild_band(struct tqi_check *c, const struct tqi_queue *queue,
			  const struct tqi_task *t)
{
	return tqi_policy_band(queue, tqi_worth_in(t, tqi_check_extra(c, t)).priority);
}

uint32_t tqi_rebuild_class_find(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_queue *queue = tqi_queue_at(c->tx, t->queue);

	return find_class(c, queue, t->kind, tqi_rebuild_band(c, queue, t),
			  tqi_rebuild_is_shared(queue));
}

/* Of a kind and band there is one class for each of two eras. */
static bool is_one_too_many(struct tqi_check *c, const struct tqi_queue *queue,
			    const struct tqi_class *class)
{
	uint32_t others = 0;

	for (uint32_t k = queue->classes; k;) {
		const struct tqi_class *other = tqi_class_at(c->tx, k);

		others += other->kind == class->kind && other->band == class->band;
		k = other->next;
	}
	return others > 1 ||
	       (class->era == queue->era && find_class(c, queue, class->kind, class->band, false));
}

/* Empty, into its queue's chain. */
static void link_class(struct tqi_check *c, uint32_t k, uint32_t l)
{
	struct tqi_class *class = tqi_class_at(c->tx, k);
	struct tqi_queue *queue = tqi_queue_at(c->tx, class->queue);
	struct tqi_lane *lane = tqi_lane_at(c->tx, l);

	lane->class_ = k;
	lane->members = lane->parking = 0;
	lane->is_parking = lane->state = TQI_PARKING_EMPTY;
	memset(lane->limits, 0, sizeof(lane->limits));
	clear_heap(&lane->tasks);
	clear_heap(&lane->ages);
	clear_heap(&class->open);
	clear_heap(&class->oldest);
	clear_heap(&class->tenants);
	class->guests = class->guests_ready = class->home = class->competes = 0;
	class->tenant = class->parked = 0;
	class->plain = l;
	class->lane_count = 1;
	memset(class->depth, 0, sizeof(class->depth));
	class->next = queue->classes;
	queue->classes = k;
	c->marks[TQI_CLASSES][k] |= TQI_SEEN_LINKED;
	c->marks[TQI_LANES][l] |= TQI_SEEN_LINKED;
}

/* One of the present era, or of the one before. */
static void mend_era(struct tqi_class *class, const struct tqi_queue *queue)
{
	if (class->era == queue->era)
		tqi_policy_give(queue, class);
	else
		class->era = queue->era - 1;
	if (class->rate > TQ_AGEING_MAX)
		class->rate = 0;
	class->edf = class->edf != 0;
	class->aged = class->aged != 0;
}

/* One that makes no sense stays out, and is free. */
static void mend_class(struct tqi_check *c, uint32_t k)
{
	struct tqi_class *class = tqi_check_record(c, TQI_CLASSES, k);
	const struct tqi_queue *queue = class ? tqi_check_record(c, TQI_QUEUES, class->queue)
					      : NULL;

	if (!queue || !tqi_check_record(c, TQI_KINDS, class->kind) || class->band >= TQ_BANDS ||
	    class->tenant) /* those are made anew */
		return;
	mend_era(class, queue);
	if (is_one_too_many(c, queue, class))
		return;
	uint32_t l = lane_of(c, k, class->plain);

	if (l)
		link_class(c, k, l);
}

/* For tasks whose class was lost: in a record of a lost one. */
uint32_t tqi_rebuild_class(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_queue *queue = tqi_queue_at(c->tx, t->queue);
	uint32_t k = 1, l = 1;

	while (k < c->count[TQI_CLASSES] &&
	       (!tqi_check_record(c, TQI_CLASSES, k) || c->marks[TQI_CLASSES][k]))
		k++;
	while (l < c->count[TQI_LANES] && !lane_is_free(c, l))
		l++;
	if (k >= c->count[TQI_CLASSES] || l >= c->count[TQI_LANES])
		return 0;
	struct tqi_class *class = tqi_class_at(c->tx, k);

	class->queue = t->queue;
	class->kind = t->kind;
	class->band = tqi_rebuild_band(c, queue, t);
	class->era = queue->era;
	tqi_policy_give(queue, class);
	link_class(c, k, l);
	return l;
}

static void name_again(char *name, const char *prefix, uint32_t index)
{
	size_t n = strnlen(name, TQ_NAME_MAX + 1);

	if (n == 0 || n > TQ_NAME_MAX)
		__builtin_snprintf(name, TQ_NAME_MAX, "%s-%u", prefix, index);
}

/* A queue whose record was lost begins anew. */
static void mend_queue(struct tqi_queue *queue, uint32_t q)
{
	name_again(queue->name, "lost-queue", q);
	if (queue->attempts_max)
		return;
	tqi_policy_init(queue);
	queue->attempts_max = 1;
	queue->depth_max = queue->timeout_ns = UINT64_MAX;
	queue->backoff_ns = LOST_BACKOFF_NS;
	queue->backoff_cap_ns = LOST_BACKOFF_CAP_NS;
}

static void mend_names(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (queue)
			mend_queue(queue, q);
	}
	for (uint32_t k = 1; k < c->count[TQI_KINDS]; k++) {
		struct tqi_kind *kind = tqi_check_record(c, TQI_KINDS, k);

		if (kind)
			name_again(kind->name, "lost-kind", k);
	}
}

/* A policy that cannot be is the default one.  Whether tasks are on their way: see below. */
static void mend_policy(struct tqi_queue *queue)
{
	bool sound = queue->hybrid <= TQ_HYBRID_MAX && queue->edf <= 1 && queue->max_wait_ns &&
		     queue->fair <= 1 && !(queue->fair && queue->hybrid);

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		sound &= queue->ageing[b] <= (queue->edf ? 0 : TQ_AGEING_MAX);
	for (uint32_t b = 1; b < TQ_BANDS - 1; b++)
		sound &= queue->band_from[b] > queue->band_from[b - 1];
	if (!sound) {
		memset(queue->ageing, 0, sizeof(queue->ageing));
		queue->hybrid = queue->edf = queue->fair = 0;
		tqi_policy_init(queue);
		queue->era++;
	}
	if (queue->hybrid_count > queue->hybrid)
		queue->hybrid_count = queue->hybrid;
	if (queue->batch > TQ_BATCH_MAX)
		queue->batch = 0;
	queue->overdue_turn = queue->overdue_turn && queue->max_wait_ns != UINT64_MAX;
	queue->flags &= ~TQI_QUEUE_MOVING;
	queue->flags = (queue->flags & ~TQI_POLICY_FLAGS) | tqi_policy_flags(queue);
}

void tqi_rebuild_moving(struct tqi_check *c, struct tqi_queue *queue)
{
	if (queue->flags & TQI_QUEUE_MOVING)
		return;
	queue->flags |= TQI_QUEUE_MOVING | TQI_QUEUE_ORDERED;
	tqi_root(c->tx)->moving++;
}

static void mend_classes(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (!queue)
			continue;
		queue->classes = queue->waiting = 0;
		queue->tenant_classes[0] = queue->tenant_classes[1] = 0;
		mend_policy(queue);
	}
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++)
		mend_class(c, k);
}

static void clear_root(struct tqi_root *root)
{
	root->unfinished = root->ready = root->running = root->assigned = 0;
	root->finished_oldest = root->finished_newest = root->finished_count = 0;
	root->telling = root->telling_last = 0;
	root->room_waiters = root->empty_workers = root->dying_workers = root->moving = 0;
	root->appointments = 0;
	root->rates = 0;
	clear_heap(&root->refills);
	clear_heap(&root->due);
	clear_heap(&root->wall);
	root->loosened = 0;
	memset(&root->keys, 0, sizeof(root->keys));
	memset(&root->limits, 0, sizeof(root->limits));
	memset(&root->lanes, 0, sizeof(root->lanes));
	root->commands_oldest = root->commands_newest = root->commands_open = 0;
	root->ended_oldest = root->ended_newest = root->ended_count = 0;
	root->command_waiters = root->group_waiters = 0;
	memset(&root->groups_owned, 0, sizeof(root->groups_owned));
	memset(&root->groups_ended, 0, sizeof(root->groups_ended));
	root->groups_busy = root->groups_busy_last = root->groups_cursor = 0;
	memset(&root->tenants, 0, sizeof(root->tenants));
	memset(&root->servers, 0, sizeof(root->servers));
	memset(&root->pools, 0, sizeof(root->pools));
	root->carrying = 0;
	root->stale_first = root->stale_last = root->stale_stuck = 0;
	root->stale_stage = root->stale_cursor = 0;
}

/* Whatever was being swept is swept from the beginning. */
static void sweep_again(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);

	root->sweep_at = 0;
	root->sweep_left = root->sweep_count = c->count[TQI_TASKS];
	root->groups_closing = root->flags & TQI_ROOT_SHUTDOWN && c->count[TQI_GROUPS]
				       ? c->count[TQI_GROUPS] - 1
				       : 0;
}

static int rebuild(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);

	tqi_rebuild_directories(c);
	tqi_store_relaxed64(&c->tx->core->ring_shown, c->tx->core->ring_head);
	clear_root(root);
	mend_classes(c);
	tqi_rebuild_workers(c);
	tqi_rebuild_limits_begin(c);
	tqi_rebuild_fair_begin(c);
	tqi_rebuild_servers_begin(c);
	tqi_rebuild_groups_begin(c);
	tqi_rebuild_tasks(c);
	tqi_rebuild_schedules(c);
	tqi_rebuild_after(c);
	tqi_rebuild_sleepers(c);
	tqi_rebuild_commands(c);
	tqi_rebuild_memory(c);
	int r = tqi_rebuild_records(c);

	mend_names(c);
	if (r == 0)
		r = tqi_rebuild_keys(c);
	if (r == 0) {
		tqi_rebuild_times_begin(c);
		tqi_rebuild_free_lists(c);
		tqi_rebuild_times(c);
		r = tqi_rebuild_fair(c);
	}
	if (r == 0)
		r = tqi_rebuild_servers(c);
	if (r == 0)
		r = tqi_rebuild_limits(c);
	if (r == 0)
		r = tqi_rebuild_heaps(c);
	if (r == 0)
		r = tqi_rebuild_schedule_heaps(c);
	if (r == 0)
		r = tqi_rebuild_inherit(c);
	if (r < 0)
		return r;
	tqi_rebuild_lists(c);
	tqi_rebuild_groups(c);
	sweep_again(c);
	tqi_wake_any(c->tx); /* those that were in transit are listed now */
	tqi_wake_keepers(c->tx); /* others are the oldest, with the notes that they had */
	return 0;
}

int tqi_rebuild(struct tqi_tx *tx, void *scratch)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_check c;

	root->flags |= TQI_ROOT_REPAIR;
	tqi_compiler_barrier();
	tqi_check_begin(&c, tx, scratch);
	tqi_rebuild_keep(&c);
	int r = rebuild(&c);

	tqi_rebuild_keep(&c);
	tx->corrupt = false;
	if (r < 0)
		return r;
	tqi_compiler_barrier();
	root->flags &= ~TQI_ROOT_REPAIR;
	return 0;
}
