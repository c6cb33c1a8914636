/* SPDX-License-Identifier: MIT */
/* Another order inside a queue, and what is done while tasks are on their way into it. */
#include "client/core/sleeper.h"
#include "scheduler/order/queue.h"
#include "tests/crash/operations.h"

#define POINT 1000u /* a second */

/* Ten of all bands, one of them delayed. */
static void submit_bands(struct tqt_world *w)
{
	static const int32_t priorities[] = { -100, 0, 100, 1000, -5 };

	for (uint32_t i = 0; i < 10; i++) {
		const struct tq_task_spec spec = { .size = sizeof(spec),
						   .kind = "k",
						   .priority = priorities[i % 5],
						   .delay_ns = i == 9 ? 1000 * TQT_SECOND_NS : 0 };

		tqt_submit(w, &spec);
	}
}

static int set_ageing(struct tq *tq, uint32_t low, uint32_t high)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .ageing = { low, 0, high, 0 } };

	return tq_queue_set(tq, "default", &opts);
}

void tqt_prepare_bands(struct tqt_world *w)
{
	tqt_serve(w, 0);
	w->ids[w->id_count++] = tqt_submit_plain(w);
	tqt_claim(w);
	submit_bands(w);
}

/* It ages already, for some time. */
void tqt_prepare_ageing(struct tqt_world *w)
{
	tqt_prepare_bands(w);
	tqt_must(set_ageing(w->other, 5 * POINT, 2 * POINT), "ageing");
	tqt_elapse(w, 30 * TQT_SECOND_NS);
	submit_bands(w);
}

/* The policy has been changed, and whoever changed it died before it moved anything. */
void tqt_prepare_moving(struct tqt_world *w)
{
	const struct tqi_queue_settings settings = { .policy = { .ageing = { TQ_OFF, POINT, 0,
									     TQ_AGEING_MAX } } };
	struct tqi_tx tx;

	tqt_prepare_ageing(w);
	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	int r = tqi_queue_set(&tx, tqi_queue_find(&tx, "default"), &settings);

	tqt_must(tqi_hold_end(w->other, &tx, r), "policy");
}

/* It is the least urgent band's turn. */
void tqt_prepare_hybrid(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .hybrid = 1 };

	tqt_must(tq_queue_set(w->other, "default", &opts), "hybrid");
	tqt_prepare_bands(w);
	tqt_claim(w);
}

static int set_edf(struct tq *tq)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .edf = 1 };

	return tq_queue_set(tq, "default", &opts);
}

static int set_max_wait(struct tq *tq, uint64_t ns)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .max_wait_ns = ns };

	return tq_queue_set(tq, "default", &opts);
}

static int submit_due(struct tq *tq, int32_t priority, uint64_t seconds)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .priority = priority,
					   .deadline_ns = seconds * TQT_SECOND_NS };

	return tq_submit(tq, &spec, NULL);
}

/* Bands, some of their tasks with deadlines. */
void tqt_prepare_deadlines(struct tqt_world *w)
{
	tqt_prepare_bands(w);
	for (uint32_t i = 0; i < 4; i++)
		tqt_must(submit_due(w->other, (int32_t)(i % 2) * 100, 100 - 20 * i), "deadline");
}

void tqt_prepare_edf(struct tqt_world *w)
{
	tqt_prepare_deadlines(w);
	tqt_must(set_edf(w->other), "edf");
}

/* All of the bands are overdue, and it is their turn. */
void tqt_prepare_overdue(struct tqt_world *w)
{
	tqt_prepare_bands(w);
	tqt_must(set_max_wait(w->other, TQT_SECOND_NS), "max-wait");
	tqt_elapse(w, 2 * TQT_SECOND_NS);
	submit_bands(w);
}

void tqt_run_policy_edf(struct tqt_world *w)
{
	w->result = set_edf(w->tq);
}

void tqt_run_policy_max_wait(struct tqt_world *w)
{
	w->result = set_max_wait(w->tq, TQT_SECOND_NS);
}

void tqt_run_policy_max_wait_off(struct tqt_world *w)
{
	w->result = set_max_wait(w->tq, TQ_UNLIMITED);
}

void tqt_run_policy_hybrid(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .hybrid = 2 };

	w->result = tq_queue_set(w->tq, "default", &opts);
}

void tqt_run_policy_set(struct tqt_world *w)
{
	w->result = set_ageing(w->tq, 5 * POINT, 2 * POINT);
}

void tqt_run_policy_off(struct tqt_world *w)
{
	w->result = set_ageing(w->tq, TQ_OFF, TQ_OFF);
}

void tqt_run_policy_busy(struct tqt_world *w)
{
	w->result = set_ageing(w->tq, 7 * POINT, 0);
}

void tqt_run_claim_aged(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_hybrid(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_edf(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_overdue(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_submit_edf(struct tqt_world *w)
{
	w->result = submit_due(w->tq, 0, 5);
}

void tqt_run_submit_overdue(struct tqt_world *w)
{
	w->result = submit_due(w->tq, -100, 5);
}

void tqt_run_claim_moving(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_release_moving(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, 0);
}

void tqt_run_submit_aged(struct tqt_world *w)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k", .priority = -100 };

	w->result = tq_submit(w->tq, &spec, NULL);
}

void tqt_run_update_band(struct tqt_world *w)
{
	const struct tq_task_update u = { .size = sizeof(u),
					  .fields = TQ_UPDATE_PRIORITY,
					  .priority = 100 };
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k", .priority = -100 };
	uint64_t id = 0;

	w->result = tq_submit(w->tq, &spec, &id);
	if (w->result == 0)
		w->result = tq_task_update(w->tq, id, &u);
}

void tqt_run_keep_move(struct tqt_world *w)
{
	tqi_keep(w->tq);
}
