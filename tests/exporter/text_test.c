/* SPDX-License-Identifier: MIT */
/* Metrics as text: labels that hold anything, exact numbers, bounds (SPEC H7, H2). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "metrics_text.h"

static const struct metric gauge = { "taskq_thing_seconds", METRIC_GAUGE, "seconds", "A thing" };
static const struct metric counter = { "taskq_things", METRIC_COUNTER, NULL, "Things" };
static const struct metric info = { "taskq_build", METRIC_INFO, NULL, "A version" };
static const struct metric times = { "taskq_run_seconds", METRIC_HISTOGRAM, "seconds", "Runs" };

static struct metrics_to to;
static char *text;
static size_t bytes;

static void begin(enum metrics_form form)
{
	to = (struct metrics_to){ open_memstream(&text, &bytes), form };
	assert_non_null(to.out);
}

static void expect(const char *wanted)
{
	fclose(to.out);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_labels(void **state)
{
	static const struct {
		const char *value, *written;
	} cases[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "a\"b", "a\\\"b" },
		{ "a\\b", "a\\\\b" },
		{ "a\nb", "a\\nb" },
		{ "\\n", "\\\\n" },
		{ "{}=,# ", "{}=,# " },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xff"
		  "a\xc3",
		  "\xef\xbf\xbd"
		  "a\xef\xbf\xbd" },
	};
	char wanted[128];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct metric_label labels[] = { { "queue", cases[i].value },
						       { NULL, NULL } };

		begin(METRICS_TEXT);
		metric_value(&to, &counter, labels, 7);
		snprintf(wanted, sizeof(wanted), "taskq_things_total{queue=\"%s\"} 7\n",
			 cases[i].written);
		expect(wanted);
	}
}

static void test_numbers(void **state)
{
	static const struct {
		uint64_t ns;
		const char *written;
	} cases[] = {
		{ 0, "0.0" },	       { 1, "0.000000001" },
		{ 1500000000, "1.5" }, { 10000000000, "10.0" },
		{ 100, "0.0000001" },  { UINT64_MAX, "18446744073.709551615" },
	};
	char wanted[128];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(METRICS_TEXT);
		metric_ns(&to, &gauge, NULL, cases[i].ns);
		snprintf(wanted, sizeof(wanted), "taskq_thing_seconds %s\n", cases[i].written);
		expect(wanted);
	}
	begin(METRICS_TEXT);
	metric_value(&to, &counter, NULL, UINT64_MAX);
	expect("taskq_things_total 18446744073709551615\n");
}

static void test_formats(void **state)
{
	(void)state;
	begin(METRICS_TEXT);
	metric_only(&to, &counter, 1);
	metric_only(&to, &info, 1);
	metric_begin(&to, &gauge);
	metrics_end(&to);
	expect("# HELP taskq_things_total Things.\n# TYPE taskq_things_total counter\n"
	       "taskq_things_total 1\n"
	       "# HELP taskq_build_info A version.\n# TYPE taskq_build_info gauge\n"
	       "taskq_build_info 1\n"
	       "# HELP taskq_thing_seconds A thing.\n# TYPE taskq_thing_seconds gauge\n");
	begin(METRICS_OPEN);
	metric_only(&to, &counter, 1);
	metric_only(&to, &info, 1);
	metric_begin(&to, &gauge);
	metrics_end(&to);
	expect("# HELP taskq_things Things.\n# TYPE taskq_things counter\n"
	       "taskq_things_total 1\n"
	       "# HELP taskq_build A version.\n# TYPE taskq_build info\n"
	       "taskq_build_info 1\n"
	       "# HELP taskq_thing_seconds A thing.\n# TYPE taskq_thing_seconds gauge\n"
	       "# UNIT taskq_thing_seconds seconds\n# EOF\n");
}

/* One sample in each bucket: what a bound counts is what begins below it, no more. */
static void test_bounds(void **state)
{
	struct tq_histogram from = { .count = 1, .sum_ns = 5 }; /* not the sum: as if torn */
	struct metric_histogram histogram;
	unsigned bounds = 0;
	char *line, *rest;

	(void)state;
	for (unsigned i = 0; i < TQ_HISTOGRAM_BUCKETS; i++)
		from.buckets[i] = 1;
	metric_histogram_fill(&histogram, &from);
	assert_int_equal(histogram.count, TQ_HISTOGRAM_BUCKETS);
	begin(METRICS_TEXT);
	metric_histogram(&to, &times, NULL, &histogram);
	fclose(to.out);
	rest = text;
	while ((line = strsep(&rest, "\n")) && *line) {
		unsigned long long seconds, ns, count, below = 0;

		if (sscanf(line, "taskq_run_seconds_bucket{le=\"%llu.%9llu\"} %llu", &seconds, &ns,
			   &count) != 3)
			continue;
		for (const char *digit = strchr(line, '.') + 10; digit[-1] == '"'; digit--)
			ns *= 10; /* a zero at the end that was left out */
		const uint64_t bound = seconds * 1000000000 + ns + 1;

		for (uint32_t i = 0; i < TQ_HISTOGRAM_BUCKETS; i++)
			below += tq_histogram_bound(i + 1) <= bound;
		assert_int_equal(bound & (bound - 1), 0);
		assert_int_equal(count, below);
		bounds++;
	}
	assert_int_equal(bounds, METRIC_BOUNDS);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
