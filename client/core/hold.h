/* SPDX-License-Identifier: MIT */
/*
 * The bodies of tqi_hold_begin(), tqi_hold_commit() and tqi_hold_end() (client/core/handle.h),
 * for the three functions that each task goes through: in these they are inline.
 */
#ifndef TQI_CLIENT_CORE_HOLD_H
#define TQI_CLIENT_CORE_HOLD_H

#include <errno.h>

#include "client/core/handle.h"
#include "client/core/probes.h"
#include "client/core/removal.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/time/wall.h"
#include "scheduler/worker/keepers.h"

/* What few holds meet; on an error the lock is given back. */
int tqi_hold_begin_rarely(struct tq *tq, struct tqi_tx *tx, struct tqi_self *self);

/* Also in a segment that is lost. */
TQI_TWICE int tqi_hold_force_inline(struct tq *tq, struct tqi_tx *tx)
{
	struct tqi_self *self = tqi_self(tq);

	if (!self)
		return -ENOMEM;
	int r = tqi_lock(&tq->seg, &self->thread, tq->lock_timeout_ns);

	if (r < 0)
		return r;
	/* After the lock: time does not go back from one hold to the next. */
	tqi_tx_attach(tx, &tq->seg, &tq->seen);
	tqi_tx_begin_first(tx, tqi_now(tq));
	if (__builtin_expect(tqi_wall_is_needed(tqi_root(tx)) || self->orphan ||
				     (tqi_root(tx)->flags & TQI_ROOT_REPAIR),
			     0))
		return tqi_hold_begin_rarely(tq, tx, self);
	return 0;
}

TQI_TWICE int tqi_hold_begin_inline(struct tq *tq, struct tqi_tx *tx)
{
	if (__builtin_expect(tq->seg.readonly, 0))
		return -EROFS;
	const uint32_t lost = tqi_load_acquire32(&tqi_segment_header(&tq->seg)->destroyed);

	return __builtin_expect(lost != 0, 0) ? tqi_loss(lost) : tqi_hold_force_inline(tq, tx);
}

/* What the hold has committed, in one transaction or several, is told before others go on. */
static inline void tqi_hold_leave(struct tq *tq, struct tqi_tx *tx)
{
	tqi_probes_fire(tx);
	tqi_unlock(&tq->seg);
}

TQI_TWICE int tqi_hold_commit_inline(struct tq *tq, struct tqi_tx *tx, int r)
{
	if (tqi_wake_keepers_must(tx) && !tx->corrupt)
		tqi_wake_keepers(tx);
	if (tx->corrupt)
		tqi_tx_abort(tx);
	else
		tqi_tx_commit(tx);
	tqi_hold_leave(tq, tx);
	return tx->corrupt ? TQ_ECORRUPT : r;
}

TQI_TWICE int tqi_hold_end_inline(struct tq *tq, struct tqi_tx *tx, int r)
{
	/* What has just become urgent is to show, and to start, before what comes next. */
	if (r >= 0 && tqi_inherit_pending(tx) && !tqi_tx_is_filling(tx))
		tqi_inherit_slice(tx);
	if (r >= 0 || tx->corrupt)
		return tqi_hold_commit_inline(tq, tx, r);
	tqi_tx_abort(tx);
	tqi_hold_leave(tq, tx);
	return r;
}

#endif
