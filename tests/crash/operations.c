/* SPDX-License-Identifier: MIT */
/* The operations of the sweep, and what each needs beforehand. */
#include <errno.h>
#include <stddef.h>

#include "client/sleeper.h"
#include "scheduler/edge.h"
#include "scheduler/steer.h"
#include "scheduler/wake.h"
#include "shm/extent.h"
#include "tests/crash/table.h"
#include "tests/crash/world.h"

#define SECOND_NS 1000000000ull
#define LONG_NS (10000 * SECOND_NS)

static const char large[100 << 10] = "large"; /* 10 KB of it in flight, or a run of two spans */
#define LARGE_BYTES (10u << 10)

/* Preparations. */

static void prepare_none(struct tqt_world *w)
{
	(void)w;
}

static void prepare_task(struct tqt_world *w)
{
	w->ids[w->id_count++] = tqt_submit_plain(w);
}

static void prepare_worker(struct tqt_world *w)
{
	tqt_serve(w, 0);
}

static void prepare_claim(struct tqt_world *w)
{
	tqt_serve(w, 0);
	tqt_submit_plain(w);
	tqt_claim(w);
}

static void prepare_claims(struct tqt_world *w)
{
	prepare_claim(w);
	for (int i = 0; i < 9; i++) {
		tqt_submit_plain(w);
		tqt_claim(w);
	}
}

static void prepare_again(struct tqt_world *w)
{
	prepare_claim(w);
	tqt_must(tq_fail(w->worker, w->claims, 0, "the first failure"), "fail");
	tqt_elapse(w, 10 * SECOND_NS);
	w->claim_count = w->id_count = 0;
	tqt_claim(w);
}

static void prepare_saved(struct tqt_world *w)
{
	prepare_claim(w);
	tqt_must(tq_claim_checkpoint(w->worker, w->claims, "saved", 5), "checkpoint");
}

static void prepare_inherited(struct tqt_world *w)
{
	prepare_saved(w);
	tqt_must(tq_release(w->worker, w->claims, 0), "release");
	w->claim_count = w->id_count = 0;
}

static void prepare_stopped(struct tqt_world *w)
{
	prepare_claim(w);
	tqt_must(tq_cancel(w->tq, w->ids[0]), "cancel");
}

static void prepare_held(struct tqt_world *w)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .flags = TQ_TASK_HOLD };

	w->ids[w->id_count++] = tqt_submit(w, &spec);
}

static void prepare_delayed(struct tqt_world *w)
{
	for (uint32_t i = 0; i < 3; i++) {
		const struct tq_task_spec spec = { .size = sizeof(spec),
						   .kind = "k",
						   .delay_ns = (100 + i) * SECOND_NS };

		w->ids[w->id_count++] = tqt_submit(w, &spec);
	}
}

static void prepare_cancelled(struct tqt_world *w)
{
	prepare_task(w);
	tqt_must(tq_cancel(w->tq, w->ids[0]), "cancel");
}

static void steer(struct tqt_world *w, enum tq_queue_action action)
{
	w->result = tq_queue_steer(w->tq, "default", action);
}

static void prepare_paused(struct tqt_world *w)
{
	prepare_task(w);
	steer(w, TQ_QUEUE_PAUSE);
}

static void prepare_drained(struct tqt_world *w)
{
	prepare_task(w);
	steer(w, TQ_QUEUE_DRAIN);
}

static void prepare_purged(struct tqt_world *w)
{
	prepare_worker(w);
	tqt_fill(w, 20);
	steer(w, TQ_QUEUE_PURGE);
}

static void prepare_shut(struct tqt_world *w)
{
	prepare_task(w);
	tqt_must(tq_shutdown(w->tq, 0), "shutdown");
}

static void prepare_shut_cancel(struct tqt_world *w)
{
	prepare_claim(w);
	tqt_fill(w, 20);
	tqt_must(tq_shutdown(w->tq, TQ_SHUTDOWN_CANCEL), "shutdown");
}

static void prepare_dead(struct tqt_world *w)
{
	tqt_worker_dies(w, tqt_foreign_worker(w, TQT_PID_DEAD, 2, false));
}

