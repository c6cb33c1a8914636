/* SPDX-License-Identifier: MIT */
/* Queues and kinds. */
#include "scheduler/order/queue.h"

#include "scheduler/order/policy.h"
#include "scheduler/record/name.h"
#include "scheduler/record/serves.h"
#include "scheduler/record/sweep_state.h"
#include "scheduler/wake/room.h"
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

	tqi_table_clear(queue, sizeof(*queue));
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
	if (!k)
		return 0;
	tqi_table_clear(tqi_kind_at(tx, k), sizeof(struct tqi_kind));
	return tqi_name_put(tx, TQI_KINDS, k, name) < 0 ? 0 : k;
}

int tqi_queue_set(struct tqi_tx *tx, uint32_t queue, const struct tqi_queue_settings *settings)
{
	struct tqi_queue *q = tqi_queue_at(tx, queue);

	tqi_queue_keep(tx, q);
	if (settings->depth_max) {
		TQI_SET(tx, q->depth_max, settings->depth_max);
		tqi_wake_room_in(tx, queue);
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
	tqi_room_opens(tx, queue);
	tqi_sweep_start(tx);
	return waiting;
}
