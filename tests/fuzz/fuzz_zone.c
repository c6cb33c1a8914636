/* SPDX-License-Identifier: MIT */
/* Time zones: a rule if it begins with ':', else the bytes of a zone's file. */
#include <stdlib.h>

#include "client/submit/tzif.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scene.h"

#define NOW_S INT64_C(1800000000) /* 2027 */
#define STEP_S INT64_C(5000000)	  /* some two months */
#define STEPS 64

static void walk(const struct tqi_zone *zone)
{
	tqt_require(tqi_zone_is_sound(zone, zone->count));
	for (int i = 0; i < STEPS; i++) {
		const int64_t at_s = NOW_S + i * STEP_S;
		const struct tqi_zone_span span = tqi_zone_at(zone, at_s);

		tqt_require(span.from_s <= at_s && at_s < span.to_s);
		tqt_require(abs(span.offset_s) <= TQI_ZONE_OFFSET_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct tqi_zone *zone;

	if (count && *bytes == ':') {
		struct tqi_zone alone = { .has_rule = 1 };
		char *text = fuzz_text(bytes + 1, count - 1);

		if (tqi_tzif_rule(text, &alone.rule))
			walk(&alone);
		free(text);
	} else if (tqi_tzif_decode(bytes, count, NOW_S, &zone) == 0) {
		walk(zone);
		free(zone);
	}
	return 0;
}