/* Its lease ran out some time ago; the first look made it suspect. */
static void prepare_lost(struct tqt_world *w)
{
	tqt_serve(w, SECOND_NS);
	tqt_submit_plain(w);
	tqt_claim(w);
	for (int i = 0; i < 3; i++) {
		tqt_elapse(w, 2 * SECOND_NS);
		if (i < 2)
			tqi_keep(w->other);
	}
}

static void prepare_finished(struct tqt_world *w)
{
	prepare_worker(w);
	tqt_finish(w, 20);
}

static uint32_t wait_for(struct tqt_world *w, uint32_t count)
{
	uint32_t waiter = tqt_foreign_sleeper(w, TQI_INTEREST_TASKS, 0);
	struct tqi_tx tx;

	for (uint32_t i = 0; i < count; i++) {
		tqt_must(tqi_hold_begin(w->other, &tx), "hold");
		bool added = tqi_edge_add(&tx, waiter, tqi_id_index(w->ids[i]));

		tqt_must(tqi_hold_end(w->other, &tx, added ? 0 : -ENOMEM), "edge");
	}
	return waiter;
}

static void prepare_waited(struct tqt_world *w)
{
	prepare_claim(w);
	for (int i = 0; i < 40; i++) /* more than are told in one hold */
		wait_for(w, 1);
}

static void prepare_buried(struct tqt_world *w)
{
	for (int i = 0; i < 10; i++)
		prepare_task(w);
	tqt_sleeper_dies(w, wait_for(w, 10));
	tqt_sleeper_dies(w, tqt_foreign_sleeper(w, TQI_INTEREST_ROOM, 0));
}

/* Three extents reserved, hardly anything in use. */
static void prepare_spare(struct tqt_world *w)
{
	struct tq_task_spec spec = { .size = sizeof(spec),
				     .payload = large,
				     .payload_bytes = 60000 };

	for (int i = 0; i < 30; i++)
		w->ids[w->id_count++] = tqt_submit(w, &spec);
	for (uint32_t i = 0; i < w->id_count; i++) {
		tqt_must(tq_cancel(w->tq, w->ids[i]), "cancel");
		tqt_must(tq_task_steer(w->tq, w->ids[i], TQ_TASK_ACTION_FORGET), "forget");
	}
}

/* Another process is reserving all memory that there is to have. */
static void prepare_growing(struct tqt_world *w)
{
	const struct tqi_ident ident = tqi_ident_self(w->other);
	const struct tqi_geometry *g = &w->seg.geometry;
	uint32_t fixed = (uint32_t)(g->fixed_bytes >> TQI_EXTENT_SHIFT), first;
	struct tqi_tx tx;

	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	w->ids[0] = tqi_extent_grow_begin(&tx, g->extent_count - fixed, &ident, &first);
	tqt_must(tqi_hold_end(w->other, &tx, w->ids[0] ? 0 : -ENOMEM), "grow");
}

/* Operations. */

static void submit(struct tqt_world *w, struct tq_task_spec spec)
{
	uint64_t id;

	spec.size = sizeof(spec);
	w->result = tq_submit(w->tq, &spec, &id);
}

static void run_submit(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){
			  .kind = "k", .label = "new", .payload = "x", .payload_bytes = 1 });
}

static void run_submit_names(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){ .queue = "new", .kind = "new", .priority = 5 });
}

static void run_submit_delayed(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){ .kind = "k", .delay_ns = SECOND_NS });
}

static void run_submit_held(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){ .kind = "k", .flags = TQ_TASK_HOLD });
}

static void run_submit_large(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){ .payload = large, .payload_bytes = LARGE_BYTES });
}

static void run_submit_run(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){ .payload = large, .payload_bytes = sizeof(large) });
}

static void make_room(void *arg)
{
	struct tqt_world *w = arg;

	tqt_must(tq_cancel(w->other, w->ids[0]), "cancel");
}

static void run_submit_waiting(struct tqt_world *w)
{
	w->system.meanwhile = make_room;
	w->system.arg = w;
	submit(w, (struct tq_task_spec){ .kind = "k", .full_timeout_ns = LONG_NS });
}

