/* SPDX-License-Identifier: MIT */
/* The table of results, and its last line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define FEW 10 /* below it, hundredths are of interest */

static bool as_json;
static uint32_t met, missed, unmeasured;

void bench_table_json(void)
{
	as_json = true;
}

static int decimals(double value)
{
	return value < FEW ? 2 : 1;
}

static void report_bounded(const char *name, double value, const char *unit, double bound,
			   const char *side, bool is_met)
{
	*(is_met ? &met : &missed) += 1;
	if (as_json)
		printf("{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"bound\":%.3f,"
		       "\"side\":\"%s\",\"met\":%s}\n",
		       name, value, unit, bound, side, is_met ? "true" : "false");
	else
		printf("%-60s %9.*f %-7s %s %6.1f  %s\n", name, decimals(value), value, unit, side,
		       bound, is_met ? "met" : "MISSED");
	fflush(stdout);
}

static void report_free(const char *name, double value, const char *unit)
{
	if (as_json)
		printf("{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"bound\":null,"
		       "\"met\":null}\n",
		       name, value, unit);
	else
		printf("%-60s %9.*f %s\n", name, decimals(value), value, unit);
	fflush(stdout);
}

void bench_report(const char *name, double value, const char *unit, double bound)
{
	if (bound > 0)
		report_bounded(name, value, unit, bound, "at most", value <= bound);
	else
		report_free(name, value, unit);
}

void bench_report_least(const char *name, double value, const char *unit, double bound)
{
	report_bounded(name, value, unit, bound, "at least", value >= bound);
}

void bench_report_point(const struct bench_point *p)
{
	if (as_json)
		printf("{\"name\":\"%s, %.0f %s\",\"value\":%.3f,\"unit\":\"%s\",\"bound\":null,"
		       "\"met\":null,\"plot\":\"%s\",\"series\":\"%s\",\"x\":%.0f,"
		       "\"least\":%.3f,\"most\":%.3f}\n",
		       p->series, p->x, p->what, p->median, p->unit, p->plot, p->series, p->x,
		       p->least, p->most);
	else
		printf("%-40s %9.0f %-9s %9.*f %-7s (%.*f to %.*f)\n", p->series, p->x, p->what,
		       decimals(p->median), p->median, p->unit, decimals(p->median), p->least,
		       decimals(p->median), p->most);
	fflush(stdout);
}

void bench_point_of(struct bench_point *point, uint64_t *samples, uint32_t count, double each)
{
	point->median = (double)bench_quantile(samples, count, 0.5) / each;
	point->least = (double)samples[0] / each;
	point->most = (double)samples[count - 1] / each;
}

void bench_report_peer(const char *series, const char *settings, const char *lacks)
{
	if (as_json)
		printf("{\"name\":\"%s\",\"value\":null,\"unit\":null,\"bound\":null,\"met\":null,"
		       "\"settings\":\"%s\",\"lacks\":\"%s\"}\n",
		       series, settings, lacks);
	else
		printf("%s: %s; lacks %s\n", series, settings, lacks);
	fflush(stdout);
}

void bench_not_measured(const char *name, const char *why)
{
	unmeasured++;
	if (as_json)
		printf("{\"name\":\"%s\",\"value\":null,\"unit\":null,\"bound\":null,\"met\":null,"
		       "\"not_measured\":\"%s\"}\n",
		       name, why);
	else
		printf("%-60s not measured: %s\n", name, why);
	fflush(stdout);
}

void bench_report_count(const char *name, double instructions, double first_misses,
			double last_misses)
{
	if (as_json)
		printf("{\"name\":\"%s\",\"value\":%.1f,\"unit\":\"instructions\",\"bound\":null,"
		       "\"met\":null,\"l1_data_misses\":%.3f,\"last_level_data_misses\":%.3f}\n",
		       name, instructions, first_misses, last_misses);
	else
		printf("%-60s %9.1f instructions, misses of data: L1 %.1f, last level %.1f\n", name,
		       instructions, first_misses, last_misses);
	fflush(stdout);
}

/* The first model that the kernel names; "" none. */
static void read_model(char *model, int bytes)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	while (f && !*model && fgets(line, sizeof(line), f))
		if (strncmp(line, "model name", 10) == 0 && strchr(line, ':'))
			snprintf(model, (size_t)bytes, "%.*s",
				 (int)strcspn(strchr(line, ':') + 2, "\n"), strchr(line, ':') + 2);
	if (f)
		fclose(f);
}

void bench_table_begin(void)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	char model[128] = "";
	double load = 0;

	read_model(model, sizeof(model));
	if (getloadavg(&load, 1) < 1)
		load = 0;
	if (as_json)
		printf("{\"name\":\"machine\",\"processors\":%ld,\"model\":\"%s\",\"load\":%.1f}\n",
		       processors, model, load);
	else
		printf("%ld processors (%s), with a load of %.1f\n", processors, model, load);
	fflush(stdout); /* before anything forks */
}

void bench_table_end(void)
{
	if (as_json)
		printf("{\"name\":\"bounds\",\"met\":%u,\"missed\":%u,\"not_measured\":%u}\n", met,
		       missed, unmeasured);
	else
		printf("%u of %u bounds met, %u MISSED; %u rows not measured\n", met, met + missed,
		       missed, unmeasured);
}
