/* SPDX-License-Identifier: MIT */
/* Clients that wait for tasks. */
#include "tests/crash/operations.h"

static void complete_all(struct tqt_world *w)
{
	for (uint32_t i = 0; i < w->claim_count; i++)
		tqt_must(tq_complete(w->worker, &w->claims[i], NULL, 0), "complete meanwhile");
}

void tqt_run_wait(struct tqt_world *w)
{
	tqt_meanwhile(w, complete_all);
	w->result = tq_wait(w->tq, w->ids[0], TQT_LONG_NS, NULL);
}

void tqt_run_wait_timeout(struct tqt_world *w)
{
	w->result = tq_wait(w->tq, w->ids[0], TQT_SECOND_NS, NULL);
}

void tqt_run_wait_many(struct tqt_world *w)
{
	tqt_meanwhile(w, complete_all);
	w->result = tq_wait_many(w->tq, w->ids, w->id_count, TQ_WAIT_ALL, TQT_LONG_NS, NULL);
}

void tqt_run_wait_state(struct tqt_world *w)
{
	w->result = tq_wait_state(w->tq, w->ids[0], 1u << TQ_RUNNING, TQT_SECOND_NS, NULL);
}
