/* SPDX-License-Identifier: MIT */
/* Decisions over many tasks, as observers see them before they are carried out. */
#include <stddef.h>

#include "client/observe/info.h"
#include "client/observe/snapshot.h"

static void read_root(const struct tqi_segment *seg, struct tqi_decisions *d)
{
	const uint64_t root = seg->geometry.root;
	uint32_t left = 0, busy = 0;

	d->known = true;
	if (tqi_peek(seg, root + offsetof(struct tqi_root, sweep.left), &left, sizeof(left)) < 0 ||
	    tqi_peek(seg, root + offsetof(struct tqi_root, group.busy), &busy, sizeof(busy)) < 0 ||
	    tqi_peek(seg, root + offsetof(struct tqi_root, sweep.cancel_before), &d->cancel_before,
		     sizeof(d->cancel_before)) < 0)
		return;
	d->sweeping = left > 0;
	d->cancelling = busy != 0;
}

static uint64_t purge_before(const struct tqi_segment *seg, struct tqi_decisions *d, uint32_t q)
{
	struct tqi_queue queue;

	if (d->queue != q) {
		d->queue = q;
		d->purge_before =
			tqi_peek_record(seg, TQI_QUEUES, q, &queue) == 0 ? queue.purge_before : 0;
	}
	return d->purge_before;
}

/* GR-6. */
static bool is_members(const struct tqi_segment *seg, const struct tqi_task *t)
{
	struct tqi_extra extra;
	struct tqi_group group;

	return tqi_peek_extra(seg, t, &extra) && extra.group && !extra.counted &&
	       tqi_peek_record(seg, TQI_GROUPS, extra.group, &group) == 0 && group.cancelled;
}

void tqi_decide(const struct tqi_segment *seg, struct tqi_decisions *d, struct tqi_task *copy)
{
	if (copy->state == TQ_RUNNING || tqi_state_is_final(copy->state))
		return;
	if (!d->known)
		read_root(seg, d);
	const bool swept = d->sweeping && (copy->wait_sequence < d->cancel_before ||
					   copy->wait_sequence < purge_before(seg, d, copy->queue));

	if (!swept && !(d->cancelling && is_members(seg, copy)))
		return;
	copy->state = TQ_CANCELLED;
	copy->cause = TQ_CAUSE_CANCELLED;
	copy->cause_arg = 0;
	copy->ended_ns = seg->ops->now(seg->ops->ctx);
}
