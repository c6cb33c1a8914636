/* SPDX-License-Identifier: MIT */
/* The search for what is unused, and its end. */
#include "scheduler/order/unused.h"

#include "scheduler/order/class.h"
#include "scheduler/order/kind.h"
#include "scheduler/record/name.h"
#include "scheduler/record/stream.h"
#include "shm/pool.h"

#define LOOKS_SLICE 128 /* records looked at in one hold: some 10 us */

/* Where a search begins, or goes on: at most once round. */
static uint32_t begin(struct tqi_tx *tx, struct tqi_unused *u, uint32_t table, uint32_t hand)
{
	const uint32_t count = tx->core->tables[table].count;

	if (!u->at) {
		u->at = hand && hand < count ? hand : 1;
		u->left = count - 1;
	}
	return count;
}

static void next(struct tqi_unused *u, uint32_t count)
{
	u->at = u->at + 1 < count ? u->at + 1 : 1;
	u->left--;
	u->queue = 0;
	u->drops = false;
}

static bool is_resting(const struct tqi_stream *s)
{
	return !(s->depth[TQ_FREE] | s->depth[TQ_BLOCKED] | s->depth[TQ_DELAYED] |
		 s->depth[TQ_READY] | s->depth[TQ_RUNNING]);
}

/* Whether no stream of a queue has tasks; each look is counted. */
static bool has_no_tasks(struct tqi_tx *tx, const struct tqi_queue *queue, struct tqi_unused *u,
			 uint32_t *looks)
{
	bool empty = true;
	uint32_t steps = 0;

	for (uint32_t s = queue->streams; s && tqi_table_walks(tx, TQI_STREAMS, &steps);) {
		const struct tqi_stream *stream = tqi_stream_at(tx, s);

		++*looks;
		if (!is_resting(stream))
			return false;
		empty = empty && tqi_stream_is_empty(stream);
		s = stream->next;
	}
	u->rests = u->rests || !empty;
	return empty;
}

static bool queue_is_unused(struct tqi_tx *tx, struct tqi_unused *u, uint32_t *looks)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, u->at);

	++*looks;
	if (!queue->name[0] || (queue->flags | queue->users))
		return false;
	return has_no_tasks(tx, queue, u, looks);
}

/* False: there is more. */
static bool queue_clear(struct tqi_tx *tx, struct tqi_queue *queue)
{
	if (!tqi_chain_clear(tx, &queue->chains[queue->era & 1]))
		return false;
	while (queue->streams && !tx->corrupt) {
		if (tqi_tx_is_filling(tx))
			return false;
		tqi_stream_drop(tx, queue->streams);
	}
	if (queue->by_kind)
		tqi_block_give(tx, queue->by_kind);
	TQI_SET(tx, queue->by_kind, 0u);
	return true;
}

enum tqi_unused_step tqi_queue_unused(struct tqi_tx *tx, struct tqi_unused *u)
{
	const uint32_t count = begin(tx, u, TQI_QUEUES, tqi_root(tx)->queues_at);

	for (uint32_t looks = 0; u->left && !tx->corrupt; next(u, count)) {
		if (looks >= LOOKS_SLICE)
			return TQI_UNUSED_MORE;
		if (!queue_is_unused(tx, u, &looks))
			continue;
		if (!queue_clear(tx, tqi_queue_at(tx, u->at)))
			return TQI_UNUSED_MORE;
		tqi_name_drop(tx, TQI_QUEUES, u->at);
		TQI_SET(tx, tqi_root(tx)->queues_at, u->at + 1);
		return TQI_UNUSED_GIVEN;
	}
	return TQI_UNUSED_NONE;
}

/* Kinds: the queues are gone through twice, to see whether any has tasks, and to clear them. */

enum found {
	FREE_OF_IT, /* the queue has no tasks of the kind, or nothing of it any more */
	IN_USE,
	UNFINISHED, /* what is to be cleared: there is more */
};

static enum found look_in_queue(struct tqi_tx *tx, struct tqi_unused *u)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, u->queue);
	const uint32_t s = tqi_stream_find(tx, queue, u->at);
	const struct tqi_stream *stream = s ? tqi_stream_at(tx, s) : NULL;

	if (!stream)
		return FREE_OF_IT;
	if (queue->flags & TQI_QUEUE_MOVING) /* classes of an earlier era are there still */
		return IN_USE;
	if (!tqi_stream_is_empty(stream)) {
		u->rests = u->rests || is_resting(stream);
		return IN_USE;
	}
	if (!u->drops)
		return FREE_OF_IT;
	if (!tqi_class_clear(tx, queue, u->at) || tqi_tx_is_filling(tx))
		return UNFINISHED;
	tqi_stream_drop(tx, s);
	return FREE_OF_IT;
}

/* Through the queues, as far as a hold goes: what the last one said. */
static enum found look_in_queues(struct tqi_tx *tx, struct tqi_unused *u, uint32_t *looks)
{
	const uint32_t count = tx->core->tables[TQI_QUEUES].count;

	for (; u->queue < count && !tx->corrupt; u->queue++, ++*looks) {
		const enum found found = *looks >= LOOKS_SLICE ? UNFINISHED : look_in_queue(tx, u);

		if (found != FREE_OF_IT)
			return found;
	}
	return FREE_OF_IT;
}

static enum found look_for_kind(struct tqi_tx *tx, struct tqi_unused *u, uint32_t *looks)
{
	const struct tqi_kind *kind = tqi_kind_at(tx, u->at);

	++*looks;
	if (!kind->name[0] || kind->users || tqi_kind_has_defaults(kind))
		return IN_USE;
	u->queue = u->queue ? u->queue : 1;
	enum found found = kind->streams ? look_in_queues(tx, u, looks) : FREE_OF_IT;

	if (found != FREE_OF_IT || !kind->streams)
		return found;
	if (u->drops) /* others have come meanwhile, behind */
		return IN_USE;
	u->drops = true;
	u->queue = 1;
	return look_in_queues(tx, u, looks);
}

enum tqi_unused_step tqi_kind_unused(struct tqi_tx *tx, struct tqi_unused *u)
{
	const uint32_t count = begin(tx, u, TQI_KINDS, tqi_root(tx)->kinds_at);

	for (uint32_t looks = 0; u->left && !tx->corrupt; next(u, count)) {
		const enum found found = looks >= LOOKS_SLICE ? UNFINISHED
							      : look_for_kind(tx, u, &looks);

		if (found == UNFINISHED)
			return TQI_UNUSED_MORE;
		if (found == IN_USE || tqi_kind_at(tx, u->at)->streams)
			continue;
		tqi_name_drop(tx, TQI_KINDS, u->at);
		TQI_SET(tx, tqi_root(tx)->kinds_at, u->at + 1);
		return TQI_UNUSED_GIVEN;
	}
	return TQI_UNUSED_NONE;
}
