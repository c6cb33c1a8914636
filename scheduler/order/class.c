/* SPDX-License-Identifier: MIT */
/* Classes in the chain of their era: made with a task, freed when nobody is left. */
#include "scheduler/order/class.h"

#include "scheduler/limit/limit.h"
#include "scheduler/order/fair.h"
#include "scheduler/order/lane.h"
#include "scheduler/order/policy.h"
#include "scheduler/order/tournament.h"
#include "shm/list.h"

#define LOOKS_SLICE 64 /* classes that may have members still, looked at in one hold */

/* One of the queue's era, as its policy wants it. */
static void fill(struct tqi_class *class, const struct tqi_place *p, uint32_t tenant, uint32_t band,
		 const struct tqi_queue *queue)
{
	tqi_table_clear(class, sizeof(*class));
	TQI_INIT(class->queue, (uint16_t)p->queue);
	TQI_INIT(class->kind, (uint16_t)p->kind);
	TQI_INIT(class->band, band);
	TQI_INIT(class->era, queue->era);
	TQI_INIT(class->tenant, tenant);
	TQI_INIT(class->watched, tenant != 0);
	TQI_INIT(class->rate, queue->ageing[band]);
	TQI_INIT(class->edf, (uint8_t)queue->edf);
	TQI_INIT(class->aged, (uint8_t)(queue->max_wait_ns != UINT64_MAX));
	TQI_INIT(class->lane_count, 1);
	TQI_INIT(class->open.capacity, 1); /* for the plain lane: in the heap itself */
	TQI_INIT(class->oldest.capacity, 1);
}

/* With its plain lane, in no chain yet. */
static uint32_t take(struct tqi_tx *tx, const struct tqi_place *p, uint32_t tenant, uint32_t band)
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

	fill(class, p, tenant, band, tqi_queue_at(tx, p->queue));
	TQI_INIT(class->plain, l);
	tqi_table_clear(lane, sizeof(*lane));
	TQI_INIT(lane->class_, c);
	return c;
}

TQI_LINKS(links_of, tqi_class_at, tqi_class, prev, next)

static inline struct tqi_list list_of(struct tqi_chain *chain)
{
	return (struct tqi_list){ links_of, &chain->first, NULL };
}

static void enter_chain(struct tqi_tx *tx, uint32_t c)
{
	struct tqi_class *class = tqi_class_at(tx, c);
	struct tqi_chain *chain = tqi_chain_of(tx, class);

	TQI_INIT(class->next, chain->first);
	tqi_list_set(tx, list_of(chain), 0, c, class->next, c);
	TQI_ADD(tx, chain->left, 1);
	if (class->tenant)
		tqi_fair_enter(tx, class);
	tqi_tournament_join(tx, c);
}

static void leave_chain(struct tqi_tx *tx, uint32_t c, const struct tqi_class *class)
{
	struct tqi_chain *chain = tqi_chain_of(tx, class);

	tqi_list_remove(tx, list_of(chain), c);
	TQI_ADD(tx, chain->left, -1);
	tqi_tournament_leave(tx, class);
	if (class->tenant)
		tqi_fair_leave(tx, class);
}

static uint32_t make(struct tqi_tx *tx, const struct tqi_place *p, uint32_t tenant, uint32_t band)
{
	bool has_room = !tenant || tqi_fair_reserve(tx, p->queue, p->kind) == 0;
	uint32_t c = has_room ? take(tx, p, tenant, band) : 0;

	if (c)
		enter_chain(tx, c);
	return c;
}

/* In its chain, of which most are short; 0 none. */
TQI_TWICE uint32_t find(struct tqi_tx *tx, const struct tqi_chain *chain, uint32_t kind,
			uint32_t band)
{
	uint32_t c = chain->first, steps = 0;

	if (chain->tournaments)
		return tqi_tournament_class(tx, chain->tournaments, kind, band);
	while (c) {
		const struct tqi_class *class = tqi_class_at(tx, c);

		if (class->kind == kind && class->band == band)
			return c;
		c = tqi_class_next(tx, class, &steps);
	}
	return 0;
}

static bool is_empty(struct tqi_tx *tx, const struct tqi_class *class)
{
	return class->lane_count == 1 && !tqi_lane_at(tx, class->plain)->members;
}

