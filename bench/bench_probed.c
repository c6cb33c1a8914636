/* SPDX-License-Identifier: MIT */
/* taskq-bench-inside PART [--quick]: what taskq-bench (bench_inside.c) has run and tabulates. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

void bench_report(const char *name, double value, const char *unit, double bound)
{
	printf("%.3f %.3f %s %s\n", value, bound, unit, name);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[2], "--quick") == 0)
		bench_quicken();
	if (argc >= 2 && strcmp(argv[1], "hold") == 0)
		bench_hold();
	else if (argc >= 2 && strcmp(argv[1], "parked") == 0)
		bench_parked();
	else
		return 2;
	return 0;
}
