/* SPDX-License-Identifier: MIT */
/* What each operation of the sweep needs beforehand. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/core/sleeper.h"
#include "scheduler/graph/edge.h"
#include "shm/extent.h"
#include "tests/crash/operations.h"

const char tqt_large[100 << 10] = "large";

void tqt_prepare_none(struct tqt_world *w)
{
	(void)w;
}

void tqt_prepare_task(struct tqt_world *w)
{
	w->ids[w->id_count++] = tqt_submit_plain(w);
}

void tqt_prepare_worker(struct tqt_world *w)
{
	tqt_serve(w, 0);
}

void tqt_prepare_claim(struct tqt_world *w)
{
	tqt_serve(w, 0);
	tqt_submit_plain(w);
	tqt_claim(w);
}

/* Its record goes in the transaction that ends it. */
void tqt_prepare_forget_claim(struct tqt_world *w)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .payload = "short",
					   .payload_bytes = 5,
					   .flags = TQ_TASK_FORGET };

	tqt_serve(w, 0);
	w->ids[w->id_count++] = tqt_submit(w, &spec);
	tqt_claim(w);
}

void tqt_prepare_claims(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	for (int i = 0; i < 9; i++) {
		tqt_submit_plain(w);
		tqt_claim(w);
	}
}

void tqt_prepare_again(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	tqt_must(tq_fail(w->worker, w->claims, 0, "the first failure"), "fail");
	tqt_elapse(w, 10 * TQT_SECOND_NS);
	w->claim_count = w->id_count = 0;
	tqt_claim(w);
}

/* So many attempts have written, and the next one is under way. */
static void leave_outputs(struct tqt_world *w, uint32_t attempts, uint32_t bytes)
{
	const struct tq_verdict v = { .size = sizeof(v),
				      .kind = TQ_VERDICT_RELEASE,
				      .result = tqt_large,
				      .result_bytes = bytes };

	tqt_prepare_claim(w);
	for (uint32_t i = 0; i < attempts; i++) {
		tqt_must(tq_end(w->worker, w->claims, &v), "end");
		w->claim_count = w->id_count = 0;
		tqt_claim(w);
	}
}

void tqt_prepare_output(struct tqt_world *w)
{
	leave_outputs(w, 1, 100);
}

/* The oldest goes with its place in the history. */
void tqt_prepare_outputs(struct tqt_world *w)
{
	leave_outputs(w, TQ_HISTORY_MAX + 1, 100);
}

/* The oldest goes for the room that it takes. */
void tqt_prepare_outputs_large(struct tqt_world *w)
{
	leave_outputs(w, 3, TQI_EARLIER_BYTES / 2 + 1);
}

void tqt_prepare_outputs_ended(struct tqt_world *w)
{
	leave_outputs(w, 2, 100);
	tqt_must(tq_fail(w->worker, w->claims, 1, "for good"), "fail");
}

void tqt_prepare_reported(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	tqt_must(tq_claim_progress(w->worker, w->claims, 10, "the first of all reports"), "report");
}

void tqt_prepare_reported_twice(struct tqt_world *w)
{
	tqt_prepare_reported(w);
	tqt_must(tq_claim_progress(w->worker, w->claims, 20, "second"), "report");
}

void tqt_prepare_saved(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	tqt_must(tq_claim_checkpoint(w->worker, w->claims, TQT_SAVED_BEFORE,
				     strlen(TQT_SAVED_BEFORE)),
		 "checkpoint");
}

void tqt_prepare_inherited(struct tqt_world *w)
{
	tqt_prepare_saved(w);
	tqt_must(tq_release(w->worker, w->claims, 0), "release");
	w->claim_count = w->id_count = 0;
}

/* It has inherited a report and a checkpoint, and adds a report. */
void tqt_prepare_handed_on(struct tqt_world *w)
{
	tqt_prepare_saved(w);
	tqt_must(tq_claim_progress(w->worker, w->claims, 10, "the first of all reports"), "report");
	tqt_must(tq_release(w->worker, w->claims, 0), "release");
	w->claim_count = w->id_count = 0;
	tqt_claim(w);
	tqt_must(tq_claim_progress(w->worker, w->claims, 20, "second"), "report");
}

/* Done, with a report and a checkpoint. */
void tqt_prepare_done(struct tqt_world *w)
{
	tqt_prepare_handed_on(w);
	tqt_must(tq_complete(w->worker, w->claims, NULL, 0), "complete");
}

void tqt_prepare_stopped(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	tqt_must(tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
}

void tqt_prepare_held(struct tqt_world *w)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .flags = TQ_TASK_HOLD };

	w->ids[w->id_count++] = tqt_submit(w, &spec);
}

void tqt_prepare_delayed(struct tqt_world *w)
{
	for (uint32_t i = 0; i < 3; i++) {
		const struct tq_task_spec spec = { .size = sizeof(spec),
						   .kind = "k",
						   .delay_ns = (100 + i) * TQT_SECOND_NS };

		w->ids[w->id_count++] = tqt_submit(w, &spec);
	}
}

