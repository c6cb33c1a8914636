/* SPDX-License-Identifier: MIT */
/* Queues, kinds, classes, lanes. */
#include "scheduler/order/queue.h"

#include <string.h>

#include "scheduler/order/lane.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/policy.h"
#include "scheduler/order/tournament.h"
#include "scheduler/record/name.h"
#include "scheduler/record/sweep_state.h"
#include "scheduler/record/task_record.h"
#include "scheduler/wake/wake.h"

_Static_assert(TQI_QUEUES_MAX == 1023 && TQI_KINDS_MAX == 255, "TQ_EQUEUES, TQ_EKINDS say so");

#define DEFAULT_BACKOFF_NS 1000000000ull       /* 1 s */
#define DEFAULT_BACKOFF_CAP_NS 300000000000ull /* 5 min */

uint32_t tqi_queue_find(struct tqi_tx *tx, const char *name)
{
	return tqi_name_find(tx, TQI_QUEUES, name);
}

uint32_t tqi_queue_make(struct tqi_tx *tx, const char *name, bool *ret_full)
{
	uint32_t q = tqi_queue_find(tx, name);

	*ret_full = false;
	if (q)
		return q;
	q = tqi_name_take(tx, TQI_QUEUES, name, ret_full);
	if (!q)
		return 0;
	struct tqi_queue *queue = tqi_queue_at(tx, q);

	/* A new record: queues are never given back. */
	TQI_INIT(queue->depth_max, UINT64_MAX);
	TQI_INIT(queue->timeout_ns, UINT64_MAX);
	TQI_INIT(queue->backoff_ns, DEFAULT_BACKOFF_NS);
	TQI_INIT(queue->backoff_cap_ns, DEFAULT_BACKOFF_CAP_NS);
	TQI_INIT(queue->attempts_max, 1);
	tqi_policy_init(queue);
	return tqi_name_put(tx, TQI_QUEUES, q, name) < 0 ? 0 : q;
}

uint32_t tqi_kind_make(struct tqi_tx *tx, const char *name, bool *ret_full)
{
	uint32_t k = tqi_name_find(tx, TQI_KINDS, name);

	*ret_full = false;
	if (k)
		return k;
	k = tqi_name_take(tx, TQI_KINDS, name, ret_full);
	return k && tqi_name_put(tx, TQI_KINDS, k, name) < 0 ? 0 : k;
}

/* All but the link of a record that nothing refers to (TX-3). */
static void clear(void *record, size_t bytes)
{
	memset((unsigned char *)record + sizeof(uint32_t), 0, bytes - sizeof(uint32_t));
}

/* In no chain yet. */
static uint32_t class_take(struct tqi_tx *tx, uint32_t q, uint32_t k, uint32_t band)
{
	bool full;
	uint32_t c = tqi_table_take(tx, TQI_CLASSES, &full);
	uint32_t l = c ? tqi_table_take(tx, TQI_LANES, &full) : 0;

	if (c && !l)
		tqi_table_give(tx, TQI_CLASSES, c); /* not everybody undoes it all (PO-4) */
	if (!l)
		return 0;
	struct tqi_class *class = tqi_class_at(tx, c);
	struct tqi_lane *lane = tqi_lane_at(tx, l);
	const struct tqi_queue *queue = tqi_queue_at(tx, q);

	/* Undone, it is a tenant's still: a rebuild takes others for classes of their queue. */
	TQI_SET(tx, class->tenant, 0u);
	clear(class, sizeof(*class));
	clear(lane, sizeof(*lane));
	TQI_INIT(class->queue, (uint16_t)q);
	TQI_INIT(class->kind, (uint16_t)k);
	TQI_INIT(class->band, band);
	TQI_INIT(class->era, queue->era);
	tqi_policy_give(queue, class);
	TQI_INIT(class->plain, l);
	TQI_INIT(class->lane_count, 1);
	TQI_INIT(class->open.capacity, 1); /* for the plain lane: in the heap itself */
	TQI_INIT(class->oldest.capacity, 1);
	TQI_INIT(lane->class_, c);
	return c;
}

static uint32_t class_make(struct tqi_tx *tx, uint32_t q, uint32_t k, uint32_t band)
{
	uint32_t c = class_take(tx, q, k, band);

	if (!c)
		return 0;
	TQI_INIT(tqi_class_at(tx, c)->next, tqi_queue_at(tx, q)->classes);
	TQI_SET(tx, tqi_queue_at(tx, q)->classes, c);
	tqi_tournament_join(tx, c);
	return c;
}

