/* SPDX-License-Identifier: MIT */
/* shm/wait.c and scheduler/worker/wake.c: the chain of sleepers, keepers, pops, burials. */
#include "tests/unit/fixture.h"

#include "shm/domain.h"
#include "shm/lock.h"

static const struct tqi_ident self = { .pid = 1, .tid = 1, .start = 1 };

static void leave(struct fixture *f, uint32_t w)
{
	begin(f);
	tqi_sleep_leave(&f->tx, w);
	commit(f);
}

static bool is_woken(struct fixture *f, uint32_t w, uint32_t *word)
{
	uint32_t now = tqi_load_relaxed32(&sleeper_of(f, w)->word);
	bool woken = now != *word;

	*word = now;
	return woken;
}

/* WT-1: the mutex says who owns the slot, from the commit that takes it to the one that frees it. */
static void test_mutex_says_owner(void **state)
{
	struct fixture f;
	bool full;

	(void)state;
	open_fixture(&f, 100);
	leave(&f, fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0)); /* so that there is a slot */
	begin(&f);
	uint32_t w = tqi_sleep_enter(&f.tx, &self, TQI_INTEREST_TASKS, 0, &full);

	assert_int_equal(tqi_mutex_owner(&sleeper_of(&f, w)->mutex), gettid());
	tqi_tx_abort(&f.tx);
	assert_int_equal(tqi_mutex_owner(&sleeper_of(&f, w)->mutex), 0);
	assert_int_equal(fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0), w);
	assert_int_equal(tqi_mutex_owner(&sleeper_of(&f, w)->mutex), gettid());
	leave(&f, w);
	assert_int_equal(tqi_mutex_owner(&sleeper_of(&f, w)->mutex), 0);
	close_fixture(&f);
}

/* WT-6: the first is the timekeeper, two behind it are deputies; one that goes is followed. */
static void test_keepers(void **state)
{
	uint32_t w[5];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (uint32_t i = 0; i < 5; i++)
		w[i] = fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0);
	begin(&f);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(tqi_waiter_keeper(&f.tx, w[i]), i < TQI_KEEPERS ? i : TQI_KEEPERS);
	tqi_tx_abort(&f.tx);
	leave(&f, w[0]);
	begin(&f);
	assert_int_equal(tqi_waiter_keeper(&f.tx, w[3]), 0);
	assert_int_equal(tqi_waiter_keeper(&f.tx, w[1]), 1);
	assert_int_equal(tqi_waiter_keeper(&f.tx, w[2]), 2);
	assert_int_equal(tqi_waiter_keeper(&f.tx, w[4]), TQI_KEEPERS);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

/* WT-5: whoever frees a slot wakes the one behind it, and nobody else. */
static void test_unlinking_wakes(void **state)
{
	uint32_t w[6], words[6];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (uint32_t i = 0; i < 6; i++)
		w[i] = fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0);
	for (uint32_t i = 0; i < 6; i++)
		is_woken(&f, w[i], &words[i]);
	leave(&f, w[0]);
	assert_true(is_woken(&f, w[1], &words[1]));
	assert_false(is_woken(&f, w[2], &words[2]));
	assert_false(is_woken(&f, w[3], &words[3])); /* the timekeeper by now */
	assert_false(is_woken(&f, w[4], &words[4]));
	leave(&f, w[4]);
	assert_true(is_woken(&f, w[5], &words[5]));
	assert_false(is_woken(&f, w[3], &words[3]));
	close_fixture(&f);
}

/* WT-3: words grow before the commit, and stay grown when it never comes. */
static void test_words_are_not_undone(void **state)
{
	uint32_t word = 0;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0);

	is_woken(&f, w, &word);
	begin(&f);
	tqi_waiter_wake_now(&f.tx, w);
	tqi_tx_abort(&f.tx);
	assert_true(is_woken(&f, w, &word));
	assert_int_equal(f.box.system.woken_count, 1);
	close_fixture(&f);
}

