/* SPDX-License-Identifier: MIT */
/*
 * Late comers: a holder's record that is not of this lock, a journal that is of no
 * transaction, a verdict of an earlier attempt,
 * a command that outlives its worker, a signal that its sender did not live to note, a
 * reader that the ring has lapped.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linux/futex.h>
#include <string.h>

#include "client/core/sleeper.h"
#include "client/core/stopper.h"
#include "shm/lock.h"
#include "taskq/taskq.h"
#include "tests/crash/world.h"
#include "tests/support/box.h"

#define TIMEOUT_NS 50000000ull /* 50 ms: several slices, each with an attempt at repair */
#define TID_GONE 0x00600001u
#define TID_ALIVE 0x00600002u

static bool thread_gone(void *ctx, uint32_t tid, uint64_t start)
{
	(void)ctx, (void)start;
	return tid == TID_GONE;
}

/* The lock's word bears `word`, the record was written by `recorded`. */
static int lock_held_by(uint32_t word, uint32_t recorded)
{
	const struct tqi_thread self = { .pid = 1, .tid = 1, .start = 1 };
	struct tqt_box box;

	tqt_box_open(&box, NULL);
	struct tqi_core *core = tqi_segment_core(&box.seg);

	box.system.ops.thread_gone = thread_gone;
	*(volatile uint32_t *)(void *)&core->lock = word;
	tqi_store_relaxed32(&core->holder_tid, recorded);
	tqi_store_relaxed64(&core->holder_start, 7);
	int r = tqi_lock(&box.seg, &self, TIMEOUT_NS);

	if (r == 0)
		tqi_unlock(&box.seg);
	else
		assert_int_equal(*(volatile uint32_t *)(void *)&core->lock & 0x3fffffff, word);
	tqt_box_close(&box);
	return r;
}

static void a_lock_is_repaired_only_from_its_own_record(void **state)
{
	(void)state;
	assert_int_equal(lock_held_by(TID_GONE, TID_GONE), 0);
	assert_int_equal(lock_held_by(TID_ALIVE, TID_ALIVE), TQ_ELOCKED);
	/* e1_stalerec: the dead one wrote the record, a live one holds the lock. */
	assert_int_equal(lock_held_by(TID_ALIVE, TID_GONE), TQ_ELOCKED);
	assert_int_equal(lock_held_by(TID_GONE, TID_ALIVE), TQ_ELOCKED);
}

/* TX-7: what is left in the journal's slots is of transactions that have ended. */
static void a_journal_of_no_transaction_is_not_undone(void **state)
{
	static const uint64_t lengths[] = { UINT32_MAX, TQI_JOURNAL_MAX, 1, 5 * TQI_UNDO_ONE };
	const struct tqi_thread self = { .pid = 1, .tid = 1, .start = 1 };
	struct tqt_box box;

	(void)state;
	tqt_box_open(&box, NULL);
	struct tqi_core *core = tqi_segment_core(&box.seg);

	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		core->undo = lengths[i];
		*(volatile uint32_t *)(void *)&core->lock = FUTEX_OWNER_DIED;
		assert_int_equal(tqi_lock(&box.seg, &self, TIMEOUT_NS), TQ_ECORRUPT);
		assert_int_equal(tqi_lock(&box.seg, &self, TIMEOUT_NS), TQ_ECORRUPT);
		assert_int_equal(core->undo, lengths[i]);
		assert_int_equal(tqi_segment_header(&box.seg)->magic, TQI_MAGIC);
	}
	tqi_tx_forget(&box.seg);
	assert_int_equal(tqi_lock(&box.seg, &self, TIMEOUT_NS), 0);
	tqi_unlock(&box.seg);
	tqt_box_close(&box);
}

static void die(struct tqt_world *w)
{
	struct tqi_worker *record = tqi_worker_record(w->worker);

	pthread_mutex_unlock(&record->life);
	tqt_worker_dies(w, w->worker->index);
	w->system.dead_from = 1;
	tqi_keep(w->other);
	w->system.dead_from = 0;
}

