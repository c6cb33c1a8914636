/* SPDX-License-Identifier: MIT */
/*
 * Parts that look inside the library.  They are a program of their own beside this one,
 * so that the probes cost nothing here; it prints a line a row, which this one tabulates.
 */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define PATH_BYTES 1024

static FILE *start(const char *part)
{
	char self[PATH_BYTES], command[PATH_BYTES + 64];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[length > 0 ? length : 0] = '\0';
	snprintf(command, sizeof(command), "exec '%s/taskq-bench-inside' %s%s", dirname(self), part,
		 bench_is_quick() ? " --quick" : "");
	return popen(command, "r");
}

/* "VALUE BOUND UNIT NAME...". */
static void report_line(const char *line)
{
	double value, bound;
	char unit[16];
	int name = 0;

	if (sscanf(line, "%lf %lf %15s %n", &value, &bound, unit, &name) == 3 && name > 0)
		bench_report(line + name, value, unit, bound);
}

static void run(const char *part)
{
	FILE *rows = start(part);
	char line[256];

	while (rows && fgets(line, sizeof(line), rows)) {
		line[strcspn(line, "\n")] = '\0';
		report_line(line);
	}
	if (!rows || pclose(rows) != 0)
		bench_not_measured(part, "taskq-bench-inside failed");
}

void bench_parked(void)
{
	run("parked");
}

void bench_hold(void)
{
	run("hold");
}