/* A class of an earlier era that nobody is in any more. */
static uint32_t class_renew(struct tqi_tx *tx, const struct tqi_queue *queue, uint32_t c)
{
	struct tqi_class *class = tqi_class_at(tx, c);

	TQI_SET(tx, class->era, queue->era);
	TQI_SET(tx, class->rate, queue->ageing[class->band]);
	TQI_SET(tx, class->edf, (uint8_t)queue->edf);
	TQI_SET(tx, class->aged, (uint8_t)(queue->max_wait_ns != UINT64_MAX));
	tqi_tournament_join(tx, c);
	return c;
}

/* In the chain: of the era, or of an earlier one and empty; else a new one; 0 no memory. */
static __attribute__((noinline)) uint32_t class_search(struct tqi_tx *tx, uint32_t q,
						       const struct tqi_queue *queue, uint32_t k,
						       uint32_t band)
{
	uint32_t empty = 0;

	for (uint32_t c = queue->classes; c && !tx->corrupt;) {
		const struct tqi_class *class = tqi_class_at(tx, c);

		if (class->kind == k && class->band == band) {
			if (class->era == queue->era)
				return c;
			if (!tqi_class_has_members(tx, class))
				empty = c;
		}
		c = class->next;
	}
	return empty ? class_renew(tx, queue, empty) : class_make(tx, q, k, band);
}

static inline bool is_of(const struct tqi_class *class, const struct tqi_queue *queue, uint32_t k,
			 uint32_t band)
{
	return class->kind == k && class->band == band && class->era == queue->era;
}

static uint32_t class_find(struct tqi_tx *tx, uint32_t q, const struct tqi_queue *queue, uint32_t k,
			   uint32_t band)
{
	uint32_t c = queue->classes;

	if (queue->tournaments)
		c = tqi_tournament_class(tx, queue->tournaments, k, band);
	else if (c && !is_of(tqi_class_at(tx, c), queue, k, band)) /* most have one */
		c = 0;
	return c ? c : class_search(tx, q, queue, k, band);
}

static uint32_t tenant_class_make(struct tqi_tx *tx, const struct tqi_place *p, uint32_t tenant,
				  uint32_t band)
{
	if (tqi_fair_reserve(tx, p->queue, p->kind) < 0)
		return 0;
	uint32_t c = class_take(tx, p->queue, p->kind, band);

	if (c)
		tqi_fair_enter(tx, c, tenant);
	return c;
}

/* In its chain: the newest are of the queue's era, and where they are many they are indexed. */
static uint32_t tenant_class_search(struct tqi_tx *tx, const struct tqi_tenant *tenant,
				    const struct tqi_queue *queue, uint32_t k, uint32_t band)
{
	uint32_t c = tenant->classes;

	while (c && tqi_class_at(tx, c)->era == queue->era && !tx->corrupt) {
		if (is_of(tqi_class_at(tx, c), queue, k, band))
			return c;
		if (tenant->tournaments)
			return tqi_tournament_class(tx, tenant->tournaments, k, band);
		c = tqi_class_at(tx, c)->next;
	}
	return 0;
}

/* A tenant's class. */
static uint32_t tenant_class_find(struct tqi_tx *tx, const struct tqi_place *p,
				  const struct tqi_queue *queue, uint32_t band)
{
	uint32_t tenant = p->tenant ? p->tenant : queue->tenant;
	uint32_t c = tenant_class_search(tx, tqi_tenant_at(tx, tenant), queue, p->kind, band);

	return c ? c : tenant_class_make(tx, p, tenant, band);
}

/* Its last member has left. */
static void tenant_class_free(struct tqi_tx *tx, uint32_t c, struct tqi_class *class)
{
	struct tqi_lane *plain = tqi_lane_at(tx, class->plain);

	tqi_fair_leave(tx, c);
	tqi_heap_free(tx, &class->open);
	tqi_heap_free(tx, &class->oldest);
	tqi_heap_free(tx, &plain->tasks);
	tqi_heap_free(tx, &plain->ages);
	tqi_table_give(tx, TQI_LANES, class->plain);
	tqi_table_give(tx, TQI_CLASSES, c);
}

