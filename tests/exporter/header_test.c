/* SPDX-License-Identifier: MIT */
/* What headers of requests are taken for: Accept, and Host (SPEC H7). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "accept.h"
#include "host.h"

#define OPEN "application/openmetrics-text"

static void test_accept(void **state)
{
	static const struct {
		const char *header;
		enum metrics_form form;
	} cases[] = {
		{ NULL, METRICS_TEXT },
		{ "", METRICS_TEXT },
		{ "*/*", METRICS_TEXT },
		{ "text/html,application/xhtml+xml,*/*;q=0.8", METRICS_TEXT },
		{ OPEN, METRICS_OPEN },
		{ "Application/OpenMetrics-Text ; version=1.0.0", METRICS_OPEN },
		{ OPEN ";version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  METRICS_OPEN },
		{ OPEN ";version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
		       "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  METRICS_OPEN },
		{ OPEN ";version=0.0.1,text/plain", METRICS_TEXT },
		{ OPEN ";q=0", METRICS_TEXT },
		{ OPEN ";q=0.1,text/plain;q=0.9", METRICS_TEXT },
		{ "x" OPEN, METRICS_TEXT },
		{ ",,;;,;q=1,", METRICS_TEXT },
		{ OPEN ";q=nonsense", METRICS_TEXT },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(accept_metrics(cases[i].header), cases[i].form);
}

static void test_host(void **state)
{
	static const struct {
		const char *header;
		bool is_allowed;
	} cases[] = {
		{ NULL, true },
		{ "", false },
		{ ":80", false },
		{ "localhost", true },
		{ "LocalHost.:8275", true },
		{ "localhost:", true },
		{ "localhost:80x", false },
		{ "127.0.0.1:8275", true },
		{ "127.1", false },
		{ "0x7f.1", false },
		{ "[::1]:8275", true },
		{ "[::1]", true },
		{ "[::1]x", false },
		{ "[]", false },
		{ "::1", false },
		{ "farm", true },
		{ "queue.example.org", true },
		{ "example.org", false },
		{ "localhost.example.org", false },
		{ "farm@localhost", false },
	};
	const struct options options = { .hosts = { "queue.example.org" }, .host_count = 1 };
	const struct exporter exporter = { &options, "farm", NULL };
	char longest[400];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(host_is_allowed(&exporter, cases[i].header), cases[i].is_allowed);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(host_is_allowed(&exporter, longest));
}

static void test_target(void **state)
{
	static const struct {
		const char *target, *authority, *path;
	} cases[] = {
		{ "/healthz", NULL, NULL },
		{ "http:/healthz", NULL, NULL },
		{ "https://localhost/healthz", NULL, NULL },
		{ "http://localhost:1/healthz", "localhost:1", "/healthz" },
		{ "HTTP://[::1]", "[::1]", "/" },
		{ "http:///healthz", "", "/healthz" },
		{ "http://a//http://b/", "a", "//http://b/" },
	};
	char authority[AUTHORITY_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path = host_of_target(cases[i].target, authority);

		if (!cases[i].path) {
			assert_null(path);
			continue;
		}
		assert_string_equal(path, cases[i].path);
		assert_string_equal(authority, cases[i].authority);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accept),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
