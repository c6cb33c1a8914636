/* SPDX-License-Identifier: MIT */
/* What is said of a histogram. */
#include "percentiles.h"

#include <stdio.h>

#include "json.h"

const struct percentile percentiles[PERCENTILE_COUNT] = {
	{ "p50", 500 },
	{ "p90", 900 },
	{ "p99", 990 },
	{ "max", 1000 },
};

static json_t *json_of_histogram(const struct tq_histogram *histogram)
{
	json_t *object = json_object();
	char key[16];

	json_object_set_new(object, "count", json_u64(histogram->count));
	if (!histogram->count)
		return object;
	json_object_set_new(object, "mean_ns", json_u64(histogram->sum_ns / histogram->count));
	for (unsigned i = 0; i < PERCENTILE_COUNT; i++) {
		snprintf(key, sizeof(key), "%s_ns", percentiles[i].name);
		json_object_set_new(object, key,
				    json_u64(tq_histogram_at(histogram, percentiles[i].permille)));
	}
	return object;
}

void json_add_times(json_t *object, const struct tq_times *times)
{
	json_object_set_new(object, "wait", json_of_histogram(&times->wait));
	json_object_set_new(object, "run", json_of_histogram(&times->run));
	json_object_set_new(object, "end_to_end", json_of_histogram(&times->life));
}
