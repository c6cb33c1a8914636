/* SPDX-License-Identifier: MIT */
/* The table of results, and its last line. */
#include <stdio.h>

#include "bench.h"

static bool as_json;
static uint32_t met, missed, unmeasured;

void bench_table_json(void)
{
	as_json = true;
}

/* `bound` and `met` are null where there is no bound. */
static void print_json(const char *name, double value, const char *unit, double bound)
{
	printf("{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"", name, value, unit);
	if (bound > 0)
		printf(",\"bound\":%.3f,\"met\":%s}\n", bound, value > bound ? "false" : "true");
	else
		printf(",\"bound\":null,\"met\":null}\n");
}

void bench_report(const char *name, double value, const char *unit, double bound)
{
	if (bound > 0)
		*(value > bound ? &missed : &met) += 1;
	if (as_json)
		print_json(name, value, unit, bound);
	else if (bound > 0)
		printf("%-60s %9.1f %-7s at most %6.1f  %s\n", name, value, unit, bound,
		       value > bound ? "MISSED" : "met");
	else
		printf("%-60s %9.1f %s\n", name, value, unit);
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

void bench_table_end(void)
{
	if (as_json)
		printf("{\"name\":\"bounds\",\"met\":%u,\"missed\":%u,\"not_measured\":%u}\n", met,
		       missed, unmeasured);
	else
		printf("%u of %u bounds met, %u MISSED; %u rows not measured\n", met, met + missed,
		       missed, unmeasured);
}
