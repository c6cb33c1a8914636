/* SPDX-License-Identifier: MIT */
/* Queues with more kinds than are walked: tournaments made, kept, asked and dropped. */
#include <stdio.h>

#include "scheduler/order/tournament.h"
#include "tests/crash/operations.h"

#define MANY (TQI_CHAIN_SHORT + 14) /* kinds: of two groups, with the plain one */

/* `key`: its fair key; NULL none. */
static int submit_of(struct tq *tq, const char *key, uint32_t kind, int32_t priority,
		     uint64_t *ret_id)
{
	char name[16];
	const struct tq_task_spec spec = {
		.size = sizeof(spec), .kind = name, .priority = priority, .fair_key = key
	};

	snprintf(name, sizeof(name), "kind-%u", kind);
	return tq_submit(tq, &spec, ret_id);
}

static int submit_kind(struct tq *tq, uint32_t kind, int32_t priority)
{
	return submit_of(tq, NULL, kind, priority, NULL);
}

static void submit_kinds(struct tqt_world *w, uint32_t count)
{
	for (uint32_t k = 1; k < count; k++)
		tqt_must(submit_kind(w->other, k, (int32_t)(k * 7 % 5)), "kind");
}

/* As many as are walked; the next one is one too many. */
void tqt_prepare_few_kinds(struct tqt_world *w)
{
	tqt_serve(w, 0);
	tqt_submit_plain(w);
	submit_kinds(w, TQI_CHAIN_SHORT);
}

/* One more: as little as has a tournament. */
void tqt_prepare_some_kinds(struct tqt_world *w)
{
	tqt_prepare_few_kinds(w);
	tqt_must(submit_kind(w->other, TQI_CHAIN_SHORT, 3), "one more");
}

/* Of so many nobody is in any more: more classes than go with their era in one hold. */
void tqt_prepare_idle_kinds(struct tqt_world *w)
{
	for (uint32_t k = 1; k < 2 * MANY; k++) {
		tqt_must(submit_of(w->other, NULL, k, 0, &w->ids[0]), "kind");
		tqt_must(tq_task_steer(w->other, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
	}
}

void tqt_prepare_many_kinds(struct tqt_world *w)
{
	tqt_serve(w, 0);
	tqt_submit_plain(w);
	submit_kinds(w, MANY);
	tqt_claim(w);
	tqt_must(submit_kind(w->other, 1, 9), "the most urgent");
}

/* By age, too. */
void tqt_prepare_aged_kinds(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .max_wait_ns = TQT_SECOND_NS };

	tqt_must(tq_queue_set(w->other, "default", &opts), "max-wait");
	tqt_prepare_many_kinds(w);
	tqt_elapse(w, 2 * TQT_SECOND_NS);
	submit_kinds(w, MANY);
}

void tqt_run_submit_first_of_many(struct tqt_world *w)
{
	w->result = submit_kind(w->tq, TQI_CHAIN_SHORT, 3);
}

void tqt_run_submit_kind(struct tqt_world *w)
{
	w->result = submit_kind(w->tq, MANY, 100);
}

void tqt_run_submit_head(struct tqt_world *w)
{
	w->result = submit_kind(w->tq, 3, 100);
}

void tqt_run_claim_kinds(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_aged_kinds(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_release_kinds(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, 0);
}

void tqt_run_policy_kinds(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .edf = 1 };

	w->result = tq_queue_set(w->tq, "default", &opts);
}

void tqt_run_policy_idle_kinds(struct tqt_world *w)
{
	tqt_run_policy_kinds(w);
}

static void submit_fair_kinds(struct tqt_world *w, const char *key, uint32_t count)
{
	for (uint32_t k = 1; k < count; k++)
		tqt_must(submit_of(w->other, key, k, (int32_t)(k * 7 % 5), &w->ids[0]), "kind");
}

/* One tenant with as many as are walked, in a queue of as many streams. */
void tqt_prepare_few_fair_kinds(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .fair = 1 };

	tqt_must(tq_queue_set(w->other, "default", &opts), "fair");
	tqt_serve(w, 0);
	submit_fair_kinds(w, "a", TQI_CHAIN_SHORT + 1);
}

/* Two tenants; one has had a start, so that what it has of other kinds is to be entered anew. */
void tqt_prepare_many_fair_kinds(struct tqt_world *w)
{
	tqt_prepare_few_fair_kinds(w);
	submit_fair_kinds(w, "b", MANY);
	submit_fair_kinds(w, "a", MANY);
	uint64_t last = w->ids[0];

	tqt_claim(w);
	w->ids[0] = last;
}

