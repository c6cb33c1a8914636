/* SPDX-License-Identifier: MIT */
/* The operations of the sweep in fair queues, and their preparations. */
#include "client/core/sleeper.h"
#include "scheduler/order/queue.h"
#include "tests/crash/operations.h"

#include <stdio.h>

#define KEYS 60 /* of which more come anew to the head of a heap than a transaction can enter */

static struct tq_task_spec spec_of(const char *key)
{
	return (struct tq_task_spec){ .size = sizeof(struct tq_task_spec),
				      .kind = "k",
				      .label = "label",
				      .payload = "payload",
				      .payload_bytes = 7,
				      .priority = 2000, /* before all others of the key */
				      .attempts_max = 3,
				      .fair_key = key };
}

static int set_fair(struct tq *tq, const char *queue, uint32_t fair)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .fair = fair };

	return tq_queue_set(tq, queue, &opts);
}

static void prepare(struct tqt_world *w, const char *key)
{
	const struct tq_task_spec spec = spec_of(key);

	w->ids[w->id_count++] = tqt_submit(w, &spec);
}

void tqt_prepare_fair(struct tqt_world *w)
{
	tqt_must(set_fair(w->other, "default", 1), "fair");
	tqt_serve(w, 0);
}

/* Two keys; the second one has a single task. */
void tqt_prepare_tenants(struct tqt_world *w)
{
	tqt_prepare_fair(w);
	prepare(w, "b");
	prepare(w, "a");
	prepare(w, "a");
}

/* One of each runs, and has run for longer than it was charged; more wait. */
void tqt_prepare_fair_claims(struct tqt_world *w)
{
	tqt_prepare_tenants(w);
	w->id_count = 0;
	tqt_claim(w);
	tqt_claim(w);
	tqt_elapse(w, TQT_SECOND_NS);
}

/* Less than it was charged. */
void tqt_prepare_fair_short(struct tqt_world *w)
{
	tqt_prepare_tenants(w);
	w->id_count = 0;
	tqt_claim(w);
}

static void submit_kinds(struct tqt_world *w, const char *key)
{
	struct tq_task_spec spec = spec_of(key);

	tqt_submit(w, &spec);
	spec.kind = "l";
	tqt_submit(w, &spec);
}

/* Each key has had something since its task of the other kind came to that one's heap. */
void tqt_prepare_fair_old_tags(struct tqt_world *w)
{
	static const char *const kinds[] = { "k" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .kinds = kinds,
					     .kind_count = 1 };
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *other;

	tqt_prepare_fair(w);
	for (int i = 0; i < KEYS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "key %d", i);
		submit_kinds(w, key);
	}
	tqt_must(tq_worker_open(w->other, &opts, &other), "worker");
	for (int i = 0; i < KEYS; i++) {
		tqt_must(tq_claim(other, 0, &claim), "claim");
		tqt_elapse(w, TQT_SECOND_NS);
		tqt_must(tq_complete(other, &claim, NULL, 0), "complete");
	}
}

/* What all but one have waits for a limit, and nobody has noticed yet. */
void tqt_prepare_fair_throttled(struct tqt_world *w)
{
	static const char *const limits[] = { "one" };
	const struct tq_limit_opts opts = { .size = sizeof(opts), .slots = 1 };
	struct tq_task_spec spec = spec_of("a");

	tqt_prepare_fair(w);
	spec.limits = limits;
	spec.limit_count = 1;
	for (int i = 0; i < 3; i++) {
		const char key[] = { (char)('a' + i), '\0' };

		spec.fair_key = key;
		tqt_submit(w, &spec);
	}
	tqt_claim(w);
	w->id_count = 0;
	tqt_must(tq_limit_set(w->other, "one", &opts), "limit");
	prepare(w, "d");
}

