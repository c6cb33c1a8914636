/* SPDX-License-Identifier: MIT */
/* The histogram that the bench takes its percentiles from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/bench_histogram.h"

/* From the least to the greatest that there are, each is within a sixteenth below itself. */
static void test_a_sample_is_found_within_a_sixteenth(void **state)
{
	(void)state;
	for (uint64_t ns = 1; ns; ns = ns + ns / 7 + 1 > ns ? ns + ns / 7 + 1 : 0) {
		struct histogram h = { 0 };

		histogram_add(&h, ns);
		const uint64_t found = histogram_quantile(&h, 0.5);

		assert_true(found <= ns);
		assert_true(ns - found <= ns / HISTOGRAM_STEPS);
	}
}

static void test_the_greatest_has_a_bucket(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	histogram_add(&h, UINT64_MAX);
	assert_int_equal(h.counts[HISTOGRAM_BUCKETS - 1], 1);
}

static void test_quantiles_of_merged_ones(void **state)
{
	struct histogram low = { 0 }, high = { 0 };

	(void)state;
	assert_int_equal(histogram_quantile(&low, 0.5), 0);
	for (uint32_t i = 0; i < 989; i++)
		histogram_add(&low, 3);
	for (uint32_t i = 0; i < 11; i++)
		histogram_add(&high, 1024);
	histogram_merge(&low, &high);
	assert_int_equal(histogram_quantile(&low, 0.5), 3);
	assert_int_equal(histogram_quantile(&low, 0.989), 3);
	assert_int_equal(histogram_quantile(&low, 0.99), 1024);
	assert_int_equal(histogram_quantile(&low, 0.999), 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sample_is_found_within_a_sixteenth),
		cmocka_unit_test(test_the_greatest_has_a_bucket),
		cmocka_unit_test(test_quantiles_of_merged_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
