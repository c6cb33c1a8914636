/* SPDX-License-Identifier: MIT */
/* Percentiles, printed. */
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "percentiles.h"
#include "times.h"

void times_read(struct tq *tq, const struct tq_queue_info *info, struct tq_times *ret_times)
{
	const char *kind = info->kind[0] ? info->kind : NULL;

	memset(ret_times, 0, sizeof(*ret_times));
	ret_times->size = sizeof(*ret_times);
	if (tq_times_read(tq, info->name, kind, ret_times) < 0)
		return; /* a damaged segment: the counters are shown all the same */
}

static void print_histogram(const char *name, const struct tq_histogram *histogram)
{
	char text[FORMAT_MAX];

	if (!histogram->count)
		return;
	printf("  %-8s ", name);
	for (unsigned i = 0; i < PERCENTILE_COUNT; i++)
		printf(" %s %s%s", percentiles[i].name,
		       format_duration(tq_histogram_at(histogram, percentiles[i].permille), text),
		       i + 1 < PERCENTILE_COUNT ? " " : "\n");
}

void times_print(const struct tq_times *times)
{
	print_histogram("wait", &times->wait);
	print_histogram("run", &times->run);
	print_histogram("in all", &times->life);
}
