/* SPDX-License-Identifier: MIT */
/* Holds, and making room when one finds none. */
#include "client/core/hold.h"

#include <errno.h>

#include "client/core/sleeper.h"
#include "scheduler/graph/edge.h"
#include "scheduler/order/unused.h"
#include "scheduler/task/look.h"
#include "scheduler/worker/sleep.h"
#include "scheduler/task/sweep.h"
#include "scheduler/task/task.h"
#include "shm/extent.h"
#include "shm/pool.h"

#define GROWTH_LOOK_NS 500000ull /* 0.5 ms: a fallocate() of 1 MiB takes about 0.1 */
#define EVICT_SLICE 16	 /* records freed in one hold: journal space */
#define EDGES_SLICE 8	 /* the same */
#define EVICT_HOLDS 64	 /* between two searches for a name: 1,024 records */
#define ROOM_TRIES 10000 /* bounds the loop of tqi_run(): each try frees or adds something */

static void leave_orphan(struct tqi_tx *tx, struct tqi_self *self)
{
	uint32_t waiter = self->orphan;

	self->orphan = 0;
	while (!tqi_edge_drop(tx, waiter, EDGES_SLICE) && !tx->corrupt)
		tqi_step(tx);
	tqi_step(tx);
	tqi_sleep_leave(tx, waiter);
	tqi_wake_any(tx);
	tqi_step(tx);
}

/* In this order. */
int tqi_hold_begin_rarely(struct tq *tq, struct tqi_tx *tx, struct tqi_self *self)
{
	if (tqi_wall_is_needed(tqi_root(tx)))
		tx->wall_ns = tqi_wall(tq);
	if (tqi_root(tx)->flags & TQI_ROOT_REPAIR) {
		tqi_tx_abort(tx);
		tqi_unlock(&tq->seg);
		return TQ_ECORRUPT; /* a repair was killed: it must be run again */
	}
	if (self->orphan)
		leave_orphan(tx, self);
	return 0;
}

int tqi_hold_begin(struct tq *tq, struct tqi_tx *tx)
{
	return tqi_hold_begin_inline(tq, tx);
}

int tqi_hold_force(struct tq *tq, struct tqi_tx *tx)
{
	return tq->seg.readonly ? -EROFS : tqi_hold_force_inline(tq, tx);
}

int tqi_hold_commit(struct tq *tq, struct tqi_tx *tx, int r)
{
	return tqi_hold_commit_inline(tq, tx, r);
}

int tqi_hold_end(struct tq *tq, struct tqi_tx *tx, int r)
{
	return tqi_hold_end_inline(tq, tx, r);
}

/* Entries in flight of the dead: what they hold is room. */
static bool undo_dead(struct tq *tq)
{
	bool undone = false;

	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++) {
		struct tqi_inflight entry;
		struct tqi_tx tx;

		if (tqi_hold_begin(tq, &tx) < 0)
			break;
		bool used = tqi_inflight_peek(&tx, i, &entry);

		if (tqi_hold_end(tq, &tx, 0) < 0)
			break;
		if (!used || !tq->seg.ops->process_gone(tq->seg.ops->ctx, &entry.owner))
			continue;
		if (tqi_hold_begin(tq, &tx) < 0)
			break;
		tqi_inflight_undo(&tx, i, &entry);
		undone = tqi_hold_end(tq, &tx, 0) == 0 || undone;
	}
	return undone;
}

/* Finished records, or ones that a sweep is about to finish. */
static int evict(struct tq *tq)
{
	struct tqi_tx tx;
	int r = tqi_hold_begin(tq, &tx);

	if (r < 0)
		return r;
	bool some = tqi_task_evict(&tx, EVICT_SLICE) > 0;

	if (!some && tqi_sweep_pending(&tx)) {
		tqi_sweep_slice(&tx);
		some = true;
	}
	r = tqi_hold_end(tq, &tx, 0);
	return r < 0 ? r : some ? 0 : TQ_EFULL;
}

void tqi_sweep_out(struct tq *tq)
{
	bool pending = true;

	while (pending) {
		struct tqi_tx tx;

		if (tqi_hold_begin(tq, &tx) < 0)
			return;
		pending = tqi_sweep_slice(&tx);
		if (tqi_hold_end(tq, &tx, 0) < 0)
			return;
	}
}

/* Memory for `extents` more; TQ_EFULL when the segment is as large as it may get. */
static int grow(struct tq *tq, uint32_t extents)
{
	const struct tqi_ident self = tqi_ident_self(tq);
	struct tqi_tx tx;
	uint32_t first;
	int r = tqi_hold_begin(tq, &tx);

	if (r < 0)
		return r;
	uint64_t token = tqi_extent_grow_begin(&tx, extents, &self, &first);
	int none = token == 0 && tqi_extent_is_moving(&tx) ? -EBUSY : TQ_EFULL;

	r = tqi_hold_end(tq, &tx, token ? 0 : none);
	if (r < 0)
		return r;
	int reserved = tqi_extent_reserve(&tq->seg, first, extents);

	r = tqi_hold_begin(tq, &tx);
	if (r < 0)
		return r;
	tqi_extent_grow_end(&tx, token, reserved == 0);
	r = tqi_hold_end(tq, &tx, 0);
	return r < 0 ? r : reserved;
}

/* Others are about to bring memory: they get as much time as the lock would. */
static int await_growth(struct tq *tq)
{
	struct tqi_word32 never = { 0 };
	const struct tqi_futex word = { &never, 0 };
	uint64_t deadline = tqi_deadline(tq, tq->lock_timeout_ns);

	for (;;) {
		struct tqi_tx tx;
		int r = tqi_hold_begin(tq, &tx);

		if (r < 0)
			return r;
		bool moving = tqi_extent_is_moving(&tx);

		r = tqi_hold_end(tq, &tx, 0);
		if (r < 0 || !moving)
			return r;
		if (tqi_now(tq) >= deadline)
			return TQ_EFULL;
		tq->seg.ops->futex_wait(tq->seg.ops->ctx, &word, 1, tqi_now(tq) + GROWTH_LOOK_NS);
	}
}

