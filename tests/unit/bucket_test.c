/* SPDX-License-Identifier: MIT */
/* G2: limits by key that are rates: when tokens come, who gets them, what is counted. */
#include "tests/unit/limit_fixture.h"

#include <errno.h>

static int set_rate(struct one_worker *s, const char *name, struct tqi_rate rate)
{
	const struct tqi_limit_change change = { .has_rate = true, .rate = rate };

	begin(&s->f);
	return conclude(&s->f, tqi_limit_set(&s->f.tx, name, &change));
}

/* Starts and ends as many as may start now; returns how many. */
static uint32_t run_all(struct one_worker *s)
{
	uint32_t n = 0;

	for (; claim(&s->f, s->worker, &s->c); n++)
		end_by(s, DONE);
	return n;
}

static uint64_t next_due(struct one_worker *s)
{
	begin(&s->f);
	uint64_t due = tqi_due_next(&s->f.tx);

	commit(&s->f);
	return due;
}

/* The burst at once, then one after the other, each at its time and not before. */
static void test_g2_a_rate_lets_so_many_begin(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ SECOND, 3, 5 }), 0);
	for (int i = 0; i < 20; i++)
		keyed(&s, KEYS("a"), PLAIN);
	uint64_t begin_ns = s.f.box.system.now_ns;

	assert_int_equal(run_all(&s), 5);
	for (uint64_t n = 1; n <= 9; n++) { /* a third of a second is no whole number of ns */
		uint64_t at = begin_ns + (n * SECOND + 2) / 3;

		assert_int_equal(next_due(&s), at);
		s.f.box.system.now_ns = at - 1;
		assert_int_equal(run_all(&s), 0);
		s.f.box.system.now_ns = at;
		assert_int_equal(run_all(&s), 1);
	}
	s.f.box.system.now_ns += 1000 * SECOND;
	assert_int_equal(run_all(&s), 5);
	assert_int_equal(run_all(&s), 0);
	close_fixture(&s.f);
}

/* However often somebody looks, and at whatever times: no token more, none less. */
static uint64_t throttled(struct one_worker *s, uint64_t id)
{
	begin(&s->f);
	uint64_t n = tqi_stream_of(&s->f.tx, task_of(&s->f, id))->throttled;

	commit(&s->f);
	return n;
}

/* Starts the next task, a second later, after the one before has ended. */
static uint64_t start_next(struct one_worker *s)
{
	s->f.box.system.now_ns += SECOND;
	if (s->c.id)
		end(&s->f, s->worker, &s->c, DONE);
	return claim(&s->f, s->worker, &s->c);
}

/* H2: what a full limit has put off counts when it starts, once; what met it in time does not. */
static void test_h2_throttled_starts_are_counted(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	s.c.id = 0;
	set_limit(&s, "a", 1);
	uint64_t first = keyed(&s, KEYS("a"), PLAIN), second = keyed(&s, KEYS("a"), PLAIN);

	assert_int_equal(start_next(&s), first);
	assert_int_equal(throttled(&s, first), 0);
	keyed(&s, KEYS("a", "b"), PLAIN);
	assert_int_equal(start_next(&s), second);
	assert_int_equal(throttled(&s, first), 1);
	assert_int_not_equal(start_next(&s), 0);
	assert_int_equal(throttled(&s, first), 2);
	end(&s.f, s.worker, &s.c, DONE);
	s.c.id = 0;
	s.f.box.system.now_ns += SECOND;
	keyed(&s, KEYS("a"), PLAIN);
	assert_int_not_equal(start_next(&s), 0);
	assert_int_equal(throttled(&s, first), 2);
	close_fixture(&s.f);
}

static void test_h2_waits_for_tokens_are_counted(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	s.c.id = 0;
	set_rate(&s, "a", (struct tqi_rate){ .rate = 1, .burst = 1, .interval_ns = SECOND });
	uint64_t first = keyed(&s, KEYS("a"), PLAIN), second = keyed(&s, KEYS("a"), PLAIN);

	assert_int_equal(start_next(&s), first);
	assert_int_equal(throttled(&s, first), 0);
	assert_int_equal(start_next(&s), second);
	assert_int_equal(throttled(&s, first), 1);
	s.f.box.system.now_ns += SECOND; /* the next one is there before it is asked for */
	keyed(&s, KEYS("a"), PLAIN);
	assert_int_not_equal(start_next(&s), 0);
	assert_int_equal(throttled(&s, first), 1);
	close_fixture(&s.f);
}

