/* SPDX-License-Identifier: MIT */
/* scheduler/graph/behalf.c: on whose behalf sleepers wait. */
#include "scheduler/graph/behalf.h"

#include "tests/unit/fixture.h"

static const struct tqi_ident self = { .pid = 7, .tid = 7, .start = 7 };

struct scene {
	struct fixture f;
	uint32_t master, master_waiter, worker, word;
	struct tqi_claimed c;
};

static uint32_t enter(struct fixture *f, enum tqi_interest interest, uint32_t subject,
		      uint32_t attempt)
{
	bool full;

	begin(f);
	uint32_t w = tqi_sleep_enter(&f->tx, &self, interest, subject, &full);

	tqi_behalf_enter(&f->tx, w, attempt);
	tqi_sleep_again(&f->tx, w, UINT64_MAX);
	commit(f);
	return w;
}

static void leave(struct fixture *f, uint32_t waiter)
{
	begin(f);
	tqi_sleep_leave(&f->tx, waiter);
	commit(f);
}

static uint32_t add_to_farm(struct fixture *f, uint32_t flags, uint32_t master)
{
	static const char *const queues[] = { "default" };
	const struct tqi_worker_request request = { .owner = &self,
						    .name = "",
						    .queues = queues,
						    .queue_count = 1,
						    .flags = flags,
						    .master = master };
	uint32_t w;

	begin(f);
	assert_int_equal(tqi_worker_register(&f->tx, &request, &w), 0);
	commit(f);
	return w;
}

static struct tqi_waiter *waiter_of(struct scene *s, uint32_t w)
{
	return tqi_table_peek(&s->f.box.seg, TQI_WAITERS, w);
}

static struct tqi_worker *worker_of(struct scene *s)
{
	return tqi_table_peek(&s->f.box.seg, TQI_WORKERS, s->worker);
}

static uint32_t behalf_of(struct scene *s, uint32_t waiter)
{
	begin(&s->f);
	uint32_t a = tqi_behalf_of(&s->f.tx, waiter);

	tqi_tx_abort(&s->f.tx);
	return a;
}

static bool master_is_woken(struct scene *s)
{
	uint32_t before = s->word;

	s->word = tqi_load_relaxed32(&waiter_of(s, s->master_waiter)->word);
	return s->word != before;
}

/* A farm of one worker, which runs a task; its master sleeps. */
static void open_scene(struct scene *s)
{
	open_fixture(&s->f, 100);
	for (int i = 0; i < TQI_KEEPERS; i++)
		enter(&s->f, TQI_INTEREST_TASKS, 0, 0); /* nor is it woken for being a keeper */
	s->master = add_to_farm(&s->f, TQI_WORKER_MASTER, 0);
	s->worker = add_to_farm(&s->f, 0, s->master);
	s->master_waiter = enter(&s->f, TQI_INTEREST_MASTER, s->master, 0);
	submit(&s->f, (struct tq_task_spec){ .priority = 0 });
	assert_int_not_equal(claim(&s->f, s->worker, &s->c), 0);
	master_is_woken(s);
}

static void close_scene(struct scene *s)
{
	assert_sound(&s->f);
	close_fixture(&s->f);
}

/* E9: its master hears of the first wait and of the end of the last one, whichever it is. */
static void test_e9_the_first_and_the_last_wait_wake_the_master(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	uint32_t a = enter(&s.f, TQI_INTEREST_TASKS, 0, s.c.attempt);

	assert_true(master_is_woken(&s));
	assert_int_equal(worker_of(&s)->waiting, 1);
	assert_int_equal(behalf_of(&s, a), s.c.attempt);
	uint32_t b = enter(&s.f, TQI_INTEREST_TASKS, 0, s.c.attempt);
	uint32_t c = enter(&s.f, TQI_INTEREST_TASKS, 0, s.c.attempt);

	assert_false(master_is_woken(&s));
	assert_int_equal(worker_of(&s)->waiting, 1);
	assert_sound(&s.f);
	leave(&s.f, b);
	assert_sound(&s.f);
	leave(&s.f, c);
	assert_int_equal(worker_of(&s)->waiting, 1);
	master_is_woken(&s); /* as the one queued behind */
	leave(&s.f, a);
	assert_true(master_is_woken(&s));
	assert_int_equal(worker_of(&s)->waiting, 0);
	close_scene(&s);
}

/* WO-2: slots outlive the attempt, and another one in its record is not theirs. */
static void test_e9_waits_of_an_ended_attempt_are_nobodys(void **state)
{
	struct tqi_claimed next;
	struct scene s;

	(void)state;
	open_scene(&s);
	uint32_t w[3];

	for (int i = 0; i < 3; i++)
		w[i] = enter(&s.f, TQI_INTEREST_TASKS, 0, s.c.attempt);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(worker_of(&s)->waiting, 0);
	assert_int_equal(behalf_of(&s, w[1]), 0);
	assert_sound(&s.f);
	submit(&s.f, (struct tq_task_spec){ .priority = 0 });
	claim(&s.f, s.worker, &next);
	assert_int_equal(next.attempt, s.c.attempt);
	assert_int_equal(behalf_of(&s, w[1]), 0);
	uint32_t other = enter(&s.f, TQI_INTEREST_TASKS, 0, next.attempt);

	assert_int_equal(behalf_of(&s, other), next.attempt);
	assert_sound(&s.f);
	for (int i = 0; i < 3; i++) { /* first one inside their list */
		leave(&s.f, w[(i + 1) % 3]);
		assert_int_equal(worker_of(&s)->waiting, 1);
		assert_sound(&s.f);
	}
	assert_int_equal(behalf_of(&s, other), next.attempt);
	close_scene(&s);
}

/* A process inside a command that is killed waits no more. */
static void test_e9_who_died_waits_no_more(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	uint32_t w = enter(&s.f, TQI_INTEREST_TASKS, 0, s.c.attempt);

	master_is_woken(&s);
	tqt_mutex_die(&waiter_of(&s, w)->mutex);
	begin(&s.f);
	tqi_sleep_bury(&s.f.tx);
	commit(&s.f);
	assert_int_equal(worker_of(&s)->waiting, 0);
	assert_true(master_is_woken(&s));
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_e9_the_first_and_the_last_wait_wake_the_master),
		cmocka_unit_test(test_e9_waits_of_an_ended_attempt_are_nobodys),
		cmocka_unit_test(test_e9_who_died_waits_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
