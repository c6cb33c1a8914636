/* SPDX-License-Identifier: MIT */
/* scheduler/: order, budgets, back-off, purge, eviction, ids, transitions. */
#include "tests/unit/fixture.h"

#include <errno.h>

#include "taskq/error.h"

static void run_due(struct fixture *f)
{
	bool more = true;

	while (more) {
		begin(f);
		more = tqi_due_run(&f->tx, 8);
		commit(f);
	}
}

/* B1: bigger priority first; equal: first submitted, first started. */
static void test_order(void **state)
{
	static const int32_t priorities[] = { 0, 5, INT32_MIN, 0, INT32_MAX, 5, -1 };
	static const uint32_t order[] = { 4, 1, 5, 0, 3, 6, 2 };
	struct tqi_claimed c;
	struct fixture f;
	uint64_t ids[7];

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	for (uint32_t i = 0; i < 7; i++)
		ids[i] = submit(&f, (struct tq_task_spec){ .priority = priorities[i] });
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(claim(&f, worker, &c), ids[order[i]]);
	assert_int_equal(claim(&f, worker, &c), 0);
	close_fixture(&f);
}

/* E1: release keeps its place; a retry does too, by its sequence. */
static void test_release_keeps_place(void **state)
{
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);
	uint64_t first = submit(&f, (struct tq_task_spec){ .priority = 0 });

	submit(&f, (struct tq_task_spec){ .priority = 0 });
	assert_int_equal(claim(&f, worker, &c), first);
	end(&f, worker, &c, RELEASE);
	assert_int_equal(claim(&f, worker, &c), first);
	assert_int_equal(task_of(&f, first)->failures, 0);
	close_fixture(&f);
}

/* B8: queues in the worker's strict order, whatever the priorities. */
static void test_queues_in_strict_order(void **state)
{
	static const char *const names[] = { "one", "two" };
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	const struct tqi_worker_request request = {
		.owner = &owner, .name = "", .queues = names, .queue_count = 2
	};
	struct tqi_claimed c;
	struct fixture f;
	uint32_t worker;

	(void)state;
	open_fixture(&f, 100);
	begin(&f);
	assert_int_equal(tqi_worker_register(&f.tx, &request, &worker), 0);
	commit(&f);
	uint64_t two = submit(&f, (struct tq_task_spec){ .queue = "two", .priority = 1000 });
	uint64_t one = submit(&f, (struct tq_task_spec){ .queue = "one", .priority = -1000 });

	submit(&f, (struct tq_task_spec){ .queue = "three" });
	assert_int_equal(claim(&f, worker, &c), one);
	assert_int_equal(claim(&f, worker, &c), two);
	assert_int_equal(claim(&f, worker, &c), 0);
	close_fixture(&f);
}

/* E5: uniform in d..2d, d doubles up to the cap. */
static void test_backoff_bounds(void **state)
{
	const uint64_t base = SECOND, cap = 5 * SECOND;
	uint64_t least = UINT64_MAX, most = 0;
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	uint32_t worker = add_worker(&f, "default", 0);

	for (int i = 0; i < 100; i++) {
		uint64_t id = submit(&f, (struct tq_task_spec){ .attempts_max = 6,
								.backoff_ns = base,
								.backoff_cap_ns = cap });

		for (uint64_t d = base; task_of(&f, id)->state != TQ_FAILED;
		     d = d * 2 < cap ? d * 2 : cap) {
			struct tqi_claimed c;

			assert_int_equal(claim(&f, worker, &c), id);
			end(&f, worker, &c, FAIL);
			if (task_of(&f, id)->state != TQ_DELAYED)
				continue;
			uint64_t wait = task_of(&f, id)->due_ns - f.box.system.now_ns;

			assert_in_range(wait, d, 2 * d - 1);
			if (d == base) {
				least = wait < least ? wait : least;
				most = wait > most ? wait : most;
			}
			f.box.system.now_ns += wait;
			run_due(&f);
		}
		assert_int_equal(task_of(&f, id)->failures, 6);
	}
	assert_true(least < base + base / 10 && most > 2 * base - base / 10);
	close_fixture(&f);
}

