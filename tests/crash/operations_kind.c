/* SPDX-License-Identifier: MIT */
/* Queues with more kinds than are walked: tournaments made, kept, asked and dropped. */
#include <stdio.h>

#include "scheduler/order/tournament.h"
#include "tests/crash/operations.h"

#define MANY (TQI_CHAIN_SHORT + 14) /* kinds: of two groups, with the plain one */

static int submit_kind(struct tq *tq, uint32_t kind, int32_t priority)
{
	char name[16];
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = name,
					   .priority = priority };

	snprintf(name, sizeof(name), "kind-%u", kind);
	return tq_submit(tq, &spec, NULL);
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
