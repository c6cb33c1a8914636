/* SPDX-License-Identifier: MIT */
/* The operations of the sweep on tasks with limits, and their preparations. */
#include "client/core/sleeper.h"
#include "tests/crash/operations.h"

#include <stdio.h>

#define LANES 40 /* more than can be moved in one transaction */

static const char *const one[] = { "one" };
static const char *const both[] = { "one", "two" };
static const char *const four[] = { "four", "three", "two", "one" };

static struct tq_task_spec spec_of(const char *const *limits, uint32_t count)
{
	return (struct tq_task_spec){ .size = sizeof(struct tq_task_spec),
				      .kind = "k",
				      .label = "label",
				      .payload = "payload",
				      .payload_bytes = 7,
				      .priority = 2000, /* before all others */
				      .attempts_max = 3,
				      .limits = limits,
				      .limit_count = count };
}

static int set_limit(struct tq *tq, const char *key, uint32_t slots)
{
	const struct tq_limit_opts opts = { .size = sizeof(opts), .slots = slots };

	return tq_limit_set(tq, key, &opts);
}

static void prepare(struct tqt_world *w, const char *const *limits, uint32_t count)
{
	const struct tq_task_spec spec = spec_of(limits, count);

	w->ids[w->id_count++] = tqt_submit(w, &spec);
}

void tqt_prepare_limit(struct tqt_world *w)
{
	tqt_must(set_limit(w->other, "one", 1), "limit");
}

/* One that may start. */
void tqt_prepare_limited(struct tqt_world *w)
{
	tqt_prepare_limit(w);
	tqt_serve(w, 0);
	prepare(w, both, 2);
}

void tqt_prepare_limited_claim(struct tqt_world *w)
{
	tqt_prepare_limited(w);
	w->id_count = 0;
	tqt_claim(w);
}

/* The limit is full, and two wait for it, in lanes of their own and two queues. */
void tqt_prepare_throttled(struct tqt_world *w)
{
	struct tq_task_spec spec = spec_of(one, 1);

	tqt_prepare_limited_claim(w);
	w->id_count = 0;
	prepare(w, both, 2);
	spec.queue = "other";
	w->ids[w->id_count++] = tqt_submit(w, &spec);
}

/* Lanes that became unable to start when another one did: they are still to be parked. */
void tqt_prepare_lanes(struct tqt_world *w)
{
	tqt_serve(w, 0);
	prepare(w, one, 1);
	prepare(w, both, 2);
	prepare(w, four, 4);
	tqt_claim(w);
	tqt_must(set_limit(w->other, "one", 1), "limit");
}

void tqt_prepare_many_lanes(struct tqt_world *w)
{
	tqt_serve(w, 0);
	prepare(w, one, 1);
	for (int i = 0; i < LANES; i++) {
		char name[16];
		const char *const limits[] = { "one", name };
		const struct tq_task_spec spec = spec_of(limits, 2);

		snprintf(name, sizeof(name), "own %d", i);
		tqt_submit(w, &spec);
	}
	tqt_claim(w);
	tqt_must(set_limit(w->other, "one", 1), "limit");
}

/* The slot has been given back, and nobody has looked since. */
void tqt_prepare_loosened(struct tqt_world *w)
{
	tqt_prepare_throttled(w);
	tqt_must(tq_complete(w->worker, w->claims, NULL, 0), "complete");
}

/* A queue with a max-wait, and all that waits there is overdue. */
static void set_overdue(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .max_wait_ns = 1 };

	tqt_must(tq_queue_set(w->other, "default", &opts), "max-wait");
	tqt_elapse(w, TQT_SECOND_NS);
}

void tqt_prepare_overdue_lanes(struct tqt_world *w)
{
	tqt_prepare_lanes(w);
	set_overdue(w);
}

void tqt_prepare_overdue_loosened(struct tqt_world *w)
{
	tqt_prepare_loosened(w);
	set_overdue(w);
}