/* Two kinds are left of many. */
void tqt_prepare_last_fair_kinds(struct tqt_world *w)
{
	uint64_t ids[TQI_CHAIN_SHORT + 2];

	tqt_prepare_few_fair_kinds(w);
	for (uint32_t k = 0; k < TQI_CHAIN_SHORT + 2; k++)
		tqt_must(submit_of(w->other, "b", k + 1, 0, &ids[k]), "kind");
	for (uint32_t k = 0; k < TQI_CHAIN_SHORT; k++)
		tqt_must(tq_task_steer(w->other, ids[k], TQ_TASK_ACTION_CANCEL), "cancel");
	w->ids[0] = ids[TQI_CHAIN_SHORT];
}

void tqt_run_submit_fair_first_of_many(struct tqt_world *w)
{
	w->result = submit_of(w->tq, "a", TQI_CHAIN_SHORT + 1, 3, NULL);
}

void tqt_run_submit_fair_kind(struct tqt_world *w)
{
	w->result = submit_of(w->tq, "a", MANY, 100, NULL);
}

void tqt_run_claim_fair_kinds(struct tqt_world *w)
{
	tqt_run_claim(w);
}

/* The last one of its tenant and kind: its class goes. */
void tqt_run_cancel_fair_kind(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_cancel_fair_last_kind(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_policy_fair_kinds(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .fair = TQ_OFF };

	w->result = tq_queue_set(w->tq, "default", &opts);
}

/* Tasks that come and go, record and all. */
static void pass_through(struct tqt_world *w, const char *queue, const char *kind, const char *key)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .queue = queue,
					   .kind = kind,
					   .fair_key = key,
					   .flags = TQ_TASK_FORGET };

	tqt_must(tq_submit(w->other, &spec, &w->ids[0]), "one that passes");
	tqt_must(tq_task_steer(w->other, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
}

static void pass_kinds(struct tqt_world *w, const char *queue, const char *key)
{
	char kind[16];

	for (uint32_t k = 0; k <= TQI_CHAIN_SHORT; k++) {
		snprintf(kind, sizeof(kind), "passed-%u", k);
		pass_through(w, queue, kind, key);
	}
}

/* A queue that nothing is left of but what was counted, and a tournament. */
void tqt_prepare_unused_queue(struct tqt_world *w)
{
	pass_kinds(w, "gone", NULL);
}

void tqt_prepare_given_queue(struct tqt_world *w)
{
	tqt_prepare_unused_queue(w);
	tqt_must(tqi_make_up(w->other, TQ_EQUEUES), "give back");
}

/* Kinds of two queues, in one of which their streams have had tenants, and so a contest. */
void tqt_prepare_unused_kinds(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .fair = 1 };

	tqt_must(tq_queue_set(w->other, "fair", &opts), "fair");
	pass_kinds(w, "fair", "somebody");
	pass_kinds(w, "fair", "somebody");
	pass_kinds(w, "gone", NULL);
}

void tqt_run_queue_unused(struct tqt_world *w)
{
	w->result = tqi_make_up(w->tq, TQ_EQUEUES);
}

void tqt_run_queue_in_its_place(struct tqt_world *w)
{
	w->result = tq_queue_set(w->tq, "new", NULL);
}

void tqt_run_kind_unused(struct tqt_world *w)
{
	w->result = tqi_make_up(w->tq, TQ_EKINDS);
}

static int set_defaults(struct tq *tq, const char *kind, uint32_t attempts)
{
	const struct tq_kind_opts opts = { .size = sizeof(opts),
					   .timeout_ns = attempts * TQT_SECOND_NS,
					   .timeout_total_ns = 9 * TQT_SECOND_NS,
					   .backoff_ns = TQT_SECOND_NS,
					   .backoff_cap_ns = 2 * TQT_SECOND_NS,
					   .attempts_max = attempts };

	return tq_kind_set(tq, kind, &opts);
}

void tqt_prepare_kind_defaults(struct tqt_world *w)
{
	tqt_must(set_defaults(w->other, "kind-1", 3), "defaults");
}

void tqt_run_kind_set(struct tqt_world *w)
{
	w->result = set_defaults(w->tq, "kind-1", 2);
}

void tqt_run_kind_set_again(struct tqt_world *w)
{
	w->result = set_defaults(w->tq, "kind-1", 5);
}

void tqt_run_kind_clear(struct tqt_world *w)
{
	w->result = tq_kind_clear(w->tq, "kind-1");
}

void tqt_run_submit_by_kind(struct tqt_world *w)
{
	w->result = submit_kind(w->tq, 1, 0);
}
