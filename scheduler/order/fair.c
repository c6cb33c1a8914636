/* SPDX-License-Identifier: MIT */
/* Tenants: their records, their classes' places, and what they are charged. */
#include "scheduler/order/fair.h"

#include <errno.h>
#include <string.h>

#include "scheduler/order/ready.h"
#include "scheduler/record/name.h"
#include "scheduler/record/task_record.h"

#define NS_PER_US 1000u

/* Records. */

uint32_t tqi_tenant_find(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes)
{
	return tqi_name_seek(tx, TQI_TENANTS, (struct tqi_name){ name, bytes, queue });
}

/* All but the link of a record that nothing refers to (TX-3). */
static void fill(struct tqi_tenant *tenant, uint32_t queue, const char *name, uint32_t bytes,
		 uint64_t sequence)
{
	tqi_table_clear(tenant, sizeof(*tenant));
	TQI_INIT(tenant->queue, (uint16_t)queue);
	TQI_INIT(tenant->bytes, (uint8_t)bytes);
	TQI_INIT(tenant->sequence, sequence);
	memcpy(tenant->name, name, bytes);
}

/* Found or made. */
static int make(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t *ret_tenant)
{
	uint32_t bytes = (uint32_t)strnlen(name, TQ_KEY_MAX);
	uint32_t t = tqi_tenant_find(tx, queue, name, bytes);
	bool full;

	*ret_tenant = t;
	if (t)
		return 0;
	t = tqi_table_take(tx, TQI_TENANTS, &full);
	if (!t)
		return full ? TQ_EFULL : -ENOMEM;
	fill(tqi_tenant_at(tx, t), queue, name, bytes, tqi_root(tx)->sequence);
	TQI_ADD(tx, tqi_root(tx)->sequence, 1);
	*ret_tenant = t;
	return tqi_name_enter(tx, TQI_TENANTS, t);
}

uint32_t tqi_tenant_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	return task->flags & TQI_TASK_EXTRA ? tqi_task_extra(tx, task)->tenant : 0;
}

int tqi_tenant_join(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t *ret_tenant)
{
	int r = make(tx, queue, name, ret_tenant);

	if (r == 0)
		TQI_ADD(tx, tqi_tenant_at(tx, *ret_tenant)->tasks, 1);
	return r;
}

void tqi_tenant_leave(struct tqi_tx *tx, uint32_t t)
{
	if (!t)
		return;
	struct tqi_tenant *tenant = tqi_tenant_at(tx, t);

	TQI_ADD(tx, tenant->tasks, -1);
	if (tenant->tasks)
		return;
	tqi_name_leave(tx, TQI_TENANTS, t);
	tqi_table_give(tx, TQI_TENANTS, t);
}

int tqi_tenant_move(struct tqi_tx *tx, struct tqi_task *task, uint32_t queue)
{
	uint32_t from = tqi_tenant_of(tx, task), to;

	if (!from)
		return 0;
	int r = tqi_tenant_join(tx, queue, tqi_tenant_at(tx, from)->name, &to);

	if (r == 0)
		TQI_SET(tx, tqi_task_extra(tx, task)->tenant, to);
	return r;
}

int tqi_tenant_own(struct tqi_tx *tx, uint32_t q)
{
	struct tqi_queue *queue = tqi_queue_at(tx, q);
	uint32_t t = queue->tenant;
	int r = t ? 0 : make(tx, q, "", &t);

	if (r == 0 && t != queue->tenant)
		TQI_SET(tx, queue->tenant, t);
	return r;
}

/* Places. */

static struct tqi_heap_entry entry_of(const struct tqi_tenant *tenant, uint32_t c)
{
	return (struct tqi_heap_entry){ tenant->tag_us, tqi_tag(tenant->sequence, c) };
}

int tqi_fair_reserve(struct tqi_tx *tx, uint32_t queue, uint32_t kind)
{
	struct tqi_stream *stream = tqi_stream_by(tx, queue, kind);

	return tqi_heap_reserve(tx, &stream->tenants, stream->tenant_classes + 1);
}

/* It counts in its stream, and in its queue's era (PO-3). */
static void count(struct tqi_tx *tx, const struct tqi_class *class, struct tqi_stream *stream,
		  struct tqi_queue *queue, int change)
{
	TQI_ADD(tx, stream->tenant_classes, change);
	TQI_ADD(tx, queue->chains[class->era & 1].left, change);
}

void tqi_fair_enter(struct tqi_tx *tx, const struct tqi_class *class)
{
	struct tqi_queue *queue = tqi_queue_at(tx, class->queue);

	count(tx, class, tqi_stream_by(tx, class->queue, class->kind), queue, 1);
	tqi_contest_make(tx, queue);
}

void tqi_fair_leave(struct tqi_tx *tx, const struct tqi_class *class)
{
	struct tqi_stream *stream = tqi_stream_by(tx, class->queue, class->kind);

	count(tx, class, stream, tqi_queue_at(tx, class->queue), -1);
	tqi_heap_trim(tx, &stream->tenants, stream->tenant_classes);
}