/* WT-5: a popped one keeps its place in the chain. */
static void test_pop_and_relink(void **state)
{
	uint32_t word = 0;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (int i = 0; i < TQI_KEEPERS; i++)
		fall_asleep(&f, 1, TQI_INTEREST_TASKS,
			    0); /* so that those below are told of nothing */
	uint32_t a = fall_asleep(&f, 1, TQI_INTEREST_WORK, add_worker(&f, "default", 0));
	uint32_t b = fall_asleep(&f, 1, TQI_INTEREST_WORK, add_worker(&f, "default", 0));

	uint32_t behind = fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0), behind_word = 0;

	is_woken(&f, b, &word);
	is_woken(&f, behind, &behind_word);
	submit(&f, (struct tq_task_spec){ .priority = 0 });
	assert_int_equal(sleeper_of(&f, b)->state, TQI_WAITER_TRANSIT); /* newest first */
	assert_false(is_woken(&f, behind, &behind_word));
	assert_int_equal(sleeper_of(&f, behind)->older, b);
	assert_int_equal(sleeper_of(&f, a)->state, TQI_WAITER_LISTED);
	assert_true(is_woken(&f, b, &word));
	assert_int_equal(tqi_segment_core(&f.box.seg)->waiter_for_work, 1);
	begin(&f);
	tqi_sleep_again(&f.tx, b, UINT64_MAX);
	commit(&f);
	assert_int_equal(sleeper_of(&f, b)->state, TQI_WAITER_LISTED);
	assert_int_equal(sleeper_of(&f, behind)->older, b);
	close_fixture(&f);
}

/* The dead are passed over, then buried. */
static void test_dead_sleepers(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t a = fall_asleep(&f, 1, TQI_INTEREST_WORK, add_worker(&f, "default", 0));
	uint32_t b = fall_asleep(&f, 1, TQI_INTEREST_WORK, add_worker(&f, "default", 0));

	tqt_mutex_die(&sleeper_of(&f, b)->mutex);
	submit(&f, (struct tq_task_spec){ .priority = 0 });
	assert_int_equal(sleeper_of(&f, a)->state, TQI_WAITER_TRANSIT);
	begin(&f);
	assert_true(tqi_sleep_bury(&f.tx));
	assert_false(tqi_sleep_bury(&f.tx));
	commit(&f);
	assert_int_equal(sleeper_of(&f, b)->state, TQI_WAITER_FREE);
	assert_int_equal(fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0),
			 b); /* taken over and consistent */
	assert_int_equal(tqi_mutex_owner(&sleeper_of(&f, b)->mutex), gettid());
	close_fixture(&f);
}

/* A slot whose last owner still holds the mutex is passed over. */
static void test_busy_slot_is_passed_over(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t a = fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0);

	begin(&f);
	tqi_waiter_bury(&f.tx, a); /* freed, but the mutex stays locked */
	commit(&f);
	uint32_t b = fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0);

	assert_int_not_equal(b, a);
	pthread_mutex_unlock(&sleeper_of(&f, a)->mutex);
	assert_int_equal(fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0), a);
	close_fixture(&f);
}

/* C2: an earlier due time wakes the timekeeper, nothing due wakes nobody. */
static void test_keeper_is_told_of_due_times(void **state)
{
	uint32_t word = 0;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0);

	assert_true(sleeper_of(&f, w)->until_ns == UINT64_MAX); /* idle: sleeps without limit */
	is_woken(&f, w, &word);
	submit(&f, (struct tq_task_spec){ .delay_ns = 9 * SECOND });
	assert_true(is_woken(&f, w, &word));
	assert_true(sleeper_of(&f, w)->until_ns == f.box.system.now_ns + 9 * SECOND);
	submit(&f, (struct tq_task_spec){ .delay_ns = 10 * SECOND });
	assert_false(is_woken(&f, w, &word));
	submit(&f, (struct tq_task_spec){ .delay_ns = SECOND / 2 });
	assert_true(is_woken(&f, w, &word));
	close_fixture(&f);
}

static uint32_t add_to_farm(struct fixture *f, const char *name, uint32_t flags, uint32_t master)
{
	const char *queue = "default";
	const struct tqi_worker_request request = { .owner = &self,
						    .name = name,
						    .queues = &queue,
						    .queue_count = 1,
						    .flags = flags,
						    .master = master };
	uint32_t worker;

	begin(f);
	assert_int_equal(tqi_worker_register(&f->tx, &request, &worker), 0);
	commit(f);
	return worker;
}

/* True when it was taken apart; something of its group is left. */
static bool prove(struct fixture *f, uint32_t worker)
{
	struct tqi_suspect suspect;

	begin(f);
	assert_true(tqi_worker_suspect(&f->tx, worker, &suspect));
	bool gone = tqi_worker_gone(&f->tx, &suspect, false);

	commit(f);
	return gone;
}

