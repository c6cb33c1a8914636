/* SPDX-License-Identifier: MIT */
/* The operations of the sweep on what tasks inherit, and their preparations. */
#include <errno.h>

#include "client/core/sleeper.h"
#include "scheduler/graph/edge.h"
#include "scheduler/graph/inherit.h"
#include "tests/crash/operations.h"

#define PARENTS 20 /* more than a slice of stale tasks changes */
#define LENDERS 5

static void inherit_in_bands(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .ageing = { 1, 2, 3, 4 } };

	tqt_must(tq_queue_set(w->other, "default", &opts), "bands");
}

static uint64_t donor(struct tqt_world *w, const uint64_t *ids, uint32_t count, int32_t priority)
{
	struct tq_dependency after[PARENTS];
	struct tq_task_spec spec = { .size = sizeof(spec),
				     .kind = "k",
				     .priority = priority,
				     .after = after,
				     .after_count = count };

	for (uint32_t i = 0; i < count; i++)
		after[i] = (struct tq_dependency){ .id = ids[i] };
	return tqt_submit(w, &spec);
}

/* Until nothing is stale. */
static void inherit_settle(struct tqt_world *w)
{
	struct tqi_tx tx;

	for (bool pending = true; pending;) {
		tqt_must(tqi_hold_begin(w->other, &tx), "hold");
		pending = tqi_inherit_pending(&tx);
		if (pending)
			tqi_inherit_slice(&tx);
		tqt_must(tqi_hold_end(w->other, &tx, 0), "hold");
	}
}

/* Tasks in a queue whose bands are apart; they wait, and nobody for them. */
void tqt_prepare_heirs(struct tqt_world *w)
{
	inherit_in_bands(w);
	tqt_serve(w, 0);
	for (int i = 0; i < 3; i++)
		tqt_prepare_task(w);
}

/* Many have just got a donor, and nobody has told them. */
void tqt_prepare_lent(struct tqt_world *w)
{
	inherit_in_bands(w);
	tqt_serve(w, 0);
	for (int i = 0; i < PARENTS; i++)
		tqt_prepare_task(w);
	w->ids[w->id_count++] = donor(w, w->ids, PARENTS, 2000);
}

/* They have been told: the last one is the donor. */
void tqt_prepare_heirs_settled(struct tqt_world *w)
{
	tqt_prepare_lent(w);
	inherit_settle(w);
}

/* A chain of three, told. */
void tqt_prepare_heirs_chain(struct tqt_world *w)
{
	inherit_in_bands(w);
	tqt_serve(w, 0);
	tqt_prepare_task(w);
	for (uint32_t i = 0; i < 2; i++)
		w->ids[w->id_count++] = donor(w, &w->ids[i], 1, i ? 2000 : 0);
	inherit_settle(w);
}

static uint32_t lender(struct tqt_world *w, uint64_t id, int32_t priority)
{
	uint32_t waiter = tqt_foreign_sleeper(w, TQI_INTEREST_TASKS, 0);
	struct tqi_tx tx;

	for (bool added = false; !added;) {
		tqt_must(tqi_hold_begin(w->other, &tx), "hold");
		tqi_inherit_lend(&tx, waiter, &(struct tqi_worth){ UINT64_MAX, priority, 0, 0 });
		added = tqi_edge_add(&tx, waiter, tqi_id_index(id));
		int r = tqi_hold_end(w->other, &tx, added ? 0 : -ENOMEM);

		tqt_must(r == -ENOMEM ? tqi_make_room(w->other, 0) : r, "edge");
	}
	return waiter;
}

/* Clients wait for one; the one that lends most has died. */
void tqt_prepare_lender_dead(struct tqt_world *w)
{
	inherit_in_bands(w);
	tqt_serve(w, 0);
	tqt_prepare_task(w);
	for (int i = 0; i < LENDERS; i++) {
		uint32_t waiter = lender(w, w->ids[0], 100 * (i + 1));

		if (i == LENDERS - 1)
			tqt_sleeper_dies(w, waiter);
	}
	inherit_settle(w);
}

/* One that runs has inherited: its owner reads another block than the task has now. */
void tqt_prepare_heir_runs(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	lender(w, w->ids[0], 1000);
	inherit_settle(w);
}

/* What has inherited is cancelled, and has a life before it. */
void tqt_prepare_heir_ended(struct tqt_world *w)
{
	tqt_prepare_heirs_chain(w);
	tqt_must(tq_task_steer(w->tq, w->ids[1], TQ_TASK_ACTION_CANCEL), "cancel");
}

static const struct tq_wait_opts urgently = { .size = sizeof(urgently),
					      .flags = TQ_WAIT_PRIORITY,
					      .priority = 1000 };

void tqt_run_wait_urgent(struct tqt_world *w)
{
	w->result = tq_wait(w->tq, w->ids, w->id_count, TQT_SECOND_NS, &urgently, NULL);
}

void tqt_run_wait_urgent_running(struct tqt_world *w)
{
	w->result = tq_wait(w->tq, w->ids, 1, TQT_SECOND_NS, &urgently, NULL);
}

void tqt_run_submit_donor(struct tqt_world *w)
{
	struct tq_dependency after[3];
	struct tq_task_spec spec = { .size = sizeof(spec),
				     .kind = "k",
				     .priority = 2000,
				     .after = after,
				     .after_count = 3 };

	for (uint32_t i = 0; i < 3; i++)
		after[i] = (struct tq_dependency){ .id = w->ids[i] };
	w->result = tq_submit(w->tq, &spec, &w->ids[0]);
}

void tqt_run_claim_heir(struct tqt_world *w)
{
	w->claims[0].size = sizeof(w->claims[0]);
	w->result = tq_claim(w->worker, 0, &w->claims[0]);
}

static void update(struct tqt_world *w, uint64_t id, int32_t priority)
{
	const struct tq_task_update update = { .size = sizeof(update),
					       .fields = TQ_UPDATE_PRIORITY,
					       .priority = priority };

	w->result = tq_task_update(w->tq, id, &update);
}

void tqt_run_update_donor(struct tqt_world *w)
{
	update(w, w->ids[w->id_count - 1], -5);
}

void tqt_run_update_heir(struct tqt_world *w)
{
	update(w, w->ids[0], -5);
}

void tqt_run_cancel_donor(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[w->id_count - 1], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_complete_lent(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_release_lent(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, 0);
}

void tqt_run_retry_heir(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[1], TQ_TASK_ACTION_RETRY);
}

void tqt_run_keep_inherit(struct tqt_world *w)
{
	tqi_keep(w->tq);
}

/* It counts anew. */
void tqt_run_keep_withdraw(struct tqt_world *w)
{
	tqi_keep(w->tq);
	tqi_keep(w->tq);
}
