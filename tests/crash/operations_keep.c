/* SPDX-License-Identifier: MIT */
/* Keepers' looks; and the segment as a whole: checked, closed, destroyed. */
#include "client/core/sleeper.h"
#include "scheduler/task/steer.h"
#include "scheduler/wake/wake.h"
#include "tests/crash/operations.h"

/* Under the lock, changing nothing. */
void tqt_run_check(struct tqt_world *w)
{
	w->result = tq_check(w->tq, TQ_CHECK_EXACT, NULL, NULL);
}

/* What tq_close() does to a segment: one hold, for a wait slot left over. */
void tqt_run_close(struct tqt_world *w)
{
	struct tqi_tx tx;

	w->result = tqi_hold_begin(w->tq, &tx);
	if (w->result == 0)
		w->result = tqi_hold_end(w->tq, &tx, 0);
}

/* What tq_destroy() does before the unlink (client/operate/segment_api.c). */
void tqt_run_destroy(struct tqt_world *w)
{
	struct tqi_tx tx;
	bool more = true;

	tqi_store_release32(&tqi_segment_header(&w->tq->seg)->destroyed, 1);
	while (more && tqi_hold_force(w->tq, &tx) == 0) {
		tqi_steer_destroy(&tx);
		more = tqi_wake_all(&tx);
		if (tqi_hold_end(w->tq, &tx, 0) < 0)
			break;
	}
}

static void keep(struct tqt_world *w, uint64_t later_ns)
{
	tqt_elapse(w, later_ns);
	tqi_keep(w->tq);
}

void tqt_run_keep_idle(struct tqt_world *w)
{
	keep(w, 0);
}

void tqt_run_keep_dead(struct tqt_world *w)
{
	keep(w, 0);
}

void tqt_run_keep_lease(struct tqt_world *w)
{
	keep(w, 0);
}

void tqt_run_keep_due(struct tqt_world *w)
{
	keep(w, 200 * TQT_SECOND_NS);
}

void tqt_run_keep_sweep(struct tqt_world *w)
{
	keep(w, 0);
}

void tqt_run_keep_cancel(struct tqt_world *w)
{
	keep(w, 0);
}

void tqt_run_keep_retire(struct tqt_world *w)
{
	keep(w, TQT_LONG_NS); /* more than the retention of an hour */
}

void tqt_run_keep_bury(struct tqt_world *w)
{
	keep(w, 0);
}

void tqt_run_keep_bury_waiting(struct tqt_world *w)
{
	keep(w, 0);
}

void tqt_run_keep_punch(struct tqt_world *w)
{
	keep(w, 0);
}