void tqi_fair_follow(struct tqi_tx *tx, uint32_t c)
{
	struct tqi_class *class = tqi_class_at(tx, c);
	bool competes = class->open.length;

	if (class->competes == competes)
		return;
	TQI_SET(tx, class->competes, (uint8_t)competes);
	struct tqi_stream *stream = tqi_stream_by(tx, class->queue, class->kind);

	tqi_heap_follow(tx, &stream->tenants, TQI_FAMILY_FAIR,
			entry_of(tqi_tenant_at(tx, class->tenant), c), !competes, competes);
	tqi_contest_follow(tx, stream);
}

/* Turns. */

/*
 * FA-5: whether the entry of the first one of a stream is what its tenant's tag is now; else it
 * is entered anew, or (*ret_unsettled) there is no room for that.
 */
static bool is_present(struct tqi_tx *tx, struct tqi_stream *stream, bool *ret_unsettled)
{
	struct tqi_heap *heap = &stream->tenants;
	uint32_t c = tqi_tag_index(heap->root.tag);
	const struct tqi_tenant *tenant = tqi_tenant_at(tx, tqi_class_at(tx, c)->tenant);

	if (tenant->tag_us == heap->root.key)
		return true;
	*ret_unsettled = tqi_tx_is_filling(tx);
	if (*ret_unsettled)
		return false;
	tqi_heap_rekey(tx, heap, TQI_FAMILY_FAIR, c, entry_of(tenant, c));
	tqi_contest_follow(tx, stream);
	return false;
}

/* The stream with the least entry of those that the worker serves; 0 none. */
static uint32_t least_of(struct tqi_tx *tx, const struct tqi_worker *worker,
			 const struct tqi_queue *queue)
{
	const struct tqi_heap_entry *best = NULL;
	uint32_t stream = 0;

	if (queue->contest)
		return tqi_tournament_best(tqi_unit(tx, queue->contest), TQI_BY_KEY, worker->kinds);
	for (uint32_t s = queue->streams; s && !tx->corrupt;) {
		const struct tqi_stream *other = tqi_stream_at(tx, s);

		if (other->tenants.length && tqi_worker_serves_kind(worker, other->kind) &&
		    (!best || tqi_entry_before(&other->tenants.root, best))) {
			best = &other->tenants.root;
			stream = s;
		}
		s = other->next;
	}
	return stream;
}

/* No entry is more than its tenant's tag: one that is the least, and present, is the least tag. */
uint32_t tqi_fair_tenant(struct tqi_tx *tx, const struct tqi_worker *worker,
			 const struct tqi_queue *queue, bool *ret_unsettled)
{
	uint32_t s;

	while (!*ret_unsettled && (s = least_of(tx, worker, queue)) && !tx->corrupt) {
		struct tqi_stream *stream = tqi_stream_at(tx, s);

		if (is_present(tx, stream, ret_unsettled))
			return tqi_class_at(tx, tqi_tag_index(stream->tenants.root.tag))->tenant;
	}
	return 0;
}

/* Both are not negative. */
static int64_t sum(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Add run time to a tenant's tag, what its credit does not pay. */
static void charge(struct tqi_tx *tx, struct tqi_tenant *tenant, int64_t from, int64_t credit,
		   int64_t us)
{
	int64_t paid = us < credit ? us : credit, tag = sum(from, us - paid);

	if (tag != tenant->tag_us)
		TQI_SET(tx, tenant->tag_us, tag);
	if (credit - paid != tenant->credit_us)
		TQI_SET(tx, tenant->credit_us, credit - paid);
}

int64_t tqi_fair_begin(struct tqi_tx *tx, const struct tqi_class *class)
{
	struct tqi_tenant *tenant = tqi_tenant_at(tx, class->tenant);
	struct tqi_queue *queue = tqi_queue_at(tx, class->queue);
	int64_t mean = tqi_kind_at(tx, class->kind)->mean_us;
	bool was_away = tenant->tag_us < queue->fair_time_us;

	if (!mean)
		mean = TQI_MEAN_FIRST_US;
	if (tenant->tag_us > queue->fair_time_us)
		TQI_SET(tx, queue->fair_time_us, tenant->tag_us);
	charge(tx, tenant, queue->fair_time_us, was_away ? 0 : tenant->credit_us, mean);
	return mean;
}

static void learn(struct tqi_tx *tx, struct tqi_kind *kind, int64_t us)
{
	int64_t mean = kind->mean_us ? kind->mean_us + (us - kind->mean_us) / TQI_MEAN_WEIGHT : us;

	if (mean != kind->mean_us)
		TQI_SET(tx, kind->mean_us, mean);
}

void tqi_fair_end(struct tqi_tx *tx, const struct tqi_task *task, const struct tqi_attempt *attempt)
{
	uint32_t named = tqi_tenant_of(tx, task);
	const struct tqi_queue *queue = tqi_queue_at(tx, task->queue);
	struct tqi_tenant *tenant = tqi_tenant_at(tx, named ? named : queue->tenant);
	int64_t us = (int64_t)((tx->now_ns - attempt->started_ns) / NS_PER_US) + 1;
	int64_t charged = attempt->charged_us;

	learn(tx, tqi_kind_at(tx, task->kind), us);
	if (us >= charged)
		charge(tx, tenant, tenant->tag_us, tenant->credit_us, us - charged);
	else
		TQI_SET(tx, tenant->credit_us, sum(tenant->credit_us, charged - us));
}