static void growth_ends(void *arg)
{
	struct tqt_world *w = arg;
	struct tqi_tx tx;

	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	tqi_extent_grow_end(&tx, w->ids[0], true);
	tqt_must(tqi_hold_end(w->other, &tx, 0), "grow");
}

static void run_submit_growing(struct tqt_world *w)
{
	w->system.meanwhile = growth_ends;
	w->system.arg = w;
	run_submit(w);
	tqt_must(w->result, "submit while another process grows");
}

static void run_submit_batch(struct tqt_world *w)
{
	struct tq_task_spec specs[4];
	uint64_t ids[4];

	for (int i = 0; i < 4; i++)
		specs[i] = (struct tq_task_spec){ .size = sizeof(specs[i]),
						  .kind = "k",
						  .payload = large,
						  .payload_bytes = i == 2 ? LARGE_BYTES : 8 };
	w->result = tq_submit_batch(w->tq, specs, 4, ids);
}

static void claim(struct tqt_world *w, uint64_t timeout_ns)
{
	w->claims[TQT_IDS_MAX - 1].size = sizeof(struct tq_claim);
	w->result = tq_claim(w->worker, timeout_ns, &w->claims[TQT_IDS_MAX - 1]);
}

static void run_claim(struct tqt_world *w)
{
	claim(w, 0);
}

static void run_claim_many(struct tqt_world *w)
{
	for (int i = 0; i < 4; i++)
		w->claims[i].size = sizeof(struct tq_claim);
	w->result = tq_claim_many(w->worker, 0, w->claims, 4);
}

static void submit_by_other(void *arg)
{
	struct tqt_world *w = arg;
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };

	tqt_must(tq_submit(w->other, &spec, NULL), "submit by another");
}

static void run_claim_sleep(struct tqt_world *w)
{
	w->system.meanwhile = submit_by_other;
	w->system.arg = w;
	claim(w, LONG_NS);
}

static void run_claim_timeout(struct tqt_world *w)
{
	claim(w, SECOND_NS);
}

static void run_claim_purged(struct tqt_world *w)
{
	claim(w, 0);
}

static void run_claim_saved(struct tqt_world *w)
{
	claim(w, 0);
}

static void next(struct tqt_world *w, uint64_t bytes)
{
	const struct tq_verdict v = {
		.size = sizeof(v), .kind = TQ_VERDICT_DONE, .result = large, .result_bytes = bytes
	};
	struct tq_claim *claim = &w->claims[TQT_IDS_MAX - 1];
	int verdict;

	claim->size = sizeof(*claim);
	w->result = tq_next(w->worker, w->claims, &v, 0, claim, &verdict);
	if (w->result == -EAGAIN)
		w->result = verdict; /* nothing to claim: the verdict has been made */
}

static void run_next(struct tqt_world *w)
{
	next(w, 0);
}

static void run_next_large(struct tqt_world *w)
{
	next(w, LARGE_BYTES);
}

static void run_renew(struct tqt_world *w)
{
	w->result = tq_renew(w->worker);
}

static void run_complete(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

static void run_complete_result(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, large, 100);
}

static void run_complete_large(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, large, LARGE_BYTES);
}

static void run_complete_waited(struct tqt_world *w)
{
	run_complete(w);
}

static void run_end_stopped(struct tqt_world *w)
{
	const struct tq_verdict v = { .size = sizeof(v),
				      .kind = TQ_VERDICT_FAIL,
				      .cause = TQ_CAUSE_SIGNAL,
				      .cause_arg = 15,
				      .result = "tail",
				      .result_bytes = 4,
				      .output_bytes = 100,
				      .max_rss_bytes = 1,
				      .cpu_ns = 1,
				      .text = "stopped" };

	w->result = tq_end(w->worker, w->claims, &v);
}

static void run_fail_again(struct tqt_world *w)
{
	w->result = tq_fail(w->worker, w->claims, 0, "it failed again");
}

static void run_fail_last(struct tqt_world *w)
{
	w->result = tq_fail(w->worker, w->claims, 1, "for good");
}

static void run_fail_history(struct tqt_world *w)
{
	run_fail_again(w);
}

static void run_fail_saved(struct tqt_world *w)
{
	run_fail_again(w);
}

static void run_release(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, 0);
}

