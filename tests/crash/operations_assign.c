/* SPDX-License-Identifier: MIT */
/* Tasks that workers take beforehand, and steal. */
#include "client/core/sleeper.h"
#include "tests/crash/operations.h"

static void set_batch(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .batch = 4 };

	tqt_must(tq_queue_set(w->other, "default", &opts), "batch");
}

/* A queue with a batch, and five to take from it. */
void tqt_prepare_batch(struct tqt_world *w)
{
	tqt_serve(w, 0);
	set_batch(w);
	for (int i = 0; i < 5; i++)
		w->ids[w->id_count++] = tqt_submit_plain(w);
}

/* Ours has claimed one of them, and taken three. */
void tqt_prepare_assigned(struct tqt_world *w)
{
	tqt_prepare_batch(w);
	w->id_count = 0;
	tqt_claim(w);
	w->ids[w->id_count++] = w->ids[0] + 1; /* the next record, of the same generation */
}

/* Another worker has claimed one, and taken what ours could steal. */
void tqt_prepare_steal(struct tqt_world *w)
{
	tqt_serve(w, 0);
	set_batch(w);
	for (int i = 0; i < 4; i++)
		tqt_submit_plain(w);
	tqt_foreign_worker(w, TQT_PID_OTHER, 1, false);
}

/* It has died since. */
void tqt_prepare_assigned_dead(struct tqt_world *w)
{
	tqt_serve(w, 0);
	set_batch(w);
	for (int i = 0; i < 4; i++)
		tqt_submit_plain(w);
	tqt_worker_dies(w, tqt_foreign_worker(w, TQT_PID_DEAD, 1, false));
}

void tqt_run_claim_batch(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_assigned(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_steal(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_cancel_assigned(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[1], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_hold_assigned(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[1], TQ_TASK_ACTION_HOLD);
}

void tqt_run_close_assigned(struct tqt_world *w)
{
	w->worker = tq_worker_close(w->worker);
}

void tqt_run_keep_assigned(struct tqt_world *w)
{
	tqi_keep(w->tq);
}
