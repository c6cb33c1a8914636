/* SPDX-License-Identifier: MIT */
/* Tenants are believed with their names and tags; their classes are made anew. */
#include "scheduler/order/fair.h"
#include "scheduler/order/policy.h"
#include "scheduler/rebuild/rebuild_state.h"

/* One that makes no sense is of no queue. */
static void mend_tenant(struct tqi_check *c, uint32_t t)
{
	struct tqi_tenant *tenant = tqi_check_record(c, TQI_TENANTS, t);

	if (!tenant)
		return;
	if (tenant->tag_us < 0 || tenant->credit_us < 0)
		tenant->tag_us = tenant->credit_us = 0;
	tenant->overdue_turn = tenant->overdue_turn != 0;
	if (!tqi_check_tenant_is_sound(c, tenant))
		tenant->queue = 0;
}

static void mend_queue(struct tqi_check *c, uint32_t q)
{
	struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);
	const struct tqi_tenant *own = queue ? tqi_check_record(c, TQI_TENANTS, queue->tenant)
					     : NULL;

	if (!queue)
		return;
	if (queue->fair_time_us < 0)
		queue->fair_time_us = 0;
	if (own && own->queue == q && !own->bytes)
		c->marks[TQI_TENANTS][queue->tenant] |= TQI_SEEN_LINKED;
	else
		queue->tenant = 0;
}

void tqi_rebuild_fair_begin(struct tqi_check *c)
{
	for (uint32_t t = 1; t < c->count[TQI_TENANTS]; t++)
		mend_tenant(c, t);
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++)
		mend_queue(c, q);
	for (uint32_t k = 1; k < c->count[TQI_KINDS]; k++) {
		struct tqi_kind *kind = tqi_check_record(c, TQI_KINDS, k);

		if (kind && kind->mean_us < 0)
			kind->mean_us = 0;
	}
}

void tqi_rebuild_task_tenant(struct tqi_check *c, const struct tqi_task *t)
{
	struct tqi_extra *extra = tqi_check_extra(c, t);
	struct tqi_tenant *tenant = extra ? tqi_check_record(c, TQI_TENANTS, extra->tenant) : NULL;

	if (!extra || !extra->tenant)
		return;
	if (!tenant || tenant->queue != t->queue || !tenant->bytes) {
		extra->tenant = 0;
		return;
	}
	tenant->tasks++;
	c->marks[TQI_TENANTS][extra->tenant] |= TQI_SEEN_LINKED;
}

static int index_tenant(struct tqi_check *c, uint32_t t)
{
	struct tqi_tenant *tenant = tqi_tenant_at(c->tx, t);
	struct tqi_root *root = tqi_root(c->tx);

	const struct tqi_rebuild_lost how = { "lost-fair-key", tenant->name, &tenant->bytes,
					      false };

	if (tenant->sequence >= root->sequence)
		tenant->sequence = root->sequence - 1;
	return tqi_rebuild_name(c, TQI_TENANTS, t, &how);
}

/* A fair queue has a tenant of its own; and the flags that follow. */
static int own_tenant(struct tqi_check *c, uint32_t q)
{
	struct tqi_queue *queue = tqi_queue_at(c->tx, q);
	int r = queue->fair ? tqi_tenant_own(c->tx, q) : 0;

	queue->flags = (queue->flags & ~TQI_POLICY_FLAGS) | tqi_policy_flags(queue);
	if (r == 0 && queue->tenant)
		c->marks[TQI_TENANTS][queue->tenant] |= TQI_SEEN_LINKED;
	c->count[TQI_TENANTS] = c->tx->core->tables[TQI_TENANTS].count;
	return r;
}

int tqi_rebuild_fair(struct tqi_check *c)
{
	int r = 0;

	for (uint32_t t = 1; t < c->count[TQI_TENANTS] && r == 0; t++)
		if (c->marks[TQI_TENANTS][t] & TQI_SEEN_LINKED)
			r = index_tenant(c, t);
	for (uint32_t q = 1; q < c->count[TQI_QUEUES] && r == 0; q++)
		r = own_tenant(c, q);
	for (uint32_t a = 1; a < c->count[TQI_ATTEMPTS] && r == 0; a++) {
		struct tqi_attempt *attempt = tqi_attempt_at(c->tx, a);
		uint32_t queue = c->marks[TQI_ATTEMPTS][a] & TQI_SEEN_LINKED
					 ? tqi_task_at(c->tx, attempt->task)->queue
					 : 0;

		if (queue && (attempt->charged_us < 0 || !tqi_queue_at(c->tx, queue)->tenant))
			attempt->charged_us = 0;
	}
	return r;
}
