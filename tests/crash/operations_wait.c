/* SPDX-License-Identifier: MIT */
/* Clients that wait for tasks. */
#include <errno.h>

#include "tests/crash/operations.h"

static void complete_all(struct tqt_world *w)
{
	for (uint32_t i = 0; i < w->claim_count; i++)
		tqt_must(tq_complete(w->worker, &w->claims[i], NULL, 0), "complete meanwhile");
}

void tqt_run_wait(struct tqt_world *w)
{
	tqt_must(tq_claim_adopt(w->worker, NULL), "adopt"); /* as a client */
	tqt_meanwhile(w, complete_all);
	w->result = tq_wait(w->tq, &w->ids[0], 1, TQT_LONG_NS, NULL, NULL);
}

static void cancel_last(struct tqt_world *w)
{
	tqt_must(tq_task_steer(w->tq, w->ids[w->id_count - 1], TQ_TASK_ACTION_CANCEL),
		 "cancel meanwhile");
}

/* On behalf of the claim, as a third one. */
void tqt_run_wait_behalf(struct tqt_world *w)
{
	tqt_meanwhile(w, cancel_last);
	w->result = tq_wait(w->tq, &w->ids[w->id_count - 1], 1, TQT_LONG_NS, NULL, NULL);
}

void tqt_run_wait_behalf_many(struct tqt_world *w)
{
	tqt_meanwhile(w, cancel_last);
	const struct tq_wait_opts any = { .size = sizeof(any), .flags = TQ_WAIT_ANY };

	w->result = tq_wait(w->tq, w->ids, w->id_count, TQT_LONG_NS, &any, NULL);
}

void tqt_run_wait_cycle(struct tqt_world *w)
{
	w->result = tq_wait(w->tq, &w->ids[0], 1, TQT_LONG_NS, NULL, NULL);
}

/* Read by who works on a claim: it waits, and hears of the end. */
void tqt_run_output_behalf(struct tqt_world *w)
{
	uint64_t offset;
	uint32_t attempt = 0;
	char byte;

	tqt_meanwhile(w, cancel_last);
	int r = tq_output_read(w->tq, w->ids[w->id_count - 1], 0, &byte, 1, TQT_LONG_NS, &offset,
			       &attempt);

	w->result = r == -ENODATA ? 0 : r;
}

void tqt_run_complete_waiting(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_wait_timeout(struct tqt_world *w)
{
	w->result = tq_wait(w->tq, &w->ids[0], 1, TQT_SECOND_NS, NULL, NULL);
}

void tqt_run_wait_many(struct tqt_world *w)
{
	tqt_must(tq_claim_adopt(w->worker, NULL), "adopt");
	tqt_meanwhile(w, complete_all);
	w->result = tq_wait(w->tq, w->ids, w->id_count, TQT_LONG_NS, NULL, NULL);
}

void tqt_run_wait_state(struct tqt_world *w)
{
	const struct tq_wait_opts running = { .size = sizeof(running), .states = 1u << TQ_RUNNING };
	w->result = tq_wait(w->tq, &w->ids[0], 1, TQT_SECOND_NS, &running, NULL);
}
