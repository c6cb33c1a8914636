/* SPDX-License-Identifier: MIT */
/* Whom an end wakes beside workers: submitters asleep for room, and workers that may leave. */
#include "client/core/sleeper.h"
#include "client/worker/worker_api.h"
#include "scheduler/order/queue.h"
#include "scheduler/wake/wake.h"
#include "tests/crash/operations.h"

#define DELAY_NS 1000000000000ull /* of tasks that keep workers from leaving */
#define LEAVERS 40		  /* more than are looked at in one hold */
#define DEAD 20			  /* more than are passed over */

/* A queue that its one task fills. */
static uint32_t full_queue(struct tqt_world *w, const char *name)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .queue = name, .kind = "k" };
	const struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = 1 };
	struct tqi_tx tx;

	w->ids[w->id_count++] = tqt_submit(w, &spec);
	tqt_must(tq_queue_set(w->other, name, &opts), "queue");
	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	uint32_t q = tqi_queue_find(&tx, name);

	tqt_must(tqi_hold_end(w->other, &tx, 0), "find");
	return q;
}

/* Two full queues with submitters, of which the second one's task goes. */
void tqt_prepare_room_waiters(struct tqt_world *w)
{
	uint32_t first = full_queue(w, "first"), second = full_queue(w, "second");

	for (uint32_t i = 0; i < 2; i++) {
		tqt_foreign_sleeper(w, TQI_INTEREST_ROOM, first);
		tqt_foreign_sleeper(w, TQI_INTEREST_ROOM, second);
	}
}

void tqt_run_cancel_for_room(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[1], TQ_TASK_ACTION_CANCEL);
}

/* So many dead submitters before one that lives that a search is cut off. */
void tqt_prepare_dead_room_waiters(struct tqt_world *w)
{
	for (uint32_t i = 0; i < DEAD; i++)
		tqt_sleeper_dies(w, tqt_foreign_sleeper(w, TQI_INTEREST_ROOM, 0));
	tqt_foreign_sleeper(w, TQI_INTEREST_ROOM, 0);
}

void tqt_run_keep_room(struct tqt_world *w)
{
	tqi_keep(w->tq);
}

static void foreign_leaver(struct tqt_world *w)
{
	const struct tq_worker_opts opts = { .size = sizeof(opts) };
	const struct tqi_worker_extra extra = { .flags = TQI_WORKER_EMPTY };
	struct tq_worker *worker;

	tqt_must(tqi_worker_open(w->other, &opts, &extra, &worker), "foreign worker");
	uint32_t index = worker->index;

	tqt_give_away_worker(w, worker, TQT_PID_OTHER);
	tqt_foreign_sleeper(w, TQI_INTEREST_WORK, index);
}

static void prepare_leavers(struct tqt_world *w, uint32_t tasks)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .delay_ns = DELAY_NS };
	struct tqi_tx tx;

	for (uint32_t i = 0; i < tasks; i++)
		w->ids[w->id_count++] = tqt_submit(w, &spec);
	for (uint32_t i = 0; i < LEAVERS; i++)
		foreign_leaver(w);
	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	tqi_wake_empty(&tx); /* in vain, and not to the end */
	tqt_must(tqi_hold_end(w->other, &tx, 0), "round");
}

/* In the midst of a round; one task is left, or two. */
void tqt_prepare_leavers(struct tqt_world *w)
{
	prepare_leavers(w, 1);
}

void tqt_prepare_leavers_more(struct tqt_world *w)
{
	prepare_leavers(w, 2);
}

void tqt_run_cancel_leavers(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

/* LV-1: the round begins anew at its end. */
void tqt_run_cancel_leavers_more(struct tqt_world *w)
{
	tqt_run_cancel_leavers(w);
}

void tqt_run_keep_leavers(struct tqt_world *w)
{
	tqi_keep(w->tq);
}