/* One has a place of two, and the next one in order needs both; a light one is behind it. */
void tqt_prepare_weights(struct tqt_world *w)
{
	static const uint32_t weight = 2;
	struct tq_task_spec heavy = spec_of(one, 1);

	heavy.limit_weights = &weight;
	heavy.priority = 1500;
	tqt_must(set_limit(w->other, "one", 2), "limit");
	tqt_serve(w, 0);
	prepare(w, one, 1);
	tqt_claim(w);
	w->ids[0] = tqt_submit(w, &heavy);
	w->id_count = 1;
	heavy.limit_weights = NULL;
	heavy.priority = 1400;
	w->ids[w->id_count++] = tqt_submit(w, &heavy);
}

/* Nothing starts at the limit until both places are free. */
void tqt_prepare_gathering(struct tqt_world *w)
{
	struct tq_claim claim = { .size = sizeof(claim) };

	tqt_prepare_weights(w);
	if (tq_claim(w->worker, 0, &claim) == 0)
		tqt_must(tq_release(w->worker, &claim, 0), "release");
}

/* They have come together. */
void tqt_prepare_gathered(struct tqt_world *w)
{
	tqt_prepare_gathering(w);
	tqt_must(tq_complete(w->worker, w->claims, NULL, 0), "complete");
}