static void a_verdict_of_an_earlier_attempt_is_refused(void **state)
{
	static const char *const queues[] = { "default" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = queues,
					     .queue_count = 1 };
	const struct tqt_world_options options = { 0 };
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_task_info info = { .size = sizeof(info) };
	struct tq_worker *second;
	struct tqt_world w;

	(void)state;
	tqt_world_open(&w, &options);
	tqt_serve(&w, 0);
	tqt_submit_plain(&w);
	tqt_claim(&w);
	die(&w);
	assert_int_equal(tq_worker_open(w.other, &opts, &second), 0);
	assert_int_equal(tq_claim(second, 0, &claim), 0);
	/* The same worker's record, attempt's record and task: only the epoch tells. */
	assert_int_equal(second->index, w.worker->index);
	assert_int_equal(claim.slot, w.claims[0].slot);
	assert_int_equal(claim.id, w.claims[0].id);
	assert_int_equal(tq_complete(w.worker, &w.claims[0], "late", 4), TQ_ELEASE);
	assert_int_equal(tq_claim_progress(w.worker, &w.claims[0], 1, "late"), TQ_ELEASE);
	assert_int_equal(tq_renew(w.worker), TQ_ELEASE);
	assert_int_equal(tq_task_info(w.tq, claim.id, &info), 0);
	assert_int_equal(info.state, TQ_RUNNING);
	assert_int_equal(tq_complete(second, &claim, NULL, 0), 0);
	tq_worker_close(second);
	tqt_world_close(&w);
}

#define GROUP_EMPTY 1111u
#define GROUP_RUNS 2222u

static bool only_one_group_is_empty(void *ctx, uint32_t pgid, uint64_t start)
{
	(void)ctx, (void)start;
	return pgid == GROUP_EMPTY;
}

static bool all_are_empty(void *ctx, uint32_t pgid, uint64_t start)
{
	(void)ctx, (void)pgid, (void)start;
	return true;
}

static void run_command(struct tqt_world *w, uint32_t attempt, uint32_t pgid)
{
	struct tqi_attempt *a = tqi_table_peek(&w->seg, TQI_ATTEMPTS, attempt);

	tqi_store_relaxed32(&a->pgid, pgid);
}

/* Two commands of a dead worker: while one of them runs, no attempt ends by that death. */
static void every_group_of_a_dead_worker_is_asked(void **state)
{
	static const uint32_t pgids[][2] = { { GROUP_EMPTY, GROUP_RUNS },
					     { GROUP_RUNS, GROUP_EMPTY } };
	const struct tqt_world_options options = { 0 };
	struct tqt_world w;

	(void)state;
	for (int order = 0; order < 2; order++) {
		tqt_world_open(&w, &options);
		uint32_t index = tqt_foreign_worker(&w, TQT_PID_DEAD, 2, false);
		const struct tqi_worker *worker = tqi_table_peek(&w.seg, TQI_WORKERS, index);
		const struct tqi_attempt *first =
			tqi_table_peek(&w.seg, TQI_ATTEMPTS, worker->attempts);

		run_command(&w, worker->attempts, pgids[order][0]);
		run_command(&w, first->next, pgids[order][1]);
		w.system.ops.group_empty = only_one_group_is_empty;
		tqt_worker_dies(&w, index);
		tqi_keep(w.other);
		assert_int_equal(worker->attempt_count, 2);
		w.system.ops.group_empty = all_are_empty;
		tqt_elapse(&w, 10000000000ull);
		tqi_keep(w.other);
		assert_int_equal(worker->state, TQI_WORKER_FREE);
		tqt_world_close(&w);
	}
}

struct sent {
	const struct tqi_core *core;
	uint32_t count;
};

