/* SPDX-License-Identifier: MIT */
/* The operations of the sweep on tasks in runs (scheduler/order/run.h), and their preparations. */
#include "tests/crash/operations.h"

static int submit(struct tqt_world *w, int32_t priority, const char *limit, uint64_t *ret_id)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .priority = priority,
					   .limits = &limit,
					   .limit_count = limit ? 1 : 0 };

	return tq_submit(w->tq, &spec, ret_id);
}

static uint64_t put(struct tqt_world *w, int32_t priority, const char *limit)
{
	uint64_t id;

	tqt_must(submit(w, priority, limit, &id), "submit");
	return id;
}

/* A run of four, and one that is claimed, which was before them; the first two are alike. */
static void prepare_run(struct tqt_world *w, const char *limit)
{
	static const int32_t priorities[] = { 40, 30, 30, 20, 10 };

	tqt_serve(w, 0);
	for (uint32_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++) {
		const uint64_t id = put(w, priorities[i], limit);

		if (i > 0)
			w->ids[w->id_count++] = id;
	}
	tqt_claim(w);
}

void tqt_prepare_run(struct tqt_world *w)
{
	prepare_run(w, NULL);
}

void tqt_prepare_run_limited(struct tqt_world *w)
{
	prepare_run(w, "a limit");
}

/* Two of them, the tasks of which take turns, and another one to which the next is appended. */
void tqt_prepare_runs(struct tqt_world *w)
{
	prepare_run(w, NULL);
	w->ids[w->id_count++] = put(w, 25, NULL);
	w->ids[w->id_count++] = put(w, 15, NULL);
	w->ids[w->id_count++] = put(w, 5, NULL);
	w->ids[w->id_count++] = put(w, 18, NULL);
}

/* The only one that is left, to which the next would be appended. */
void tqt_prepare_run_of_one(struct tqt_world *w)
{
	tqt_serve(w, 0);
	put(w, 40, NULL);
	w->ids[w->id_count++] = put(w, 30, NULL);
	tqt_claim(w);
}

void tqt_run_submit_behind(struct tqt_world *w)
{
	w->result = submit(w, 10, NULL, NULL);
}

void tqt_run_submit_before_last(struct tqt_world *w)
{
	w->result = submit(w, 15, NULL, NULL);
}

void tqt_run_submit_before_all(struct tqt_world *w)
{
	w->result = submit(w, 50, NULL, NULL);
}

void tqt_run_submit_behind_limited(struct tqt_world *w)
{
	w->result = submit(w, 10, "a limit", NULL);
}

void tqt_run_claim_run(struct tqt_world *w)
{
	tqt_claim_beside(w, 0);
}

void tqt_run_claim_run_limited(struct tqt_world *w)
{
	tqt_claim_beside(w, 0);
}

void tqt_run_claim_runs(struct tqt_world *w)
{
	tqt_claim_beside(w, 0);
}

void tqt_run_claim_run_of_one(struct tqt_world *w)
{
	tqt_claim_beside(w, 0);
}

void tqt_run_release_run(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, 0);
}

static void cancel(struct tqt_world *w, uint32_t at)
{
	w->result = tq_task_steer(w->tq, w->ids[at], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_cancel_run_first(struct tqt_world *w)
{
	cancel(w, 0);
}

void tqt_run_cancel_run_middle(struct tqt_world *w)
{
	cancel(w, 1);
}

void tqt_run_cancel_run_end(struct tqt_world *w)
{
	cancel(w, 3);
}

/* The first of one that is not the first of all. */
void tqt_run_cancel_runs_other(struct tqt_world *w)
{
	cancel(w, 5);
}