/* WT-6: an idle worker that is dying is looked at again, with nothing ready or running. */
static void test_keeper_comes_back_to_the_dying(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t master = add_to_farm(&f, "farm", TQI_WORKER_MASTER, 0);
	uint32_t worker = add_to_farm(&f, "farm", TQI_WORKER_GROUP, master);
	struct tqi_worker *record = tqi_table_peek(&f.box.seg, TQI_WORKERS, worker);
	uint32_t w = fall_asleep(&f, 1, TQI_INTEREST_MASTER, master);

	assert_true(sleeper_of(&f, w)->until_ns == UINT64_MAX);
	tqt_mutex_die(&record->life);
	assert_false(prove(&f, worker)); /* its master has a second to say why */
	assert_int_equal(record->state, TQI_WORKER_DYING);
	assert_true(sleeper_of(&f, w)->until_ns == f.box.system.now_ns + SECOND / 2);
	f.box.system.now_ns += SECOND;
	assert_true(prove(&f, worker)); /* it holds nothing that its group could disturb */
	begin(&f);
	tqi_sleep_again(&f.tx, w, UINT64_MAX);
	commit(&f);
	assert_true(sleeper_of(&f, w)->until_ns == UINT64_MAX);
	close_fixture(&f);
}

/* Of all masters that sleep the one that is meant, without a look at the others. */
static void test_a_master_is_named_by_its_record(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	const uint32_t one = add_to_farm(&f, "one", TQI_WORKER_MASTER, 0);
	const uint32_t two = add_to_farm(&f, "two", TQI_WORKER_MASTER, 0);
	const uint32_t first = fall_asleep(&f, 1, TQI_INTEREST_MASTER, one);
	const uint32_t second = fall_asleep(&f, 2, TQI_INTEREST_MASTER, two);
	const uint32_t word = tqi_load_relaxed32(&sleeper_of(&f, second)->word);
	const uint32_t other = tqi_load_relaxed32(&sleeper_of(&f, first)->word);

	begin(&f);
	tqi_wake_master(&f.tx, two);
	commit(&f);
	assert_int_equal(tqi_load_relaxed32(&sleeper_of(&f, second)->word), word + 1);
	assert_int_equal(tqi_load_relaxed32(&sleeper_of(&f, first)->word), other);
	begin(&f);
	tqi_sleep_leave(&f.tx, second);
	commit(&f);
	begin(&f);
	tqi_wake_master(&f.tx, two);
	assert_int_equal(f.tx.wake_count, 0);
	commit(&f);
	assert_sound(&f);
	close_fixture(&f);
}

/* More waiters on one task than one hold tells. */
static void test_telling_in_slices(void **state)
{
	enum {
		WAITERS = 70
	};
	uint32_t w[WAITERS], words[WAITERS], woken = 0;
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);
	uint64_t id = submit(&f, (struct tq_task_spec){ .priority = 0 });

	claim(&f, worker, &c);
	for (uint32_t i = 0; i < WAITERS; i++) {
		w[i] = fall_asleep(&f, 1, TQI_INTEREST_TASKS, 1u << TQ_DONE);
		begin(&f);
		assert_true(tqi_edge_add(&f.tx, w[i], tqi_id_index(id)));
		commit(&f);
		is_woken(&f, w[i], &words[i]);
	}
	end(&f, worker, &c, (struct tqi_verdict){ .kind = TQ_VERDICT_DONE });
	assert_int_equal(task_of(&f, id)->state, TQ_DONE);
	assert_true(task_of(&f, id)->flags & TQI_TASK_TELLING);
	for (bool more = true; more;) {
		begin(&f);
		more = tqi_sweep_slice(&f.tx);
		commit(&f);
	}
	for (uint32_t i = 0; i < WAITERS; i++)
		woken += is_woken(&f, w[i], &words[i]);
	assert_int_equal(woken, WAITERS);
	assert_int_equal(task_of(&f, id)->pins, WAITERS);
	assert_false(task_of(&f, id)->flags & TQI_TASK_LISTED); /* A4: pinned */
	for (uint32_t i = 0; i < WAITERS; i++) {
		begin(&f);
		assert_true(tqi_edge_drop(&f.tx, w[i], 8));
		commit(&f);
		leave(&f, w[i]);
	}
	assert_true(task_of(&f, id)->flags & TQI_TASK_LISTED);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex_says_owner),
		cmocka_unit_test(test_keepers),
		cmocka_unit_test(test_unlinking_wakes),
		cmocka_unit_test(test_words_are_not_undone),
		cmocka_unit_test(test_pop_and_relink),
		cmocka_unit_test(test_dead_sleepers),
		cmocka_unit_test(test_busy_slot_is_passed_over),
		cmocka_unit_test(test_keeper_is_told_of_due_times),
		cmocka_unit_test(test_keeper_comes_back_to_the_dying),
		cmocka_unit_test(test_a_master_is_named_by_its_record),
		cmocka_unit_test(test_telling_in_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