static void run_release_later(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, SECOND_NS);
}

static void run_progress(struct tqt_world *w)
{
	w->result = tq_claim_progress(w->worker, w->claims, 42, "halfway");
}

static void run_checkpoint(struct tqt_world *w)
{
	w->result = tq_claim_checkpoint(w->worker, w->claims, "checkpoint", 10);
}

static void run_checkpoint_next(struct tqt_world *w)
{
	run_checkpoint(w);
}

static void cancel_by_other(void *arg)
{
	struct tqt_world *w = arg;

	tqt_must(tq_cancel(w->other, w->ids[0]), "cancel by another");
}

static void run_claim_stop(struct tqt_world *w)
{
	w->system.meanwhile = cancel_by_other;
	w->system.arg = w;
	w->result = tq_claim_wait_stop(w->worker, w->claims, LONG_NS);
}

static void cancel(struct tqt_world *w)
{
	w->result = tq_cancel(w->tq, w->ids[0]);
}

static void run_cancel_waiting(struct tqt_world *w)
{
	cancel(w);
}

static void run_cancel_delayed(struct tqt_world *w)
{
	cancel(w);
}

static void run_cancel_running(struct tqt_world *w)
{
	cancel(w);
}

static void task_steer(struct tqt_world *w, enum tq_task_action action)
{
	w->result = tq_task_steer(w->tq, w->ids[0], action);
}

static void run_retry(struct tqt_world *w)
{
	task_steer(w, TQ_TASK_ACTION_RETRY);
}

static void run_forget(struct tqt_world *w)
{
	task_steer(w, TQ_TASK_ACTION_FORGET);
}

static void run_hold(struct tqt_world *w)
{
	task_steer(w, TQ_TASK_ACTION_HOLD);
}

static void run_unhold(struct tqt_world *w)
{
	task_steer(w, TQ_TASK_ACTION_UNHOLD);
}

static void update(struct tqt_world *w, struct tq_task_update u)
{
	u.size = sizeof(u);
	w->result = tq_task_update(w->tq, w->ids[0], &u);
}

static void run_update_priority(struct tqt_world *w)
{
	update(w, (struct tq_task_update){ .fields = TQ_UPDATE_PRIORITY, .priority = 7 });
}

static void run_update_queue(struct tqt_world *w)
{
	update(w, (struct tq_task_update){ .fields = TQ_UPDATE_QUEUE, .queue = "other" });
}

static void run_update_delay(struct tqt_world *w)
{
	update(w, (struct tq_task_update){ .fields = TQ_UPDATE_DELAY, .delay_ns = SECOND_NS });
}

static void run_queue_new(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = 5 };

	w->result = tq_queue_set(w->tq, "new", &opts);
}

static void run_queue_set(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts),
					    .depth_max = 5,
					    .timeout_ns = SECOND_NS,
					    .backoff_ns = 1,
					    .backoff_cap_ns = 2,
					    .attempts_max = 3 };

	w->result = tq_queue_set(w->tq, "default", &opts);
}

static void run_pause(struct tqt_world *w)
{
	steer(w, TQ_QUEUE_PAUSE);
}

static void run_resume(struct tqt_world *w)
{
	steer(w, TQ_QUEUE_RESUME);
}

static void run_drain(struct tqt_world *w)
{
	steer(w, TQ_QUEUE_DRAIN);
}

static void run_undrain(struct tqt_world *w)
{
	steer(w, TQ_QUEUE_UNDRAIN);
}

static void run_purge(struct tqt_world *w)
{
	steer(w, TQ_QUEUE_PURGE);
}

static void run_shutdown(struct tqt_world *w)
{
	w->result = tq_shutdown(w->tq, 0);
}

static void run_shutdown_cancel(struct tqt_world *w)
{
	w->result = tq_shutdown(w->tq, TQ_SHUTDOWN_CANCEL);
}

static void run_shutdown_undo(struct tqt_world *w)
{
	w->result = tq_shutdown(w->tq, TQ_SHUTDOWN_UNDO);
}

static void run_worker_open(struct tqt_world *w)
{
	const struct tq_worker_opts opts = { .size = sizeof(opts), .lease_ns = SECOND_NS };

	w->result = tq_worker_open(w->tq, &opts, &w->opened);
}

