/* SPDX-License-Identifier: MIT */
/*
 * Checking a segment: a private copy of it, so that nobody is disturbed; or, on
 * request, the segment itself under the lock.  Repairing it, under the lock.
 */
#include <errno.h>
#include <sys/mman.h>

#include "client/core/handle.h"
#include "client/observe/snapshot.h"
#include "scheduler/check/check.h"
#include "scheduler/rebuild/rebuild.h"
#include "shm/extent.h"
#include "shm/plant.h"

#define COPY_TRIES 20	     /* a busy segment changes while it is copied */
#define COPY_BYTES (1u << 16) /* of one pread */

static int copy_range(const struct tqi_segment *seg, unsigned char *to, uint64_t from, uint64_t end)
{
	int r = 0;

	for (uint64_t at = from; at < end && r == 0; at += COPY_BYTES) {
		uint64_t bytes = end - at < COPY_BYTES ? end - at : COPY_BYTES;

		r = tqi_peek(seg, at, to + at, bytes);
	}
	return r;
}

/* The fixed part, then the extents that have memory; the others read as zero, untouched. */
static int copy_segment(const struct tqi_segment *seg, unsigned char *to)
{
	const struct tqi_geometry *g = &seg->geometry;
	int r = copy_range(seg, to, 0, g->fixed_bytes);
	uint32_t e = (uint32_t)(g->fixed_bytes >> TQI_EXTENT_SHIFT);

	for (; e < g->extent_count && r == 0; e++) {
		uint64_t from = (uint64_t)e << TQI_EXTENT_SHIFT;

		if (to[g->extents + e] == TQI_EXTENT_HERE)
			r = copy_range(seg, to, from, from + TQI_EXTENT_BYTES);
	}
	return r;
}

/*
 * Nothing was stored meanwhile that the copy's journal does not undo: it is copied
 * first, and only grows inside a transaction.
 */
static bool is_stable(const struct tqi_core *before, const struct tqi_core *after)
{
	return tqi_load_relaxed64(&before->version) == tqi_load_relaxed64(&after->version) &&
	       before->undo == after->undo;
}

/*
 * 0 with a copy of one committed state.  A version that stays odd is a writer that
 * stopped or died inside a change: its journal is applied to the copy.
 */
static int copy_stable(const struct tqi_segment *seg, struct tqi_segment *copy)
{
	for (int i = 0; i < COPY_TRIES; i++) {
		struct tqi_core before, after;
		int r = tqi_peek_core(seg, &before);

		if (r == 0)
			r = copy_segment(seg, copy->base);
		if (r == 0)
			r = tqi_peek_core(seg, &after);
		if (r < 0)
			return r;
		if (!is_stable(&before, &after))
			continue;
		if (tqi_load_relaxed64(&before.version) & 1)
			(void)tqi_tx_rollback(copy); /* damaged: the check says so */
		return 0;
	}
	return -EAGAIN;
}

static int check_copy(struct tq *tq, void *scratch, tqi_check_finding *finding, void *arg)
{
	struct tqi_segment copy = tq->seg;
	struct tqi_tx tx;

	copy.base = tqi_map_private(copy.geometry.max_bytes);
	if (!copy.base)
		return -ENOMEM;
	int r = copy_stable(&tq->seg, &copy);

	if (r == 0) {
		tqi_tx_view(&tx, &copy);
		r = (int)tqi_check(&tx, scratch, finding, arg);
	}
	munmap(copy.base, copy.geometry.max_bytes);
	return r;
}

static int check_live(struct tq *tq, void *scratch, tqi_check_finding *finding, void *arg)
{
	struct tqi_tx tx, look;
	int r = tqi_hold_begin(tq, &tx);

	if (r < 0)
		return r;
	tqi_tx_view(&look, &tq->seg);
	int faults = (int)tqi_check(&look, scratch, finding, arg);

	r = tqi_hold_end(tq, &tx, 0);
	return r < 0 ? r : faults;
}

/* One extent more, inside the hold: nothing else moves until the repair is through. */
static int grow(struct tq *tq, struct tqi_tx *tx)
{
	const struct tqi_ident self = tqi_ident_self(tq);
	uint32_t first;
	uint64_t token = tqi_extent_grow_begin(tx, 1, &self, &first);
	int r = token ? tqi_extent_reserve(&tq->seg, first, 1) : TQ_EFULL;

	if (token)
		tqi_extent_grow_end(tx, token, r == 0);
	tqi_tx_commit(tx);
	tqi_tx_begin(tx, tx->now_ns);
	return r;
}

/* Killed from here on, it leaves a segment that refuses everybody but another repair. */
static void forget_journal(const struct tqi_segment *seg)
{
	struct tqi_root *root = tqi_segment_root(seg);

	if (!tqi_segment_core(seg)->undo)
		return;
	if (!TQI_PLANTED(unmarked_journal))
		*(volatile uint32_t *)&root->flags = root->flags | TQI_ROOT_REPAIR;
	tqi_compiler_barrier();
	tqi_tx_forget(seg);
}

static int rebuild(struct tq *tq, struct tqi_tx *tx, void *scratch, uint64_t bytes)
{
	for (;;) {
		madvise(scratch, bytes, MADV_DONTNEED); /* zero again */
		int r = tqi_rebuild(tx, scratch);

		if (r == -ENOMEM)
			r = grow(tq, tx);
		else if (r == 0)
			return 0;
		if (r < 0)
			return r;
	}
}

/* Not tqi_hold_begin(): it refuses a segment whose repair was begun and never ended. */
static int repair(struct tq *tq, void *scratch, uint64_t bytes, tqi_check_finding *finding,
		  void *arg)
{
	struct tqi_tx tx, look;

	if (tq->seg.readonly)
		return -EROFS;
	const struct tqi_self *self = tqi_self(tq);
	int r = self ? tqi_lock_damaged(&tq->seg, &self->thread, tq->lock_timeout_ns) : -ENOMEM;

	if (r < 0)
		return r;
	tqi_tx_view(&look, &tq->seg);
	int faults = (int)tqi_check(&look, scratch, finding, arg);

	if (faults) {
		forget_journal(&tq->seg);
		tqi_tx_view(&tx, &tq->seg);
		tqi_tx_begin(&tx, tqi_now(tq));
		r = rebuild(tq, &tx, scratch, bytes);
		tqi_tx_commit(&tx);
	}
	tqi_unlock(&tq->seg);
	return r < 0 ? r : faults;
}

int tq_check(struct tq *tq, uint32_t flags, tq_check_report *report, void *arg)
{
	if (!tq)
		return -EINVAL;
	if (flags & ~(TQ_CHECK_EXACT | TQ_CHECK_REPAIR))
		return -EINVAL;
	uint64_t bytes = tqi_check_scratch_bytes(&tq->seg.geometry);
	void *scratch = tqi_map_private(bytes);

	if (!scratch)
		return -ENOMEM;
	int r = -EAGAIN;

	if (flags & TQ_CHECK_REPAIR)
		r = repair(tq, scratch, bytes, report, arg);
	else if (!(flags & TQ_CHECK_EXACT))
		r = check_copy(tq, scratch, report, arg);
	if (r == -EAGAIN && !(tq->seg.readonly && !(flags & TQ_CHECK_EXACT)))
		r = check_live(tq, scratch, report, arg);
	munmap(scratch, bytes);
	return r;
}
