/* SPDX-License-Identifier: MIT */
/* Cron expressions, in one zone that has summer time and one that has not. */
#include <stdlib.h>

#include "client/submit/tzif.h"
#include "scheduler/time/cron.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scene.h"

#define TIMES 4
#define NOW_S INT64_C(1800000000) /* 2027 */

static void follow(const struct tqi_cron *cron, const char *rule)
{
	struct tqi_zone zone = { .has_rule = 1 };
	int64_t at_s = NOW_S;

	tqt_require(tqi_tzif_rule(rule, &zone.rule));
	for (int i = 0; i < TIMES && at_s < INT64_MAX; i++) {
		const int64_t next_s = tqi_cron_next(cron, &zone, at_s);

		tqt_require(next_s > at_s);
		at_s = next_s;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	char *text = fuzz_text(bytes, count);
	struct tqi_cron cron;
	char error[256] = "";

	if (tqi_cron_parse(text, &cron, error, sizeof(error))) {
		tqt_require(tqi_cron_is_sound(&cron));
		follow(&cron, "UTC0");
		follow(&cron, "CET-1CEST,M3.5.0,M10.5.0/3");
	} else {
		tqt_require(*error);
	}
	free(text);
	return 0;
}
