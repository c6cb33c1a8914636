/* SPDX-License-Identifier: MIT */
/* H8: tasks in an order, in pieces and in flat memory. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include "pass.h" /* before cmocka.h, which has a macro fail() */
#include "view.h"

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS (PICKS_MAX + 5000u)

static struct tq *tq;
static char name[64];

static int begin(void **state)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = 64u << 20 };

	(void)state;
	snprintf(name, sizeof(name), "%s-pass", getenv("TASKQ_TEST_ID"));
	return tq_open(name, &opts, &tq);
}

static int end(void **state)
{
	(void)state;
	tq = tq_close(tq);
	return tq_destroy(name, TQ_DESTROY_FORCE);
}

/* Priorities 0 to 996 in no order; every hundredth has a label. */
static void submit_all(void)
{
	for (uint32_t i = 0; i < TASKS; i++) {
		const struct tq_task_spec spec = { .size = sizeof(spec),
						   .queue = i % 2 ? "odd" : "even",
						   .kind = "none",
						   .label = i % 100 ? NULL : "Marked one",
						   .priority = (int32_t)(i * 7919 % 997) };

		assert_int_equal(tq_submit(tq, &spec, NULL), 0);
	}
}

static int priority_of(uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };

	assert_int_equal(tq_task_info(tq, id, &info), 0);
	return info.priority;
}

/* So many are more urgent than any that is not among the picks. */
static void expect_most_urgent(const struct pass *pass)
{
	int least = priority_of(pass->picks[pass->pick_count - 1].id);

	assert_int_equal(priority_of(pass->picks[0].id), 996);
	for (uint32_t i = 1; i < pass->pick_count; i++)
		assert_true(pass->picks[i - 1].rank.major <= pass->picks[i].rank.major);
	/* PICKS_MAX of TASKS over 997 priorities, evenly: the least is near this. */
	assert_in_range(least, 325, 340);
}

static void h8_pass_in_pieces(void **state)
{
	struct pass pass = { 0 };
	unsigned pieces = 0;

	(void)state;
	submit_all();
	assert_true(pass_set(&pass, tasks_rank(2), true, ""));
	do {
		assert_int_equal(pass_step(&pass, tq, 1), 0);
		pieces++;
		assert_true(pass.pick_count > 0); /* what has been found can be seen already */
	} while (!pass.is_complete);
	assert_true(pieces > 10);
	assert_int_equal(pass.matches, TASKS);
	assert_int_equal(pass.pick_count, PICKS_MAX);
	expect_most_urgent(&pass);
	assert_int_equal(pass_find(&pass, pass.picks[77].id), 77);
	assert_int_equal(pass_find(&pass, 12345), PICKS_MAX);
	pass_free(&pass);
}

static void h8_pass_filters(void **state)
{
	static const struct {
		const char *filter;
		uint64_t matches;
	} cases[] = { { "marked", TASKS / 100 }, { "ODD", TASKS / 2 },
		      { "marked odd", 0 },	 { "marked even one", TASKS / 100 },
		      { "ready none", TASKS },	 { "failed", 0 } };
	struct pass pass = { 0 };

	(void)state;
	submit_all();
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(pass_set(&pass, tasks_rank(0), false, cases[i].filter));
		assert_int_equal(pass_step(&pass, tq, TQ_FOREVER_NS), 0);
		assert_true(pass.is_complete);
		assert_int_equal(pass.matches, cases[i].matches);
	}
	pass_free(&pass);
}

/* Another order forgets what was found for the one before. */
static void h8_pass_begins_anew(void **state)
{
	struct pass pass = { 0 };

	(void)state;
	submit_all();
	assert_true(pass_set(&pass, tasks_rank(0), true, ""));
	assert_int_equal(pass_step(&pass, tq, 1), 0);
	assert_false(pass.is_complete);
	assert_true(pass_percent(&pass) < 100);
	assert_true(pass_set(&pass, tasks_rank(0), true, ""));
	assert_true(pass.pick_count > 0);
	assert_true(pass_set(&pass, tasks_rank(0), false, ""));
	assert_int_equal(pass.pick_count, 0);
	pass_free(&pass);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(h8_pass_in_pieces, begin, end),
		cmocka_unit_test_setup_teardown(h8_pass_filters, begin, end),
		cmocka_unit_test_setup_teardown(h8_pass_begins_anew, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
