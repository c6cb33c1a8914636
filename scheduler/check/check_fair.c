/* SPDX-License-Identifier: MIT */
/* Tenants, and their classes in the heaps of their streams: FA-2 to FA-5. */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/order/fair.h"
#include "scheduler/order/tournament.h"

bool tqi_check_tenant_is_sound(struct tqi_check *c, const struct tqi_tenant *tenant)
{
	return tqi_check_record(c, TQI_QUEUES, tenant->queue) && tenant->bytes <= TQ_KEY_MAX &&
	       strnlen(tenant->name, TQ_KEY_MAX + 1) == tenant->bytes && tenant->tag_us >= 0 &&
	       tenant->credit_us >= 0 && tenant->overdue_turn <= 1;
}

/* The class that its lane is in; NULL it is finished, or lost. */
void tqi_check_task_tenant(struct tqi_check *c, uint32_t index, const struct tqi_task *t,
			   const struct tqi_class *class)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, t->queue);
	uint32_t named = extra ? extra->tenant : 0;
	const struct tqi_tenant *tenant = tqi_check_record_in_use(c, TQI_TENANTS, named);

	if (named && (!tenant || tenant->queue != t->queue || !tenant->bytes)) {
		tqi_check_fault(c, "task %u: %u is not its tenant", index, named);
		return;
	}
	c->tenants[named]++;
	if (!class || !queue)
		return;
	uint32_t own = named ? named : queue->tenant;

	if (class->tenant && class->tenant != own)
		tqi_check_fault(c, "task %u: in a class of tenant %u", index, class->tenant);
	if (class->era == queue->era && !!class->tenant != queue->fair)
		tqi_check_fault(c, "task %u: %s a class of its tenant", index,
				queue->fair ? "not in" : "in");
}

/* FA-4. */
static void check_class(struct tqi_check *c, uint32_t k, const struct tqi_class *class)
{
	c->contests[tqi_check_stream_of(c, class->queue, class->kind)].classes++;
	if (!class->tenant || class->competes != !!class->open.length)
		tqi_check_fault(c, "class %u: competes %u, with %u lanes", k, class->competes,
				class->open.length);
	if (class->competes && !(c->marks[TQI_CLASSES][k] & TQI_SEEN_LANE))
		tqi_check_fault(c, "class %u: not in the heap of its stream", k);
}

/* FA-5: an entry's key is what the tag once was. */
static bool expect_tenant(struct tqi_check *c, uint32_t k, const struct tqi_check_heap *h,
			  struct tqi_heap_entry *entry)
{
	const struct tqi_class *class = tqi_class_at(c->tx, k);
	const struct tqi_tenant *tenant = tqi_check_record_in_use(c, TQI_TENANTS, class->tenant);

	if (!tenant || !class->competes ||
	    tqi_check_stream_of(c, class->queue, class->kind) != h->owner)
		return false;
	entry->tag = tqi_tag(tenant->sequence, k);
	if (entry->key < 0 || entry->key > tenant->tag_us)
		entry->key = tenant->tag_us;
	return true;
}

static void check_stream(struct tqi_check *c, uint32_t s)
{
	const struct tqi_stream *stream = tqi_check_record_in_use(c, TQI_STREAMS, s);

	if (!stream)
		return;
	tqi_check_equal(c, "stream", s, "classes of tenants", stream->tenant_classes,
			c->contests[s].classes);
	if (stream->tenants.capacity < stream->tenant_classes)
		tqi_check_fault(c, "stream %u: no room for %u classes", s, stream->tenant_classes);
}

static void check_streams(struct tqi_check *c)
{
	for (uint32_t s = 1; s < c->count[TQI_STREAMS]; s++) {
		const struct tqi_stream *stream = tqi_check_record_in_use(c, TQI_STREAMS, s);

		if (stream)
			tqi_check_heap(c, &(struct tqi_check_heap){ .heap = &stream->tenants,
								    .family = TQI_FAMILY_FAIR,
								    .table = TQI_CLASSES,
								    .mark = TQI_SEEN_LANE,
								    .owner = s,
								    .name = "tenants",
								    .expect = expect_tenant });
	}
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++) {
		const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, k);

		if (class && (class->tenant || class->competes))
			check_class(c, k, class);
	}
	for (uint32_t s = 1; s < c->count[TQI_STREAMS]; s++)
		check_stream(c, s);
}