static void test_g2_a_rate_does_not_drift(void **state)
{
	enum {
		TASKS = 3000
	};
	struct tqt_box_options o = { .max_bytes = 64ull << 20, .tasks_max = TASKS + 10 };
	struct one_worker s;
	uint64_t random = 3, begun = 0;

	(void)state;
	tqt_box_open(&s.f.box, &o);
	assert_true(tqt_box_grow(&s.f.box, 8));
	s.worker = add_worker(&s.f, "default", 0);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ 1000003, 7, 1 }), 0);
	for (int i = 0; i < TASKS; i++)
		keyed(&s, KEYS("a"), (struct tq_task_spec){ .flags = TQ_TASK_FORGET });
	uint64_t begin_ns = s.f.box.system.now_ns;

	while (begun < TASKS) {
		uint64_t since = s.f.box.system.now_ns - begin_ns;

		begun += run_all(&s);
		/* A bucket of one that is always wanted loses nothing but what overflows it. */
		assert_in_range(begun, 1, 1 + since * 7 / 1000003);
		s.f.box.system.now_ns += 1 + tqt_below(&random, 1000);
	}
	uint64_t whole = (uint64_t)(TASKS - 1) * 1000003 / 7;

	assert_in_range(s.f.box.system.now_ns - begin_ns, whole, whole + whole / 100);
	close_fixture(&s.f);
}

/* Only while tasks wait: an idle segment has no appointments. */
static void test_g2_a_token_that_nobody_waits_for_is_no_appointment(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ SECOND, 1, 1 }), 0);
	keyed(&s, KEYS("a"), PLAIN);
	assert_int_equal(run_all(&s), 1);
	assert_int_equal(next_due(&s), UINT64_MAX);
	uint64_t id = keyed(&s, KEYS("a"), PLAIN);

	assert_int_equal(next_due(&s), s.f.box.system.now_ns + SECOND);
	begin(&s.f);
	assert_int_equal(tqi_steer_cancel(&s.f.tx, id), 0);
	commit(&s.f);
	assert_int_equal(next_due(&s), UINT64_MAX);
	close_fixture(&s.f);
}

/* A keeper that comes at that time wakes one worker; a submit after a rest wakes one, too. */
static void test_g2_a_token_wakes_one(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ SECOND, 1, 1 }), 0);
	keyed(&s, KEYS("a"), PLAIN);
	assert_int_equal(run_all(&s), 1);
	for (int i = 0; i < 4; i++)
		sleep_as(&s, add_worker(&s.f, "default", 0));
	s.f.box.system.now_ns += 5 * SECOND;
	keyed(&s, KEYS("a"), PLAIN);
	assert_int_equal(count_woken(&s), 1);
	assert_int_equal(run_all(&s), 1);
	for (int i = 0; i < 3; i++)
		keyed(&s, KEYS("a"), PLAIN);
	assert_int_equal(count_woken(&s), 1);
	s.f.box.system.now_ns += SECOND;
	begin(&s.f);
	tqi_due_run(&s.f.tx, 8);
	commit(&s.f);
	assert_int_equal(count_woken(&s), 2);
	close_fixture(&s.f);
}

static void test_g2_a_rate_that_overflows_is_refused(void **state)
{
	const struct tqi_rate most = { (uint64_t)INT64_MAX / 2000, 1000, 1000 };
	const struct tqi_rate more = { (uint64_t)INT64_MAX / 2000 + 1, 1000, 1000 };
	const struct tqi_rate widest = { 1, UINT32_MAX - 1, UINT32_MAX - 1 };
	struct one_worker s;

	(void)state;
	assert_false(tqi_rate_is_valid(&more));
	assert_false(tqi_rate_is_valid(&(struct tqi_rate){ 0, 1, 1 }));
	assert_false(tqi_rate_is_valid(&(struct tqi_rate){ 5, 1, 0 }));
	assert_true(tqi_rate_is_valid(&most));
	assert_true(tqi_rate_is_valid(&widest));
	open_one_worker(&s);
	assert_int_equal(set_rate(&s, "a", most), 0);
	assert_int_equal(set_rate(&s, "b", widest), 0);
	for (int i = 0; i < 10; i++)
		keyed(&s, KEYS("a", "b"), PLAIN);
	assert_int_equal(run_all(&s), 10);
	s.f.box.system.now_ns = INT64_MAX - 5; /* far away, and no sum runs over */
	keyed(&s, KEYS("a", "b"), PLAIN);
	assert_int_equal(run_all(&s), 1);
	close_fixture(&s.f);
}