static void run_worker_kinds(struct tqt_world *w)
{
	static const char *const names[] = { "new1", "new2" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = names,
					     .kinds = names,
					     .queue_count = 2,
					     .kind_count = 2 };

	w->result = tq_worker_open(w->tq, &opts, &w->opened);
}

static void run_worker_close(struct tqt_world *w)
{
	w->worker = tq_worker_close(w->worker);
}

static void run_worker_leave(struct tqt_world *w)
{
	run_worker_close(w);
}

static void run_worker_leave_many(struct tqt_world *w)
{
	run_worker_close(w);
}

static void complete_all(void *arg)
{
	struct tqt_world *w = arg;

	for (uint32_t i = 0; i < w->claim_count; i++)
		tqt_must(tq_complete(w->worker, &w->claims[i], NULL, 0), "complete meanwhile");
}

static void run_wait(struct tqt_world *w)
{
	w->system.meanwhile = complete_all;
	w->system.arg = w;
	w->result = tq_wait(w->tq, w->ids[0], LONG_NS, NULL);
}

static void run_wait_timeout(struct tqt_world *w)
{
	w->result = tq_wait(w->tq, w->ids[0], SECOND_NS, NULL);
}

static void run_wait_many(struct tqt_world *w)
{
	w->system.meanwhile = complete_all;
	w->system.arg = w;
	w->result = tq_wait_many(w->tq, w->ids, w->id_count, TQ_WAIT_ALL, LONG_NS, NULL);
}

static void run_wait_state(struct tqt_world *w)
{
	w->result = tq_wait_state(w->tq, w->ids[0], 1u << TQ_RUNNING, SECOND_NS, NULL);
}

/* Under the lock, changing nothing. */
static void run_check(struct tqt_world *w)
{
	w->result = tq_check(w->tq, TQ_CHECK_EXACT, NULL, NULL);
}

/* What tq_close() does to a segment: one hold, for a wait slot left over. */
static void run_close(struct tqt_world *w)
{
	struct tqi_tx tx;

	w->result = tqi_hold_begin(w->tq, &tx);
	if (w->result == 0)
		w->result = tqi_hold_end(w->tq, &tx, 0);
}

/* What tq_destroy() does before the unlink (client/segment.c). */
static void run_destroy(struct tqt_world *w)
{
	struct tqi_tx tx;
	bool more = true;

	tqi_store_release32(&tqi_segment_header(&w->tq->seg)->destroyed, 1);
	while (more && tqi_hold_force(w->tq, &tx) == 0) {
		tqi_steer_destroy(&tx);
		more = tqi_wake_all(&tx);
		if (tqi_hold_end(w->tq, &tx, 0) < 0)
			break;
	}
}

static void keep(struct tqt_world *w, uint64_t later_ns)
{
	tqt_elapse(w, later_ns);
	tqi_keep(w->tq);
}

static void run_keep_idle(struct tqt_world *w)
{
	keep(w, 0);
}

static void run_keep_dead(struct tqt_world *w)
{
	keep(w, 0);
}

static void run_keep_lease(struct tqt_world *w)
{
	keep(w, 0);
}

static void run_keep_due(struct tqt_world *w)
{
	keep(w, 200 * SECOND_NS);
}

static void run_keep_sweep(struct tqt_world *w)
{
	keep(w, 0);
}

static void run_keep_cancel(struct tqt_world *w)
{
	keep(w, 0);
}

static void run_keep_retire(struct tqt_world *w)
{
	keep(w, LONG_NS); /* more than the retention of an hour */
}

static void run_keep_bury(struct tqt_world *w)
{
	keep(w, 0);
}

static void run_keep_punch(struct tqt_world *w)
{
	keep(w, 0);
}

const struct tqt_operation tqt_operations[] = {
#define OPERATION(name, function, prepare, rule, states)                                           \
	{ #name, #function, TQT_##rule, states, prepare_##prepare, run_##name },
	TQT_OPERATIONS(OPERATION)
#undef OPERATION
};
const uint32_t tqt_operation_count = sizeof(tqt_operations) / sizeof(tqt_operations[0]);
