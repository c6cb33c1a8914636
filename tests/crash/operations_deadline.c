/* SPDX-License-Identifier: MIT */
/* The operations of the sweep on tasks with a deadline, and their preparations. */
#include "tests/crash/operations.h"

#include "client/core/sleeper.h"

#define DEADLINE_NS (50 * TQT_SECOND_NS)

static const struct tq_task_spec dated = { .size = sizeof(dated),
					   .kind = "k",
					   .label = "label",
					   .deadline_ns = DEADLINE_NS,
					   .priority = 2000, /* before all others */
					   .attempts_max = 3 };

static uint64_t submit_dated(struct tqt_world *w, uint64_t delay_ns)
{
	struct tq_task_spec spec = dated;

	spec.delay_ns = delay_ns;
	return tqt_submit(w, &spec);
}

/* More than one slice of what is due takes; delayed ones among them. */
void tqt_prepare_dated(struct tqt_world *w)
{
	for (uint32_t i = 0; i < 10; i++)
		w->ids[w->id_count++] = submit_dated(w, i % 3 ? 0 : 100 * TQT_SECOND_NS);
	if (!w->worker)
		tqt_serve(w, 0);
}

static void claim_dated(struct tqt_world *w)
{
	tqt_serve(w, 0);
	submit_dated(w, 0);
	tqt_claim(w);
}

/* It runs, and its deadline passes; nobody has looked. */
void tqt_prepare_past(struct tqt_world *w)
{
	claim_dated(w);
	tqt_elapse(w, DEADLINE_NS);
}

void tqt_prepare_expired(struct tqt_world *w)
{
	w->ids[w->id_count++] = submit_dated(w, 0);
	tqt_elapse(w, DEADLINE_NS);
	tqi_keep(w->other);
}

void tqt_run_submit_dated(struct tqt_world *w)
{
	uint64_t id;

	w->result = tq_submit(w->tq, &dated, &id);
}

/* Its payload is written before the lock is taken, the deadline under it. */
void tqt_run_submit_dated_large(struct tqt_world *w)
{
	struct tq_task_spec spec = dated;
	uint64_t id;

	spec.payload = tqt_large;
	spec.payload_bytes = TQT_LARGE_BYTES;
	w->result = tq_submit(w->tq, &spec, &id);
}

/* It came in without, and gets another block. */
void tqt_run_update_deadline(struct tqt_world *w)
{
	const struct tq_task_update u = { .size = sizeof(u),
					  .fields = TQ_UPDATE_DEADLINE,
					  .deadline_ns = DEADLINE_NS };

	w->result = tq_task_update(w->tq, w->ids[0], &u);
}

void tqt_run_keep_expire(struct tqt_world *w)
{
	tqt_elapse(w, DEADLINE_NS);
	tqi_keep(w->tq);
}

void tqt_run_keep_late(struct tqt_world *w)
{
	tqi_keep(w->tq);
}

void tqt_run_claim_expired(struct tqt_world *w)
{
	tqt_elapse(w, DEADLINE_NS);
	tqt_run_claim(w);
}

void tqt_run_claim_dated(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_complete_late(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_fail_expired(struct tqt_world *w)
{
	w->result = tq_fail(w->worker, w->claims, 0, "too late for another");
}

void tqt_run_cancel_dated(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_retry_expired(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_RETRY);
}