/* E5: crashes have a budget of their own; A3: the last attempts are kept, oldest dropped. */
static void test_crashes_and_history(void **state)
{
	const struct tqi_death segv = { .cause = TQ_CAUSE_SIGNAL, .cause_arg = 11 };
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint64_t id = submit(&f, (struct tq_task_spec){ .crashes_max = 12 });

	for (uint32_t i = 1; i <= 12; i++) {
		uint32_t worker = add_worker(&f, "default", 0);
		struct tqi_worker *w = tqi_table_peek(&f.box.seg, TQI_WORKERS, worker);

		assert_int_equal(claim(&f, worker, &c), id);
		tqt_mutex_die(&w->life);
		begin(&f);
		assert_true(tqi_worker_dead(&f.tx, worker, w->generation, &segv));
		commit(&f);
	}
	const struct tqi_task *t = task_of(&f, id);

	assert_int_equal(t->state, TQ_FAILED);
	assert_int_equal(t->cause, TQ_CAUSE_SIGNAL);
	assert_int_equal(t->cause_arg, 11);
	assert_int_equal(t->failures, 0);
	begin(&f);
	const struct tq_attempt_info *ring = tqi_unit(&f.tx, t->history);

	for (uint32_t n = 0; n < TQ_HISTORY_MAX; n++)
		assert_int_equal(ring[(t->history_count + n) % TQ_HISTORY_MAX].number, 5 + n);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

/* A1, E5: at most once: the first start is the only one. */
static void test_at_most_once(void **state)
{
	const struct tqi_death released = { .cause = TQ_CAUSE_RELEASED };
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint64_t id = submit(
		&f, (struct tq_task_spec){ .flags = TQ_TASK_AT_MOST_ONCE, .attempts_max = 5 });
	uint32_t worker = add_worker(&f, "default", 0);
	const struct tqi_worker *w = tqi_table_peek(&f.box.seg, TQI_WORKERS, worker);

	claim(&f, worker, &c);
	begin(&f);
	tqi_worker_dead(&f.tx, worker, w->generation, &released);
	commit(&f);
	assert_int_equal(task_of(&f, id)->state, TQ_FAILED);
	close_fixture(&f);
}

/* H1: purge cancels what waits now; what comes after is spared. */
static void test_purge_spares_later_ones(void **state)
{
	enum {
		COUNT = 30
	};
	uint64_t ids[COUNT];
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	for (int i = 0; i < COUNT; i++)
		ids[i] = submit(&f, (struct tq_task_spec){ .delay_ns = i % 2 ? SECOND : 0 });
	uint64_t running = claim(&f, worker, &c);

	begin(&f);
	assert_int_equal(tqi_queue_purge(&f.tx, 1), COUNT - 1);
	commit(&f);
	uint64_t later = submit(&f, (struct tq_task_spec){ .priority = -5 });

	/* Honoured at once, though nothing has been swept yet. */
	struct tqi_claimed next;
	uint64_t got = 0;

	for (int i = 0; i < 10 && !got; i++)
		got = claim(&f, worker, &next);
	assert_int_equal(got, later);
	for (bool more = true; more;) {
		begin(&f);
		more = tqi_sweep_slice(&f.tx);
		commit(&f);
	}
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(task_of(&f, ids[i])->state,
				 ids[i] == running ? TQ_RUNNING : TQ_CANCELLED);
	assert_int_equal(tqi_queue_at(&f.tx, 1)->waiting, 0);
	close_fixture(&f);
}

/* A4: finished records never make a submit fail; the oldest goes; pinned ones stay. */
static void test_full_table_evicts_oldest(void **state)
{
	enum {
		MAX = 20
	};
	uint64_t ids[MAX];
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, MAX);
	uint32_t worker = add_worker(&f, "default", 0);

	for (int i = 0; i < MAX; i++) {
		ids[i] = submit(&f, (struct tq_task_spec){ .flags = i == 0 ? TQ_TASK_KEEP : 0 });
		claim(&f, worker, &c);
		end(&f, worker, &c, DONE);
	}
	uint64_t next = submit(&f, (struct tq_task_spec){ .priority = 0 });

	assert_int_equal(tqi_id_index(next), tqi_id_index(ids[1]));
	assert_int_equal(tqi_id_generation(next), tqi_id_generation(ids[1]) + 1);
	begin(&f);
	uint32_t index;

	assert_int_equal(tqi_task_find(&f.tx, ids[1], &index), TQ_EGONE);
	assert_int_equal(tqi_task_find(&f.tx, ids[0], &index), 0);
	assert_int_equal(tqi_task_find(&f.tx, next, &index), 0);
	assert_int_equal(tqi_task_find(&f.tx, 0, &index), -ENOENT);
	assert_int_equal(tqi_task_find(&f.tx, next + (1ull << TQI_INDEX_BITS), &index), -ENOENT);
	assert_int_equal(tqi_task_find(&f.tx, UINT64_MAX, &index), -ENOENT);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

/* A1: an id is never reused: a slot whose generation is used up is retired. */
static void test_generation_is_retired(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint64_t id = submit(&f, (struct tq_task_spec){ .flags = TQ_TASK_FORGET });
	struct tqi_task *t = task_of(&f, id);

	t->generation = TQI_GENERATION_MAX - 1;
	begin(&f);
	assert_int_equal(tqi_steer_cancel(&f.tx, tqi_id_make(tqi_id_index(id), t->generation)), 0);
	commit(&f);
	assert_int_equal(t->generation, TQI_GENERATION_MAX);
	assert_int_not_equal(tqi_id_index(submit(&f, (struct tq_task_spec){ .priority = 0 })),
			     tqi_id_index(id));
	close_fixture(&f);
}

/* A4: fire and forget leaves no record. */
static void test_forget_is_flat(void **state)
{
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 50);
	uint32_t worker = add_worker(&f, "default", 0);

	for (int i = 0; i < 2000; i++) {
		submit(&f, (struct tq_task_spec){ .flags = TQ_TASK_FORGET,
						  .payload = "payload",
						  .payload_bytes = 7 });
		claim(&f, worker, &c);
		end(&f, worker, &c, DONE);
	}
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_TASKS].count, 2);
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_TASKS].live, 0);
	close_fixture(&f);
}