/* TN-4. */
static void check_contest(struct tqi_check *c, uint32_t q, const struct tqi_queue *queue)
{
	const struct tqi_check_owner owner = { "contest of queue", q };
	const struct tqi_tournament *t =
		queue->contest ? tqi_check_tournament(c, &owner, queue->contest, 1) : NULL;
	uint32_t places = 0;

	for (uint32_t s = 1; t && s < c->count[TQI_STREAMS]; s++) {
		const struct tqi_stream *stream = tqi_check_record_in_use(c, TQI_STREAMS, s);

		if (!stream || tqi_check_stream_of(c, q, stream->kind) != s ||
		    (!stream->tenants.length &&
		     !t->of[stream->kind])) /* younger, and never asked */
			continue;
		places++;
		tqi_check_place(c, &owner, t, stream->kind, s,
				(const struct tqi_heap_entry *[]){ tqi_stream_head(stream) });
	}
	tqi_check_equal(c, owner.record, q, "kinds with a place", tqi_check_count_places(t),
			places);
}

static void check_tenant(struct tqi_check *c, uint32_t t)
{
	const struct tqi_tenant *tenant = tqi_check_record_in_use(c, TQI_TENANTS, t);

	if (!tenant)
		return;
	if (!tqi_check_tenant_is_sound(c, tenant))
		tqi_check_fault(c, "tenant %u: no name, or tag %lld", t, (long long)tenant->tag_us);
	if (!(c->marks[TQI_TENANTS][t] & TQI_SEEN_LINKED))
		tqi_check_fault(c, "tenant %u: not in the index", t);
	if (tenant->sequence >= tqi_root(c->tx)->sequence)
		tqi_check_fault(c, "tenant %u: sequence %llu is still to come", t,
				(unsigned long long)tenant->sequence);
	tqi_check_equal(c, "tenant", t, "tasks", tenant->tasks, c->tenants[t]);
	if (tenant->bytes && !tenant->tasks)
		tqi_check_fault(c, "tenant %u: of no task", t);
}

static void check_queue(struct tqi_check *c, uint32_t q)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);
	const struct tqi_tenant *own;

	if (!queue)
		return;
	own = tqi_check_record_in_use(c, TQI_TENANTS, queue->tenant);
	if (queue->fair > 1 || (queue->fair && (queue->hybrid || !queue->tenant)) ||
	    queue->fair_time_us < 0)
		tqi_check_fault(c, "queue %u: fair %u, at %lld", q, queue->fair,
				(long long)queue->fair_time_us);
	if (queue->tenant && (!own || own->queue != q || own->bytes))
		tqi_check_fault(c, "queue %u: tenant %u is not its own", q, queue->tenant);
	check_contest(c, q, queue);
}

static void check_charged(struct tqi_check *c, uint32_t a)
{
	const struct tqi_attempt *attempt = tqi_check_record_in_use(c, TQI_ATTEMPTS, a);
	const struct tqi_task *t = attempt ? tqi_check_record(c, TQI_TASKS, attempt->task) : NULL;
	const struct tqi_queue *queue = t ? tqi_check_record(c, TQI_QUEUES, t->queue) : NULL;

	if (queue && (attempt->charged_us < 0 || (attempt->charged_us && !queue->tenant)))
		tqi_check_fault(c, "attempt %u: charged %lld", a, (long long)attempt->charged_us);
}

void tqi_check_fair(struct tqi_check *c)
{
	tqi_check_index(c, &(struct tqi_check_index){ &tqi_root(c->tx)->named.tenants, TQI_TENANTS,
						      "tenant index", NULL });
	for (uint32_t t = 1; t < c->count[TQI_TENANTS]; t++)
		check_tenant(c, t);
	check_streams(c);
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++)
		check_queue(c, q);
	for (uint32_t a = 1; a < c->count[TQI_ATTEMPTS]; a++)
		check_charged(c, a);
	for (uint32_t k = 1; k < c->count[TQI_KINDS]; k++) {
		const struct tqi_kind *kind = tqi_check_record(c, TQI_KINDS, k);

		if (kind && kind->mean_us < 0)
			tqi_check_fault(c, "kind %u: mean %lld", k, (long long)kind->mean_us);
	}
}
