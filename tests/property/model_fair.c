/* SPDX-License-Identifier: MIT */
/* The model: tenants of fair queues, and what they are charged. */
#include "scheduler/order/fair.h"
#include "tests/property/model_parts.h"

#define NS_PER_US 1000

uint32_t model_tenant_tasks(const struct model *m, uint32_t queue, uint32_t tenant)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];

		n += t->state != TQ_FREE && t->queue == queue && t->tenant == tenant;
	}
	return n;
}

/* Before a task of it comes to the queue. */
void model_tenant_join(struct model *m, uint32_t queue, uint32_t tenant)
{
	if (tenant && !model_tenant_tasks(m, queue, tenant))
		m->tenants[queue][tenant] = (struct model_tenant){ .sequence = m->sequence++ };
}

void model_tenant_own(struct model *m, uint32_t queue)
{
	if (m->queues[queue].has_tenant)
		return;
	m->queues[queue].has_tenant = true;
	m->tenants[queue][0] = (struct model_tenant){ .sequence = m->sequence++ };
}

static int64_t sum(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Time that is paid by credit first; the rest makes the tag grow. */
static void spend(struct model_tenant *tenant, int64_t us)
{
	int64_t rest = us > tenant->credit_us ? us - tenant->credit_us : 0;

	tenant->credit_us = us > tenant->credit_us ? 0 : tenant->credit_us - us;
	tenant->tag_us = sum(tenant->tag_us, rest);
}

int64_t model_fair_begin(struct model *m, const struct model_task *t)
{
	struct model_tenant *tenant = &m->tenants[t->queue][t->tenant];
	struct model_queue *q = &m->queues[t->queue];
	int64_t mean = m->mean_us[t->kind] ? m->mean_us[t->kind] : TQI_MEAN_FIRST_US;

	if (tenant->tag_us < q->fair_time_us) { /* it was away */
		tenant->tag_us = q->fair_time_us;
		tenant->credit_us = 0;
	}
	q->fair_time_us = tenant->tag_us;
	spend(tenant, mean);
	return mean;
}

void model_fair_end(struct model *m, const struct model_task *t)
{
	struct model_tenant *tenant = &m->tenants[t->queue][t->tenant];
	int64_t us = (int64_t)((m->now_ns - t->attempt.started_ns) / NS_PER_US) + 1;
	int64_t charged = t->attempt.charged_us, *mean = &m->mean_us[t->kind];

	if (!charged)
		return;
	*mean = *mean ? *mean + (us - *mean) / TQI_MEAN_WEIGHT : us;
	if (us > charged)
		spend(tenant, us - charged);
	else
		tenant->credit_us = sum(tenant->credit_us, charged - us);
}

bool model_tenant_before(const struct model *m, uint32_t queue, uint32_t a, uint32_t b)
{
	const struct model_tenant *x = &m->tenants[queue][a], *y = &m->tenants[queue][b];

	return x->tag_us != y->tag_us ? x->tag_us < y->tag_us
				      : model_sequence_before(x->sequence, y->sequence);
}