void tqt_prepare_fair_end(struct tqt_world *w)
{
	tqt_prepare_fair(w);
	prepare(w, "a");
	tqt_must(tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
}

void tqt_prepare_fair_dead(struct tqt_world *w)
{
	tqt_must(set_fair(w->other, "default", 1), "fair");
	prepare(w, "a");
	uint32_t foreign = tqt_foreign_worker(w, TQT_PID_DEAD, 1, false);

	prepare(w, "a");
	tqt_elapse(w, TQT_SECOND_NS);
	tqt_worker_dies(w, foreign);
}

static void change_fair(struct tqt_world *w, uint32_t fair)
{
	const struct tqi_queue_settings settings = { .policy = { .fair = fair } };
	struct tqi_tx tx;

	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	int r = tqi_queue_set(&tx, tqi_queue_find(&tx, "default"), &settings);

	tqt_must(tqi_hold_end(w->other, &tx, r), "policy");
}

/* It is to become fair, and nothing has been moved. */
void tqt_prepare_fair_moving(struct tqt_world *w)
{
	tqt_serve(w, 0);
	for (int i = 0; i < 12; i++)
		prepare(w, i % 3 ? "a" : i % 2 ? "b" : NULL);
	w->id_count = 0;
	change_fair(w, 1);
}

/* And back. */
void tqt_prepare_unfair_moving(struct tqt_world *w)
{
	tqt_prepare_fair(w);
	for (int i = 0; i < 12; i++)
		prepare(w, i % 3 ? "a" : i % 2 ? "b" : NULL);
	w->id_count = 0;
	change_fair(w, TQ_OFF);
}

static void submit(struct tqt_world *w, struct tq_task_spec spec)
{
	uint64_t id;

	w->result = tq_submit(w->tq, &spec, &id);
}

/* In a queue that is not: the key is kept for when it will be. */
void tqt_run_submit_fair_key(struct tqt_world *w)
{
	submit(w, spec_of("a"));
}

void tqt_run_submit_fair(struct tqt_world *w)
{
	submit(w, spec_of("a"));
}

void tqt_run_submit_fair_large(struct tqt_world *w)
{
	struct tq_task_spec spec = spec_of("a");

	spec.payload = tqt_large;
	spec.payload_bytes = TQT_LARGE_BYTES;
	submit(w, spec);
}

void tqt_run_submit_tenant(struct tqt_world *w)
{
	submit(w, spec_of("a"));
}

void tqt_run_submit_fair_limited(struct tqt_world *w)
{
	static const char *const limits[] = { "one" };
	struct tq_task_spec spec = spec_of("a");

	spec.limits = limits;
	spec.limit_count = 1;
	submit(w, spec);
}

void tqt_run_claim_fair(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_fair_old_tags(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_fair_throttled(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_fair_moving(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_unfair_moving(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_complete_fair(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, "result", 6);
}

void tqt_run_complete_fair_short(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_next_fair(struct tqt_world *w)
{
	const struct tq_verdict verdict = { .size = sizeof(verdict), .kind = TQ_VERDICT_DONE };
	struct tq_claim *next = &w->claims[TQT_IDS_MAX - 1];
	int verdict_r;

	next->size = sizeof(*next);
	w->result = tq_next(w->worker, w->claims, &verdict, 0, next, &verdict_r);
}

void tqt_run_release_fair(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, 0);
}

/* The last one of its key: the class goes. */
void tqt_run_cancel_fair(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_hold_fair(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_HOLD);
}

void tqt_run_update_fair(struct tqt_world *w)
{
	const struct tq_task_update u = { .size = sizeof(u),
					  .fields = TQ_UPDATE_QUEUE,
					  .queue = "other" };

	w->result = tq_task_update(w->tq, w->ids[0], &u);
}

void tqt_run_retry_fair(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_RETRY);
}

/* The last one that names it: the tenant goes. */
void tqt_run_forget_fair(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_FORGET);
}

void tqt_run_policy_fair(struct tqt_world *w)
{
	w->result = set_fair(w->tq, "default", 1);
}

void tqt_run_policy_unfair(struct tqt_world *w)
{
	w->result = set_fair(w->tq, "default", TQ_OFF);
}

void tqt_run_keep_fair(struct tqt_world *w)
{
	tqi_keep(w->tq);
}

void tqt_run_keep_fair_moving(struct tqt_world *w)
{
	tqi_keep(w->tq);
}