/* Changed while it runs: what is there stays, and a token that has come is not lost. */
static void test_g2_a_rate_is_changed_while_tasks_wait(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ SECOND, 1, 4 }), 0);
	for (int i = 0; i < 30; i++)
		keyed(&s, KEYS("a"), PLAIN);
	assert_int_equal(run_all(&s), 4);
	s.f.box.system.now_ns += SECOND; /* nobody looks */
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ 1000 * SECOND, 1, 1 }), 0);
	assert_int_equal(run_all(&s), 1);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ SECOND, 10, 2 }), 0);
	assert_int_equal(run_all(&s), 0);
	s.f.box.system.now_ns += SECOND;
	assert_int_equal(run_all(&s), 2);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ 0, 0, 0 }), 0);
	assert_int_equal(run_all(&s), 23);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ 0, 0, 0 }), -ENOENT);
	close_fixture(&s.f);
}

/* Both: a free slot is of no use without a token, nor a token without a slot. */
/* It begins with one token, and owes the others: at the rate in the long run. */
static void test_l17_a_heavy_start_takes_tokens_in_advance(void **state)
{
	const uint32_t weight = 4;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ SECOND, 1, 2 }), 0);
	uint64_t begin_ns = s.f.box.system.now_ns;

	for (int i = 0; i < 3; i++)
		submit(&s.f, (struct tq_task_spec){ .limits = KEYS("a"),
						    .limit_weights = &weight,
						    .limit_count = 1 });
	assert_int_equal(run_all(&s), 1); /* 2 tokens, 2 are owed */
	for (uint64_t n = 0; n < 2; n++) {
		uint64_t at = begin_ns + (3 + n * weight) * SECOND;

		assert_int_equal(next_due(&s), at);
		s.f.box.system.now_ns = at - 1;
		assert_int_equal(run_all(&s), 0);
		s.f.box.system.now_ns = at;
		assert_int_equal(run_all(&s), 1);
		assert_sound(&s.f);
	}
	close_fixture(&s.f);
}

static void test_g2_slots_and_rate_together(void **state)
{
	struct tqi_claimed other;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	assert_int_equal(set_rate(&s, "a", (struct tqi_rate){ SECOND, 1, 2 }), 0);
	for (int i = 0; i < 5; i++)
		keyed(&s, KEYS("a"), PLAIN);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	assert_int_equal(claim(&s.f, s.worker, &other), 0); /* no slot */
	end_by(&s, DONE);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	end_by(&s, DONE);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0); /* no token */
	s.f.box.system.now_ns += SECOND;
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	s.f.box.system.now_ns += SECOND;
	assert_int_equal(claim(&s.f, s.worker, &other), 0);
	end_by(&s, DONE);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	close_fixture(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_g2_a_rate_lets_so_many_begin),
		cmocka_unit_test(test_g2_a_rate_does_not_drift),
		cmocka_unit_test(test_h2_throttled_starts_are_counted),
		cmocka_unit_test(test_h2_waits_for_tokens_are_counted),
		cmocka_unit_test(test_g2_a_token_that_nobody_waits_for_is_no_appointment),
		cmocka_unit_test(test_g2_a_token_wakes_one),
		cmocka_unit_test(test_g2_a_rate_that_overflows_is_refused),
		cmocka_unit_test(test_g2_a_rate_is_changed_while_tasks_wait),
		cmocka_unit_test(test_g2_slots_and_rate_together),
		cmocka_unit_test(test_l17_a_heavy_start_takes_tokens_in_advance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