/* A plain lane of a tenant's class: memory goes back as of others that come and go. */
static void tenant_class_trim(struct tqi_tx *tx, struct tqi_lane *lane)
{
	tqi_heap_trim(tx, &lane->tasks, lane->members);
	tqi_heap_trim(tx, &lane->ages, lane->members);
}

/* A lane has a member less. */
static void shrink(struct tqi_tx *tx, uint32_t l)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);
	uint32_t c = lane->class_;
	struct tqi_class *class = tqi_class_at(tx, c);

	if (lane->limits[0])
		tqi_lane_shrink(tx, l);
	else if (class->tenant)
		tenant_class_trim(tx, lane);
	if (class->tenant && !tqi_class_has_members(tx, class))
		tenant_class_free(tx, c, class);
}

struct tqi_place tqi_place_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	return (struct tqi_place){ task->queue, task->kind, tqi_worth_of(tx, task).priority,
				   tqi_tenant_of(tx, task), tqi_limits_of(tx, task) };
}

uint32_t tqi_lane_room(struct tqi_tx *tx, const struct tqi_place *p)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, p->queue);
	uint32_t band = tqi_policy_band(queue, p->priority);
	uint32_t c = queue->fair ? tenant_class_find(tx, p, queue, band)
				 : class_find(tx, p->queue, queue, p->kind, band);

	if (!c)
		return 0;
	uint32_t plain = tqi_class_at(tx, c)->plain;
	uint32_t l = p->limits ? tqi_lane_find(tx, c, p->limits) : plain;

	if (!l) {
		shrink(tx, plain);
		return 0;
	}
	struct tqi_lane *lane = tqi_lane_at(tx, l);

	if (tqi_lane_reserve(tx, lane, lane->members + 1) < 0) {
		shrink(tx, l);
		return 0;
	}
	return l;
}

uint32_t tqi_lane_join(struct tqi_tx *tx, const struct tqi_place *p)
{
	const uint32_t l = tqi_lane_room(tx, p);

	if (l)
		TQI_ADD(tx, tqi_lane_at(tx, l)->members, 1);
	return l;
}

void tqi_lane_shrink_all(struct tqi_tx *tx, uint32_t l)
{
	shrink(tx, l);
}

void tqi_lane_leave(struct tqi_tx *tx, uint32_t l)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);

	TQI_ADD(tx, lane->members, -1);
	tqi_lane_left(tx, l, lane);
}

int tqi_queue_set(struct tqi_tx *tx, uint32_t queue, const struct tqi_queue_settings *settings)
{
	struct tqi_queue *q = tqi_queue_at(tx, queue);

	if (settings->depth_max) {
		TQI_SET(tx, q->depth_max, settings->depth_max);
		tqi_wake_room(tx);
	}
	if (settings->timeout_ns)
		TQI_SET(tx, q->timeout_ns, settings->timeout_ns);
	if (settings->backoff_ns)
		TQI_SET(tx, q->backoff_ns, settings->backoff_ns);
	if (settings->backoff_cap_ns)
		TQI_SET(tx, q->backoff_cap_ns, settings->backoff_cap_ns);
	if (settings->batch)
		TQI_SET(tx, q->batch, settings->batch == TQ_OFF ? 0 : settings->batch);
	if (settings->attempts_max)
		TQI_SET(tx, q->attempts_max, settings->attempts_max);
	return tqi_policy_set(tx, queue, &settings->policy);
}

void tqi_queue_flag(struct tqi_tx *tx, uint32_t queue, uint32_t flag, bool on)
{
	struct tqi_queue *q = tqi_queue_at(tx, queue);

	TQI_SET(tx, q->flags, on ? q->flags | flag : q->flags & ~flag);
	if (flag == TQI_QUEUE_PAUSED) {
		if (!on)
			tx->pass_on = true;
		tqi_wake_empty(tx); /* what is paused holds nobody back from leaving */
	}
}

uint32_t tqi_queue_purge(struct tqi_tx *tx, uint32_t queue)
{
	struct tqi_queue *q = tqi_queue_at(tx, queue);
	uint32_t waiting = q->waiting;

	/* +1, so that what began to wait just now has a smaller number. */
	TQI_ADD(tx, tqi_root(tx)->sequence, 1);
	TQI_SET(tx, q->purge_before, tqi_root(tx)->sequence);
	TQI_SET(tx, q->waiting, 0u);
	tqi_sweep_start(tx);
	return waiting;
}