void tqt_prepare_limited_end(struct tqt_world *w)
{
	prepare(w, four, 4);
	tqt_must(tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
}

/* Who has the slots has died. */
void tqt_prepare_limited_dead(struct tqt_world *w)
{
	tqt_prepare_limit(w);
	prepare(w, both, 2);
	uint32_t foreign = tqt_foreign_worker(w, TQT_PID_DEAD, 1, false);

	prepare(w, one, 1);
	tqt_worker_dies(w, foreign);
}

static int set_rate(struct tq *tq, uint32_t rate)
{
	const struct tq_limit_opts opts = {
		.size = sizeof(opts), .rate = rate, .burst = 2, .interval_ns = 10 * TQT_SECOND_NS
	};

	return tq_limit_set(tq, "one", &opts);
}

/* Two tokens are there, and as many waiters. */
void tqt_prepare_tokens(struct tqt_world *w)
{
	tqt_must(set_rate(w->other, 1), "rate");
	tqt_serve(w, 0);
	prepare(w, one, 1);
	prepare(w, both, 2);
}

/* One will take more tokens than are there. */
void tqt_prepare_heavy_tokens(struct tqt_world *w)
{
	static const uint32_t weight = 5;
	struct tq_task_spec heavy = spec_of(one, 1);

	heavy.limit_weights = &weight;
	tqt_must(set_rate(w->other, 1), "rate");
	tqt_serve(w, 0);
	w->ids[w->id_count++] = tqt_submit(w, &heavy);
}

/* They have been taken, and two wait for the next. */
void tqt_prepare_no_token(struct tqt_world *w)
{
	tqt_prepare_tokens(w);
	w->id_count = 0;
	tqt_claim(w);
	tqt_claim(w);
	w->id_count = 0;
	prepare(w, one, 1);
	prepare(w, both, 2);
}

/* Which has come, and nobody has looked. */
void tqt_prepare_refilled(struct tqt_world *w)
{
	tqt_prepare_no_token(w);
	tqt_elapse(w, 15 * TQT_SECOND_NS);
}

/* Tokens have come that nobody waited for. */
void tqt_prepare_rested(struct tqt_world *w)
{
	tqt_prepare_tokens(w);
	w->id_count = 0;
	tqt_claim(w);
	tqt_claim(w);
	tqt_elapse(w, 15 * TQT_SECOND_NS);
}

static void submit(struct tqt_world *w, struct tq_task_spec spec)
{
	uint64_t id;

	w->result = tq_submit(w->tq, &spec, &id);
}

void tqt_run_submit_limited(struct tqt_world *w)
{
	submit(w, spec_of(four, 4));
}

void tqt_run_submit_limited_large(struct tqt_world *w)
{
	struct tq_task_spec spec = spec_of(both, 2);

	spec.payload = tqt_large;
	spec.payload_bytes = TQT_LARGE_BYTES;
	submit(w, spec);
}

void tqt_run_submit_lane(struct tqt_world *w)
{
	submit(w, spec_of(both, 2));
}

void tqt_run_submit_parked(struct tqt_world *w)
{
	struct tq_task_spec spec = spec_of(both, 2);

	spec.priority++; /* first of its lane, and of the parking */
	submit(w, spec);
}

void tqt_run_claim_limited(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_parking(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_overdue_lanes(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_overdue_loosened(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_submit_overdue_lane(struct tqt_world *w)
{
	submit(w, spec_of(four, 4));
}

void tqt_run_claim_many_lanes(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_loosened(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_complete_limited(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, "result", 6);
}

void tqt_run_complete_last(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_next_limited(struct tqt_world *w)
{
	const struct tq_verdict verdict = { .size = sizeof(verdict), .kind = TQ_VERDICT_DONE };
	struct tq_claim *next = &w->claims[TQT_IDS_MAX - 1];
	int verdict_r;

	next->size = sizeof(*next);
	w->result = tq_next(w->worker, w->claims, &verdict, 0, next, &verdict_r);
}

void tqt_run_release_limited(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, 0);
}

void tqt_run_fail_limited(struct tqt_world *w)
{
	w->result = tq_fail(w->worker, w->claims, 0, "text");
}

void tqt_run_cancel_parked(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_hold_parked(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_HOLD);
}

void tqt_run_update_limited(struct tqt_world *w)
{
	const struct tq_task_update u = { .size = sizeof(u),
					  .fields = TQ_UPDATE_QUEUE,
					  .queue = "other" };

	w->result = tq_task_update(w->tq, w->ids[0], &u);
}

void tqt_run_claim_gather(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_gathered(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_complete_gathering(struct tqt_world *w)
{
	tqt_run_complete_last(w);
}

void tqt_run_limit_gathering(struct tqt_world *w)
{
	tqt_run_limit_raise(w);
}

static void update_limits(struct tqt_world *w, const char *const *limits, uint32_t count)
{
	const struct tq_task_update u = { .size = sizeof(u),
					  .fields = TQ_UPDATE_LIMITS,
					  .limits = limits,
					  .limit_count = count };

	w->result = tq_task_update(w->tq, w->ids[0], &u);
}

void tqt_run_update_to_limits(struct tqt_world *w)
{
	update_limits(w, both, 2);
}

/* One stays, one goes, two are new: the lane is parked at another limit. */
void tqt_run_update_limits(struct tqt_world *w)
{
	static const char *const other[] = { "three", "one", "four" };

	update_limits(w, other, 3);
}

void tqt_run_update_no_limits(struct tqt_world *w)
{
	update_limits(w, NULL, 0);
}

void tqt_run_retry_limited(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_RETRY);
}

void tqt_run_forget_limited(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_FORGET);
}

void tqt_run_limit_new(struct tqt_world *w)
{
	w->result = set_limit(w->tq, "new", 5);
}

void tqt_run_limit_raise(struct tqt_world *w)
{
	w->result = set_limit(w->tq, "one", 3);
}

void tqt_run_limit_lower(struct tqt_world *w)
{
	w->result = set_limit(w->tq, "two", 1);
}

void tqt_run_limit_remove(struct tqt_world *w)
{
	w->result = tq_limit_remove(w->tq, "one");
}

void tqt_run_limit_drop(struct tqt_world *w)
{
	w->result = tq_limit_remove(w->tq, "one");
}

/* Lanes and parkings of another era, and what is parked follows. */
void tqt_run_policy_limited(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .ageing = { 5, 5, 9, 5 } };

	w->result = tq_queue_set(w->tq, "default", &opts);
}

void tqt_run_keep_limited(struct tqt_world *w)
{
	tqi_keep(w->tq);
}

void tqt_run_limit_rate(struct tqt_world *w)
{
	w->result = set_rate(w->tq, 3);
}

void tqt_run_limit_rate_off(struct tqt_world *w)
{
	const struct tq_limit_opts opts = { .size = sizeof(opts), .rate = TQ_OFF };

	w->result = tq_limit_set(w->tq, "one", &opts);
}

void tqt_run_claim_owing(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_token(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_refilled(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_submit_refilled(struct tqt_world *w)
{
	submit(w, spec_of(one, 1));
}

void tqt_run_cancel_rated(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_keep_refill(struct tqt_world *w)
{
	tqi_keep(w->tq);
}
