/* SPDX-License-Identifier: MIT */
/* Tenants, and their classes in the heaps of their streams: FA-2 to FA-5. */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/order/fair.h"

bool tqi_check_tenant_is_sound(struct tqi_check *c, const struct tqi_tenant *tenant)
{
	return tqi_check_record(c, TQI_QUEUES, tenant->queue) && tenant->bytes <= TQ_KEY_MAX &&
	       strnlen(tenant->name, TQ_KEY_MAX + 1) == tenant->bytes && tenant->tag_us >= 0 &&
	       tenant->credit_us >= 0 && tenant->overdue_turn <= 1;
}

void tqi_check_chain(struct tqi_check *c, const char *owner, uint32_t index, uint32_t classes,
		     uint32_t queue, uint32_t tenant)
{
	for (uint32_t k = classes; k;) {
		const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, k);

		if (!class || class->queue != queue || class->tenant != tenant ||
		    (c->marks[TQI_CLASSES][k] & TQI_SEEN_LINKED)) {
			tqi_check_fault(c, "%s %u: chain of classes broken at %u", owner, index, k);
			return;
		}
		c->marks[TQI_CLASSES][k] |= TQI_SEEN_LINKED;
		k = class->next;
	}
}

void tqi_check_tenant_chains(struct tqi_check *c)
{
	for (uint32_t t = 1; t < c->count[TQI_TENANTS]; t++) {
		const struct tqi_tenant *tenant = tqi_check_record_in_use(c, TQI_TENANTS, t);

		if (tenant)
			tqi_check_chain(c, "tenant", t, tenant->classes, tenant->queue, t);
	}
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
	if (class->tenant && t->state == TQ_READY &&
	    !(t->flags & (TQI_TASK_HELD | TQI_TASK_ASSIGNED)))
		c->contests[tqi_check_stream_of(c, t->queue, t->kind)].ready++; /* of none: 0 */
}

/* FA-4. */
static void check_class(struct tqi_check *c, uint32_t k, const struct tqi_class *class)
{
	const struct tqi_lane *lane = tqi_check_record_in_use(c, TQI_LANES, class->plain);

	c->contests[tqi_check_stream_of(c, class->queue, class->kind)].classes++;
	if (tqi_check_record(c, TQI_QUEUES, class->queue))
		c->eras[class->queue].of[class->era & 1]++;
	if (!class->tenant || class->competes != !!class->open.length)
		tqi_check_fault(c, "class %u: competes %u, with %u lanes", k, class->competes,
				class->open.length);
	if (class->competes && !(c->marks[TQI_CLASSES][k] & TQI_SEEN_LANE))
		tqi_check_fault(c, "class %u: not in the heap of its stream", k);
	if (class->lane_count == 1 && lane && !lane->members)
		tqi_check_fault(c, "class %u: a tenant's, and empty", k);
}

/* FA-5: an entry's key is what the tag once was. */
static bool expect_tenant(struct tqi_check *c, uint32_t k, uint32_t s, struct tqi_heap_entry *entry)
{
	const struct tqi_class *class = tqi_class_at(c->tx, k);
	const struct tqi_tenant *tenant = tqi_check_record_in_use(c, TQI_TENANTS, class->tenant);

	if (!tenant || !class->competes || tqi_check_stream_of(c, class->queue, class->kind) != s)
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
	tqi_check_equal(c, "stream", s, "ready of tenants", stream->tenant_ready,
			c->contests[s].ready);
	if (stream->tenants.capacity < stream->tenant_classes)
		tqi_check_fault(c, "stream %u: no room for %u classes", s, stream->tenant_classes);
}

static void check_contests(struct tqi_check *c)
{
	for (uint32_t s = 1; s < c->count[TQI_STREAMS]; s++) {
		const struct tqi_stream *stream = tqi_check_record_in_use(c, TQI_STREAMS, s);

		if (stream)
			tqi_check_heap(c, &(struct tqi_check_heap){
						  &stream->tenants, TQI_FAMILY_FAIR, TQI_CLASSES,
						  TQI_SEEN_LANE, s, "tenants", expect_tenant });
	}
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++) {
		const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, k);

		if (class && (class->tenant || class->competes))
			check_class(c, k, class);
	}
	for (uint32_t s = 1; s < c->count[TQI_STREAMS]; s++)
		check_stream(c, s);
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
	for (uint32_t e = 0; e < 2; e++)
		tqi_check_equal(c, "queue", q, "tenant_classes", queue->tenant_classes[e],
				c->eras[q].of[e]);
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
	tqi_check_index(c, &(struct tqi_check_index){ &tqi_root(c->tx)->tenants, TQI_TENANTS,
						      "tenant index", NULL });
	for (uint32_t t = 1; t < c->count[TQI_TENANTS]; t++)
		check_tenant(c, t);
	check_contests(c);
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