/* E1: the epoch grows with each attempt; a stale verdict changes nothing. */
static void test_stale_verdict(void **state)
{
	struct tqi_claimed first, second;
	const struct tqi_verdict done = DONE;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);
	uint64_t id = submit(&f, (struct tq_task_spec){ .attempts_max = 3 });

	claim(&f, worker, &first);
	end(&f, worker, &first, RELEASE);
	claim(&f, worker, &second);
	begin(&f);
	assert_int_equal(tqi_end(&f.tx, worker, first.attempt, id, 1, &done), TQ_ELEASE);
	assert_int_equal(f.tx.undo_count, 0);
	assert_int_equal(tqi_end(&f.tx, worker, second.attempt, id, 2, &done), 0);
	commit(&f);
	assert_int_equal(task_of(&f, id)->state, TQ_DONE);
	close_fixture(&f);
}

/* The same where the task went with its attempt, and nothing was written to its record. */
static void test_second_verdict(void **state)
{
	const struct tqi_verdict done = DONE;
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	submit(&f, (struct tq_task_spec){ .flags = TQ_TASK_FORGET });
	claim(&f, worker, &c);
	begin(&f);
	assert_int_equal(tqi_end(&f.tx, worker, c.attempt, c.id, 1, &done), 0);
	assert_int_equal(tqi_end(&f.tx, worker, c.attempt, c.id, 1, &done), TQ_ELEASE);
	commit(&f);
	begin(&f);
	assert_int_equal(tqi_end(&f.tx, worker, c.attempt, c.id, 1, &done), TQ_ELEASE);
	assert_int_equal(f.tx.undo_count, 0);
	commit(&f);
	close_fixture(&f);
}

/* A2: what the table allows, and nothing else. */
static void test_transitions(void **state)
{
	(void)state;
	for (uint32_t to = 0; to < TQ_STATE_COUNT; to++) /* freed, or a new life */
		assert_int_equal(tqi_transition_is_legal(TQ_DONE, to), to <= TQ_READY);
	for (uint32_t from = 0; from < TQ_STATE_COUNT; from++)
		assert_int_equal(tqi_transition_is_legal(from, TQ_RUNNING), from == TQ_READY);
	assert_false(tqi_transition_is_legal(TQ_STATE_COUNT, TQ_READY));
	assert_false(tqi_transition_is_legal(TQ_READY, TQ_STATE_COUNT));
	assert_false(tqi_transition_is_legal(TQ_RUNNING, TQ_FREE));
	assert_true(tqi_transition_is_legal(TQ_FAILED, TQ_READY));
}

/* C3, E2: two phases, and only unbroken time of the judge counts. */
static void test_lease_in_two_phases(void **state)
{
	struct tqi_claimed c;
	struct tqi_look look;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 6 * SECOND);
	const struct tqi_attempt *a;

	submit(&f, (struct tq_task_spec){ .priority = 0 });
	claim(&f, worker, &c);
	a = tqi_table_peek(&f.box.seg, TQI_ATTEMPTS, c.attempt);
	for (int suspended = 1; suspended >= 0; suspended--) {
		f.box.system.now_ns +=
			3600 * SECOND; /* nobody has looked for an hour: asleep, all of us */
		for (int seconds = 0; seconds < 2; seconds++) {
			begin(&f);
			tqi_look(&f.tx, &look);
			commit(&f);
			assert_int_equal(a->phase, TQI_PHASE_NONE);
			f.box.system.now_ns += SECOND;
		}
	}
	for (int seconds = 0; seconds < 3; seconds++) {
		begin(&f);
		tqi_look(&f.tx, &look);
		commit(&f);
		f.box.system.now_ns += SECOND;
	}
	assert_int_equal(a->phase, TQI_PHASE_ASKED);
	assert_int_equal(a->stop_cause, TQ_CAUSE_LEASE_LOST);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_release_keeps_place),
		cmocka_unit_test(test_queues_in_strict_order),
		cmocka_unit_test(test_backoff_bounds),
		cmocka_unit_test(test_crashes_and_history),
		cmocka_unit_test(test_at_most_once),
		cmocka_unit_test(test_purge_spares_later_ones),
		cmocka_unit_test(test_full_table_evicts_oldest),
		cmocka_unit_test(test_generation_is_retired),
		cmocka_unit_test(test_forget_is_flat),
		cmocka_unit_test(test_stale_verdict),
		cmocka_unit_test(test_second_verdict),
		cmocka_unit_test(test_transitions),
		cmocka_unit_test(test_lease_in_two_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