int tqi_make_room(struct tq *tq, uint64_t bytes)
{
	/* One more extent, so that a run of spans fits across the first one's start. */
	uint32_t extents = (uint32_t)(bytes >> TQI_EXTENT_SHIFT) + 1;
	int grown = grow(tq, extents);

	if (grown == -EBUSY)
		grown = undo_dead(tq) ? 0 : await_growth(tq);
	if (grown != TQ_EFULL && grown != -ENOSPC)
		return grown;
	int r = evict(tq);

	if (r == TQ_EFULL && (undo_dead(tq) || tqi_bury_owners(tq)))
		r = 0;
	return r == TQ_EFULL ? grown : r;
}

/* One slice of the search for a name that nobody needs (UN-2), in a hold of its own. */
static int search_unused(struct tq *tq, int lacking, struct tqi_unused *search)
{
	struct tqi_tx tx;
	int r = tqi_hold_begin(tq, &tx);

	if (r < 0)
		return r;
	const enum tqi_unused_step step = lacking == TQ_EQUEUES ? tqi_queue_unused(&tx, search)
								: tqi_kind_unused(&tx, search);

	return tqi_hold_end(tq, &tx, (int)step);
}

/* Finished records make room for names, too: a part of the oldest.  False: there are none. */
static bool evict_some(struct tq *tq)
{
	bool some = false;

	for (int i = 0; i < EVICT_HOLDS && evict(tq) == 0; i++)
		some = true;
	return some;
}

/* 0 there is a place for one more; else what was lacking, or an error. */
static int make_name_room(struct tq *tq, int lacking)
{
	struct tqi_unused search = { .at = 0 };

	for (;;) {
		const int r = search_unused(tq, lacking, &search);

		if (r < 0 || r == TQI_UNUSED_GIVEN)
			return r < 0 ? r : 0;
		if (r == TQI_UNUSED_MORE)
			continue;
		if (!search.rests || !evict_some(tq))
			return lacking;
		search = (struct tqi_unused){ .at = 0 };
	}
}

int tqi_make_up(struct tq *tq, int lacking)
{
	return lacking == -ENOMEM ? tqi_make_room(tq, 0) : make_name_room(tq, lacking);
}

bool tqi_hold_lacked(struct tq *tq, struct tqi_tx *tx, uint32_t *tries)
{
	if (tx->corrupt || *tries >= TQI_ROOM_TRIES)
		return false;
	tqi_tx_abort(tx);
	tqi_hold_leave(tq, tx);
	*tries = tqi_make_room(tq, 0) < 0 ? TQI_ROOM_TRIES : *tries + 1;
	return true;
}

int tqi_run(struct tq *tq, tqi_operation *op, void *arg)
{
	for (int i = 0; i < ROOM_TRIES; i++) {
		struct tqi_tx tx;
		int r = tqi_hold_begin(tq, &tx);

		if (r < 0)
			return r;
		tqi_tend(&tx);
		r = tqi_hold_end(tq, &tx, op(&tx, arg));
		if (!tqi_is_lacking(r))
			return r;
		r = tqi_make_up(tq, r);
		if (r < 0)
			return r;
	}
	return TQ_EFULL;
}

struct block_request {
	uint64_t bytes;
	enum tqi_spares spares;
	struct tqi_ident owner;
	uint64_t token;
	uint32_t block;
};

static int take_block(struct tqi_tx *tx, void *arg)
{
	struct block_request *request = arg;

	tx->spares = (uint8_t)request->spares;
	request->block = tqi_block_take(tx, request->bytes);
	if (!request->block)
		return -ENOMEM;
	request->token =
		tqi_inflight_take(tx, TQI_INFLIGHT_BLOCK, request->block, 1, &request->owner);
	return request->token ? 0 : -EBUSY;
}

int tqi_block_begin(struct tq *tq, uint64_t bytes, enum tqi_spares spares, uint64_t *ret_token,
		    void **ret_block)
{
	struct block_request request = {
		.bytes = bytes,
		.spares = spares,
		.owner = tqi_ident_self(tq),
	};

	for (int i = 0; i < ROOM_TRIES; i++) {
		struct tqi_tx tx;
		int r = tqi_hold_begin(tq, &tx);

		if (r < 0)
			return r;
		r = tqi_hold_end(tq, &tx, take_block(&tx, &request));
		if (r == 0) {
			*ret_token = request.token;
			*ret_block = tq->seg.base + ((uint64_t)request.block << TQI_UNIT_SHIFT);
			return 0;
		}
		/* -EBUSY: the table is full, of the dead, or of 64 large submits at once. */
		if (r == -EBUSY)
			r = undo_dead(tq) ? 0 : TQ_EFULL;
		else if (r == -ENOMEM)
			r = tqi_make_room(tq, bytes);
		if (r < 0)
			return r;
	}
	return TQ_EFULL;
}

void tqi_block_cancel(struct tq *tq, uint64_t token)
{
	struct tqi_tx tx;

	if (!token || tqi_hold_begin(tq, &tx) < 0)
		return;
	struct tqi_inflight *entry = tqi_inflight_get(&tx, token);

	if (entry) {
		tqi_block_give(&tx, entry->first);
		tqi_inflight_drop(&tx, entry);
	}
	(void)tqi_hold_end(tq, &tx, 0); /* on failure the entry goes with this process */
}