/* Its last member has left. */
static void give(struct tqi_tx *tx, uint32_t c)
{
	struct tqi_class *class = tqi_class_at(tx, c);
	struct tqi_lane *plain = tqi_lane_at(tx, class->plain);

	leave_chain(tx, c, class);
	tqi_heap_free(tx, &class->open);
	tqi_heap_free(tx, &class->oldest);
	tqi_heap_free(tx, &plain->tasks);
	tqi_heap_free(tx, &plain->ages);
	tqi_table_give(tx, TQI_LANES, class->plain);
	tqi_table_give(tx, TQI_CLASSES, c);
}

/* The memory of an empty heap goes chunk by chunk; false: there is more. */
static bool drain(struct tqi_tx *tx, struct tqi_heap *heap)
{
	while (heap->capacity > 1 && !tqi_tx_is_filling(tx))
		tqi_heap_trim(tx, heap, 0);
	return heap->capacity <= 1;
}

/* A class without members, with the memory of its heaps; false: there is more. */
static bool clear_class(struct tqi_tx *tx, uint32_t c)
{
	struct tqi_lane *plain = tqi_lane_at(tx, tqi_class_at(tx, c)->plain);

	if (tqi_tx_is_filling(tx) || !drain(tx, &plain->tasks) || !drain(tx, &plain->ages))
		return false;
	give(tx, c);
	return true;
}

bool tqi_chain_clear(struct tqi_tx *tx, const struct tqi_chain *chain)
{
	uint32_t c = chain->first, before = chain->left;

	for (uint32_t looks = 0; c && looks < LOOKS_SLICE && !tx->corrupt; looks++) {
		const uint32_t at = c;
		const struct tqi_class *class = tqi_class_at(tx, c);

		c = class->next;
		if (is_empty(tx, class) && !clear_class(tx, at))
			return false;
	}
	return !c || chain->left == before;
}

bool tqi_class_clear(struct tqi_tx *tx, const struct tqi_queue *queue, uint32_t kind)
{
	for (uint32_t band = 0; band < TQ_BANDS; band++) {
		uint32_t c = find(tx, &queue->chains[queue->era & 1], kind, band);

		if (c && !clear_class(tx, c))
			return false;
	}
	return true;
}

/* A plain lane of a class that goes: memory goes back as of others that come and go. */
static void trim(struct tqi_tx *tx, struct tqi_lane *lane)
{
	tqi_heap_trim(tx, &lane->tasks, lane->members);
	tqi_heap_trim(tx, &lane->ages, lane->members);
}

void tqi_lane_shrink_all(struct tqi_tx *tx, uint32_t l)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);
	uint32_t c = lane->class_;
	const struct tqi_class *class = tqi_class_at(tx, c);

	if (lane->limits[0])
		tqi_lane_shrink(tx, l);
	else if (class->tenant)
		trim(tx, lane);
	if (class->tenant && is_empty(tx, class))
		give(tx, c);
}

struct tqi_place tqi_place_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	return (struct tqi_place){ task->queue, task->kind, tqi_worth_of(tx, task).priority,
				   tqi_tenant_of(tx, task), tqi_limits_of(tx, task) };
}

/* The class of the queue's era, found or made; 0 no memory. */
static uint32_t class_for(struct tqi_tx *tx, const struct tqi_place *p)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, p->queue);
	uint32_t band = tqi_policy_band(queue, p->priority);
	uint32_t tenant = !queue->fair ? 0 : p->tenant ? p->tenant : queue->tenant;
	const struct tqi_chain *chains = tenant ? tqi_tenant_at(tx, tenant)->chains : queue->chains;
	uint32_t c = find(tx, &chains[queue->era & 1], p->kind, band);

	return c ? c : make(tx, p, tenant, band);
}

uint32_t tqi_lane_room(struct tqi_tx *tx, const struct tqi_place *p)
{
	uint32_t c = class_for(tx, p);

	if (!c)
		return 0;
	uint32_t plain = tqi_class_at(tx, c)->plain;
	uint32_t l = p->limits ? tqi_lane_find(tx, c, p->limits) : plain;

	if (!l) {
		tqi_lane_shrink_all(tx, plain);
		return 0;
	}
	struct tqi_lane *lane = tqi_lane_at(tx, l);

	if (tqi_lane_reserve(tx, lane, lane->members + 1) < 0) {
		tqi_lane_shrink_all(tx, l);
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

void tqi_lane_leave(struct tqi_tx *tx, uint32_t l)
{
	struct tqi_lane *lane = tqi_lane_at(tx, l);

	TQI_ADD(tx, lane->members, -1);
	tqi_lane_left(tx, l, lane);
}
