/* SPDX-License-Identifier: MIT */
/* A queue's policy, and changes of it. */
#include "scheduler/order/policy.h"

#include <errno.h>
#include <string.h>

#include "scheduler/order/queue.h"
#include "scheduler/record/queue_set.h"
#include "scheduler/record/sweep_state.h"

static const int32_t default_from[TQ_BANDS - 1] = { TQ_PRIORITY_NORMAL, TQ_PRIORITY_HIGH,
						    TQ_PRIORITY_CRITICAL };

void tqi_policy_init(struct tqi_queue *queue)
{
	for (uint32_t b = 0; b < TQ_BANDS - 1; b++)
		TQI_INIT(queue->band_from[b], default_from[b]);
	TQI_INIT(queue->max_wait_ns, UINT64_MAX);
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

/* PO-2. */
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

void tqi_policy_set_flags(struct tqi_tx *tx, struct tqi_queue *queue)
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

/* PO-3: bounds matter where bands do. */
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

/* A queue without tasks is through at once, unless it has very many classes. */
static void begin_era(struct tqi_tx *tx, uint32_t q, struct tqi_queue *queue)
{
	TQI_ADD(tx, queue->era, 1);
	tqi_chain_clear(tx, tqi_policy_earlier(queue));
	if (tqi_policy_earlier(queue)->left) {
		TQI_SET(tx, queue->flags, queue->flags | TQI_QUEUE_MOVING);
		TQI_ADD(tx, tqi_root(tx)->moving.count, 1);
		tqi_queue_set_flip(tx, &tqi_root(tx)->moving.queues, q);
		tqi_sweep_start(tx);
	}
	tqi_policy_set_flags(tx, queue);
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