void tqt_prepare_cancelled(struct tqt_world *w)
{
	tqt_prepare_task(w);
	tqt_must(tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
}

void tqt_prepare_paused(struct tqt_world *w)
{
	tqt_prepare_task(w);
	tqt_steer_queue(w, TQ_QUEUE_PAUSE);
}

void tqt_prepare_drained(struct tqt_world *w)
{
	tqt_prepare_task(w);
	tqt_steer_queue(w, TQ_QUEUE_DRAIN);
}

void tqt_prepare_purged(struct tqt_world *w)
{
	tqt_prepare_worker(w);
	tqt_fill(w, 20);
	tqt_steer_queue(w, TQ_QUEUE_PURGE);
}

void tqt_prepare_shut(struct tqt_world *w)
{
	tqt_prepare_task(w);
	tqt_must(tq_shutdown(w->tq, 0), "shutdown");
}

void tqt_prepare_shut_cancel(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	tqt_fill(w, 20);
	tqt_must(tq_shutdown(w->tq, TQ_SHUTDOWN_CANCEL), "shutdown");
}

void tqt_prepare_dead(struct tqt_world *w)
{
	tqt_worker_dies(w, tqt_foreign_worker(w, TQT_PID_DEAD, 2, false));
}

/* Its lease ran out some time ago; the first look made it suspect. */
void tqt_prepare_lost(struct tqt_world *w)
{
	tqt_serve(w, TQT_SECOND_NS);
	tqt_submit_plain(w);
	tqt_claim(w);
	for (int i = 0; i < 3; i++) {
		tqt_elapse(w, 2 * TQT_SECOND_NS);
		if (i < 2)
			tqi_keep(w->other);
	}
}

void tqt_prepare_finished(struct tqt_world *w)
{
	tqt_prepare_worker(w);
	tqt_finish(w, 20);
}

static uint32_t wait_for(struct tqt_world *w, uint32_t count)
{
	uint32_t waiter = tqt_foreign_sleeper(w, TQI_INTEREST_TASKS, 0);
	struct tqi_tx tx;

	for (uint32_t i = 0; i < count;) {
		tqt_must(tqi_hold_begin(w->other, &tx), "hold");
		bool added = tqi_edge_add(&tx, waiter, tqi_id_index(w->ids[i]));
		int r = tqi_hold_end(w->other, &tx, added ? 0 : -ENOMEM);

		tqt_must(r == -ENOMEM ? tqi_make_room(w->other, 0) : r, "edge");
		i += added;
	}
	return waiter;
}

void tqt_prepare_waited(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	for (int i = 0; i < 40; i++) /* more than are told in one hold */
		wait_for(w, 1);
}

/* A claim for which two sleepers wait already, and a task that it may wait for. */
void tqt_prepare_waiting(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	for (int i = 0; i < 2; i++)
		tqt_foreign_wait(w, w->claims[0].slot);
	tqt_prepare_task(w);
}

void tqt_prepare_buried_waiting(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	tqt_sleeper_dies(w, tqt_foreign_wait(w, w->claims[0].slot));
}

void tqt_prepare_buried(struct tqt_world *w)
{
	for (int i = 0; i < 10; i++)
		tqt_prepare_task(w);
	tqt_sleeper_dies(w, wait_for(w, 10));
	tqt_sleeper_dies(w, tqt_foreign_sleeper(w, TQI_INTEREST_ROOM, 0));
}

/* Three extents reserved, hardly anything in use. */
void tqt_prepare_spare(struct tqt_world *w)
{
	struct tq_task_spec spec = {
		.size = sizeof(spec), .kind = "k", .payload = tqt_large, .payload_bytes = 60000
	};

	for (int i = 0; i < 28; i++)
		w->ids[w->id_count++] = tqt_submit(w, &spec);
	for (uint32_t i = 0; i < w->id_count; i++) {
		tqt_must(tq_task_steer(w->tq, w->ids[i], TQ_TASK_ACTION_CANCEL), "cancel");
		tqt_must(tq_task_steer(w->tq, w->ids[i], TQ_TASK_ACTION_FORGET), "forget");
	}
}

/* As many queues as their index has buckets: the next one splits a bucket. */
void tqt_prepare_queues(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts) };
	char name[TQ_NAME_MAX + 1];

	for (uint32_t i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "queue-%u", i);
		tqt_must(tq_queue_set(w->tq, name, &opts), "queue");
	}
}

/* Another process is reserving all memory that there is to have. */
void tqt_prepare_growing(struct tqt_world *w)
{
	const struct tqi_ident ident = tqi_ident_self(w->other);
	const struct tqi_geometry *g = &w->seg.geometry;
	uint32_t fixed = (uint32_t)(g->fixed_bytes >> TQI_EXTENT_SHIFT), first;
	struct tqi_tx tx;

	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	w->ids[0] = tqi_extent_grow_begin(&tx, g->extent_count - fixed, &ident, &first);
	tqt_must(tqi_hold_end(w->other, &tx, w->ids[0] ? 0 : -ENOMEM), "grow");
}
