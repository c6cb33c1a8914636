/* SPDX-License-Identifier: MIT */
/* The operations of the sweep on tasks that depend on others, and their preparations. */
#include "client/core/sleeper.h"
#include "tests/crash/operations.h"

#define MANY 40 /* dependants: more than are told in one hold */

static struct tq_task_spec spec_of(const struct tq_dependency *after, uint32_t count)
{
	return (struct tq_task_spec){ .size = sizeof(struct tq_task_spec),
				      .kind = "k",
				      .payload = "payload",
				      .payload_bytes = 7,
				      .priority = 2000, /* before all others */
				      .after = after,
				      .after_count = count };
}

static uint64_t depend(struct tqt_world *w, uint64_t on, uint32_t kind, uint32_t flags)
{
	const struct tq_dependency after = { .id = on, .kind = kind };
	struct tq_task_spec spec = spec_of(&after, 1);

	spec.flags = flags;
	return tqt_submit(w, &spec);
}

static uint64_t alone(struct tqt_world *w)
{
	const struct tq_task_spec spec = spec_of(NULL, 0);

	return tqt_submit(w, &spec);
}

/* One that runs. */
static void prepare_parent(struct tqt_world *w)
{
	tqt_serve(w, 0);
	alone(w);
	tqt_claim(w);
}

/* A task that is done, one that failed and two that wait: whom new ones come after. */
void tqt_prepare_parents(struct tqt_world *w)
{
	prepare_parent(w);
	tqt_must(tq_complete(w->worker, w->claims, NULL, 0), "complete");
	w->claim_count = 0;
	alone(w);
	tqt_claim(w);
	tqt_must(tq_fail(w->worker, &w->claims[0], 1, NULL), "fail");
	w->claim_count = 0;
	for (int i = 0; i < 2; i++)
		w->ids[w->id_count++] = alone(w);
}

/* It runs, with dependants of each kind, and one that depends on these. */
void tqt_prepare_family(struct tqt_world *w)
{
	prepare_parent(w);
	for (uint32_t kind = TQ_AFTER_OK; kind <= TQ_AFTER_FAIL; kind++)
		w->ids[w->id_count++] = depend(w, w->ids[0], kind, 0);
	depend(w, w->ids[1], TQ_AFTER_OK, TQ_TASK_FORGET);
}

void tqt_prepare_offspring(struct tqt_world *w)
{
	prepare_parent(w);
	for (uint32_t i = 0; i < MANY; i++)
		depend(w, w->ids[0], i % 2 ? TQ_AFTER_OK : TQ_AFTER_FAIL, 0);
}

/* It has failed, and nobody has told more than the first of its dependants. */
void tqt_prepare_untold(struct tqt_world *w)
{
	tqt_prepare_offspring(w);
	tqt_must(tq_fail(w->worker, w->claims, 1, NULL), "fail");
}

static void tell_all(struct tqt_world *w)
{
	tqi_sweep_out(w->tq);
}

/* It has failed, and with it a chain. */
void tqt_prepare_fallen(struct tqt_world *w)
{
	uint64_t last;

	prepare_parent(w);
	last = w->ids[0];
	for (uint32_t i = 0; i < 4; i++)
		last = depend(w, last, TQ_AFTER_OK, 0);
	w->ids[w->id_count++] = last;
	tqt_must(tq_fail(w->worker, w->claims, 1, NULL), "fail");
	tell_all(w);
}

/* It came after two that failed, of which the one that did not refuse it lives again. */
void tqt_prepare_refused(struct tqt_world *w)
{
	struct tq_dependency after[2] = { { 0 } };
	const struct tq_task_spec spec = spec_of(after, 2);

	prepare_parent(w);
	after[0].id = w->ids[0];
	after[1].id = alone(w);
	const uint64_t id = tqt_submit(w, &spec);

	for (uint32_t i = 0; i < 2; i++) {
		tqt_must(tq_fail(w->worker, w->claims, 1, "text"), "fail");
		tell_all(w);
		w->claim_count = 0;
		if (i == 0)
			tqt_claim(w);
	}
	tqt_must(tq_task_steer(w->tq, after[1].id, TQ_TASK_ACTION_RETRY), "retry");
	w->id_count = 0;
	w->ids[w->id_count++] = id;
}

/* One that runs after many. */
void tqt_prepare_heir(struct tqt_world *w)
{
	struct tq_dependency after[MANY];
	const struct tq_task_spec spec = spec_of(after, MANY);

	tqt_serve(w, 0);
	for (uint32_t i = 0; i < MANY; i++)
		after[i] = (struct tq_dependency){ .id = alone(w) };
	const uint64_t heir = tqt_submit(w, &spec);

	for (uint32_t i = 0; i < MANY; i++) {
		tqt_claim(w);
		w->claim_count = w->id_count = 0;
		tqt_must(tq_complete(w->worker, &w->claims[0], NULL, 0), "complete");
	}
	tell_all(w);
	tqt_claim(w);
	w->ids[0] = heir;
}

static void submit(struct tqt_world *w, const struct tq_dependency *after, uint32_t count)
{
	const struct tq_task_spec spec = spec_of(after, count);
	uint64_t id;

	w->result = tq_submit(w->tq, &spec, &id);
}

static void submit_one(struct tqt_world *w, uint32_t which, uint32_t kind)
{
	submit(w, &(struct tq_dependency){ .id = w->ids[which], .kind = kind }, 1);
}

void tqt_run_submit_after(struct tqt_world *w)
{
	submit_one(w, 2, TQ_AFTER_OK);
}

void tqt_run_submit_after_done(struct tqt_world *w)
{
	submit_one(w, 0, TQ_AFTER_ANY);
}

void tqt_run_submit_refused(struct tqt_world *w)
{
	submit_one(w, 1, TQ_AFTER_OK);
}

void tqt_run_submit_after_many(struct tqt_world *w)
{
	submit(w,
	       (struct tq_dependency[]){ { .id = w->ids[2] },
					 { .id = w->ids[1], .kind = TQ_AFTER_FAIL },
					 { .id = w->ids[0] },
					 { .id = w->ids[2] } },
	       4);
}

void tqt_run_complete_parent(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_fail_parent(struct tqt_world *w)
{
	w->result = tq_fail(w->worker, w->claims, 1, "text");
}

void tqt_run_complete_offspring(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_complete_heir(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_keep_telling(struct tqt_world *w)
{
	tqi_keep(w->tq);
}

void tqt_run_after(struct tqt_world *w)
{
	w->result = tq_task_after(w->tq, w->ids[3], w->ids[2], TQ_AFTER_OK);
}

void tqt_run_after_refused(struct tqt_world *w)
{
	w->result = tq_task_after(w->tq, w->ids[2], w->ids[1], TQ_AFTER_OK);
}

void tqt_run_cancel_dependants(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL_DEPENDANTS);
}

void tqt_run_cancel_doomed(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[1], TQ_TASK_ACTION_CANCEL_DEPENDANTS);
}

void tqt_run_retry_dependants(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_RETRY_DEPENDANTS);
}

void tqt_run_retry_refused(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[1], TQ_TASK_ACTION_RETRY);
}

void tqt_run_retry_reopen(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_RETRY);
}

void tqt_run_forget_refused(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[1], TQ_TASK_ACTION_FORGET);
}
