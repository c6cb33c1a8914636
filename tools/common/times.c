/* SPDX-License-Identifier: MIT */
/* Percentiles, printed and as JSON. */
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "json.h"
#include "times.h"

/* What is said of a histogram: name, and so many of a thousand. */
static const struct {
	const char *name;
	uint32_t permille;
} marks[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "max", 1000 } };

enum {
	MARKS = sizeof(marks) / sizeof(marks[0])
};

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
	for (unsigned i = 0; i < MARKS; i++)
		printf(" %s %s%s", marks[i].name,
		       format_duration(tq_histogram_at(histogram, marks[i].permille), text),
		       i + 1 < MARKS ? " " : "\n");
}

void times_print(const struct tq_times *times)
{
	print_histogram("wait", &times->wait);
	print_histogram("run", &times->run);
	print_histogram("in all", &times->life);
}

static json_t *json_of_histogram(const struct tq_histogram *histogram)
{
	json_t *object = json_object();
	char key[16];

	json_object_set_new(object, "count", json_u64(histogram->count));
	if (!histogram->count)
		return object;
	json_object_set_new(object, "mean_ns", json_u64(histogram->sum_ns / histogram->count));
	for (unsigned i = 0; i < MARKS; i++) {
		snprintf(key, sizeof(key), "%s_ns", marks[i].name);
		json_object_set_new(object, key,
				    json_u64(tq_histogram_at(histogram, marks[i].permille)));
	}
	return object;
}

void times_add(json_t *object, const struct tq_times *times)
{
	json_object_set_new(object, "wait", json_of_histogram(&times->wait));
	json_object_set_new(object, "run", json_of_histogram(&times->run));
	json_object_set_new(object, "end_to_end", json_of_histogram(&times->life));
}
