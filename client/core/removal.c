/* SPDX-License-Identifier: MIT */
/* Segments without a name: seen, marked, told. */
#include "client/core/removal.h"

#include "scheduler/task/steer.h"
#include "scheduler/wake/wake.h"

#define LOOK_NS 100000000ull /* 100 ms: a look is a system call */

int tqi_loss(uint32_t destroyed)
{
	return destroyed == TQI_LOST_REMOVED ? TQ_EREMOVED : TQ_ESHUTDOWN;
}

static void wake_everybody(struct tq *tq)
{
	struct tqi_tx tx;
	bool more = true;

	while (more && tqi_hold_force(tq, &tx) == 0) {
		tqi_steer_destroy(&tx);
		more = tqi_wake_all(&tx);
		if (tqi_hold_end(tq, &tx, 0) < 0)
			break;
	}
}

void tqi_dismiss(struct tq *tq, uint32_t why)
{
	tqi_cas_acq_rel32(&tqi_segment_header(&tq->seg)->destroyed, 0, why);
	wake_everybody(tq);
}

int tqi_removal_look(struct tq *tq)
{
	const struct tqi_ops *ops = tq->seg.ops;

	tqi_store_relaxed64(&tq->removal_look_ns, tqi_now(tq) + LOOK_NS);
	if (!ops->is_unlinked(ops->ctx, tq->seg.fd))
		return 0;
	tqi_dismiss(tq, TQI_LOST_REMOVED); /* unless it was destroyed */
	return tqi_loss(tqi_load_acquire32(&tqi_segment_header(&tq->seg)->destroyed));
}