/* S1: killed here, its successor sees that the signal has been sent. */
static void send(void *arg, struct tqi_attempt *attempt, int signal)
{
	struct sent *sent = arg;

	assert_int_equal(signal, SIGTERM);
	assert_int_equal(sent->core->undo_count, 0);
	assert_int_equal(attempt->phase, TQI_PHASE_TERM);
	sent->count++;
}

static void a_phase_is_committed_before_its_signal_is_sent(void **state)
{
	const struct tqt_world_options options = { 0 };
	struct tqt_world w;
	struct tqi_tx tx;

	(void)state;
	tqt_world_open(&w, &options);
	tqt_serve(&w, 0);
	tqi_worker_record(w.worker)->kill = TQ_KILL_PROCESS;
	tqt_submit_plain(&w);
	tqt_claim(&w);
	tqt_must(tq_task_steer(w.other, w.ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
	struct sent sent = { .core = tqi_segment_core(&w.seg) };

	for (int i = 0; i < 2; i++) { /* the second finds nothing to do */
		tqt_must(tqi_hold_begin(w.tq, &tx), "hold");
		tqi_stopper_run(&tx, w.worker->index, 0, send, &sent);
		tqt_must(tqi_hold_end(w.tq, &tx, 0), "hold");
	}
	assert_int_equal(sent.count, 1);
	tqt_world_close(&w);
}

/* What writers do while a reader copies from the ring: they lap it.  (Linked by --wrap.) */
static struct tqt_world *lapping;

static void write_trace(struct tqt_world *w, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		w->system.now_ns++;
		tqt_must(tq_task_steer(w->tq, tqt_submit_plain(w), TQ_TASK_ACTION_CANCEL),
			 "cancel");
	}
}

int __real_tqi_peek(const struct tqi_segment *seg, uint64_t offset, void *to, uint64_t bytes);
int __wrap_tqi_peek(const struct tqi_segment *seg, uint64_t offset, void *to, uint64_t bytes);

int __wrap_tqi_peek(const struct tqi_segment *seg, uint64_t offset, void *to, uint64_t bytes)
{
	struct tqt_world *w = lapping;

	if (w && offset >= seg->geometry.ring && bytes > sizeof(uint64_t)) {
		lapping = NULL;
		write_trace(w, (uint32_t)(seg->geometry.ring_slots / 4));
	}
	return __real_tqi_peek(seg, offset, to, bytes);
}

/* What a reader gets never goes back, though the ring laps it in the middle of a copy. */
static void entries_that_were_lapped_are_skipped(void **state)
{
	const struct tqt_world_options options = { 0 };
	struct tq_trace_entry entries[64] = { { .size = sizeof(entries[0]) } };
	uint64_t cursor = 0, lost, last_ns = 0, number = 0;
	struct tqt_world w;
	int n;

	(void)state;
	tqt_world_open(&w, &options);
	write_trace(&w, (uint32_t)w.seg.geometry.ring_slots);
	lapping = &w;
	while ((n = tq_trace_read(w.other, &cursor, entries, 64, &lost)) > 0)
		for (int i = 0; i < n; i++) {
			assert_true(entries[i].number > number);
			assert_true(entries[i].time_ns >= last_ns);
			number = entries[i].number;
			last_ns = entries[i].time_ns;
		}
	assert_int_equal(n, 0);
	assert_null(lapping); /* the ring was lapped */
	assert_int_equal(last_ns, w.system.now_ns);
	tqt_world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_is_repaired_only_from_its_own_record),
		{ "fault.D1: a journal of no transaction is not undone",
		  a_journal_of_no_transaction_is_not_undone, NULL, NULL, NULL },
		cmocka_unit_test(a_verdict_of_an_earlier_attempt_is_refused),
		cmocka_unit_test(every_group_of_a_dead_worker_is_asked),
		cmocka_unit_test(a_phase_is_committed_before_its_signal_is_sent),
		cmocka_unit_test(entries_that_were_lapped_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
