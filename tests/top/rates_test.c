/* SPDX-License-Identifier: MIT */
/* H8: what rates are counted from when looks come sooner than the time between two. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h" /* before cmocka.h, which has a macro fail() */

#include <cmocka.h>
#include <stdlib.h>

#define MS 1000000ull

static struct model model;

static int begin(void **state)
{
	(void)state;
	model = (struct model){ .delay_ns = 1000 * MS };
	return 0;
}

static int end(void **state)
{
	(void)state;
	model_free(&model);
	return 0;
}

/* A look at this moment, when so many tasks were submitted, and transactions made. */
static void look(uint64_t at_ms, uint64_t submitted)
{
	struct sample sample = { .queues = calloc(1, sizeof(*sample.queues)), .queue_count = 1 };

	assert_non_null(sample.queues);
	sample.clocks.now_ns = 1000000 * MS + at_ms * MS;
	sample.segment.created_unix_ns = 1;
	sample.segment.transactions = 2 * submitted;
	sample.queues[0].info.name[0] = 'q';
	sample.queues[0].info.counters.submitted = submitted;
	model_update(&model, &sample);
}

static void shows(double submitted_a_second)
{
	assert_true(model.has_rates);
	assert_true(model.now.queues[0].submitted == submitted_a_second);
	assert_true(model.transactions == 2 * submitted_a_second);
}

static void h8_early_look_keeps_rates(void **state)
{
	(void)state;
	look(0, 0);
	assert_false(model.has_rates);
	look(1000, 100);
	shows(100);
	look(1010, 150);
	shows(100);
	assert_int_equal(model.history, 1);
	look(2000, 300); /* since 1000, not since 1010 */
	shows(200);
	assert_int_equal(model.history, 2);
}

/* A key that is held down makes all looks early: rates go on all the same. */
static void h8_steady_keys_do_not_freeze_rates(void **state)
{
	(void)state;
	look(0, 0);
	look(1000, 100);
	for (uint64_t at = 1030; at < 1500; at += 30) {
		look(at, at - 900);
		shows(100);
	}
	look(1500, 600);
	shows(1000);
	look(1530, 9999);
	shows(1000);
}

static void h8_first_early_look_makes_none(void **state)
{
	(void)state;
	look(0, 0);
	look(10, 50);
	assert_false(model.has_rates);
	look(500, 100);
	shows(200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(h8_early_look_keeps_rates, begin, end),
		cmocka_unit_test_setup_teardown(h8_steady_keys_do_not_freeze_rates, begin, end),
		cmocka_unit_test_setup_teardown(h8_first_early_look_makes_none, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
