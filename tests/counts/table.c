/* SPDX-License-Identifier: MIT */
/* The file of counts: one row a line, so that changes of several people merge. */
#include "tests/counts/counts.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 256
#define MADE "# made with "
#define AMONG_MANY "1000-" /* begins the names of situations that may cost more */
#define EXACT 0.05 /* half of the last digit that is written */

static const char *const figures[TQT_FIGURES] = { "instructions", "entries", "lines" };

static const char head[] =
	"# SPDX-License-Identifier: MIT\n"
	"# What one operation costs (tests/counts/counts.h): instructions, journal entries, and "
	"cache\n"
	"# lines of the segment that it writes; of one call, the mean of 10 where it is for one "
	"task.\n"
	"# `./run counts --update` writes it, in the change that says why: see CONTRIBUTING.md.\n"
	"# A last figure: known to cost so many times \"plain\", which is over 1.1.  It may only "
	"fall.\n";

const char *tqt_table_here(void)
{
	static char here[64];

	snprintf(here, sizeof(here), "gcc-%d.%d glibc-%.16s x86_64", __GNUC__, __GNUC_MINOR__,
		 gnu_get_libc_version());
	return here;
}

static _Noreturn void fail(const char *path)
{
	perror(path);
	exit(1);
}

static bool read_row(const char *line, struct tqt_row *r)
{
	*r = (struct tqt_row){ 0 };
	return sscanf(line, "%15s %15s %lf %lf %lf %lf", r->operation, r->situation, &r->of[0],
		      &r->of[1], &r->of[2], &r->excess) >= 5;
}

void tqt_table_read(const char *path, struct tqt_table *ret, char made[64])
{
	char line[LINE_BYTES];
	FILE *f = fopen(path, "r");

	if (!f)
		fail(path);
	ret->count = 0;
	made[0] = '\0';
	while (fgets(line, sizeof(line), f) && ret->count < TQT_ROWS_MAX) {
		if (strncmp(line, MADE, strlen(MADE)) == 0)
			snprintf(made, 64, "%.*s", (int)strcspn(line + strlen(MADE), "\n"),
				 line + strlen(MADE));
		else if (line[0] != '#' && read_row(line, &ret->rows[ret->count]))
			ret->count++;
	}
	fclose(f);
}

static const struct tqt_row *find(const struct tqt_table *t, const char *operation,
				  const char *situation)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (strcmp(t->rows[i].operation, operation) == 0 &&
		    strcmp(t->rows[i].situation, situation) == 0)
			return &t->rows[i];
	return NULL;
}

static bool agrees(double now, double was, enum tqt_figure figure)
{
	const double slack = figure == TQT_INSTRUCTIONS ? TQT_SLACK * was : EXACT;

	return fabs(now - was) <= slack;
}

static bool row_agrees(const struct tqt_row *now, const struct tqt_row *was)
{
	for (enum tqt_figure f = 0; f < TQT_FIGURES; f++)
		if (!agrees(now->of[f], was->of[f], f))
			return false;
	return true;
}

/* How many times the same operation costs with nothing else in the segment; 0 it is that one,
 * or one that may cost more. */
static double times_plain(const struct tqt_table *now, const struct tqt_row *r)
{
	const struct tqt_row *plain = find(now, r->operation, "plain");

	if (!plain || plain == r || strncmp(r->situation, AMONG_MANY, strlen(AMONG_MANY)) == 0)
		return 0;
	return r->of[TQT_INSTRUCTIONS] / plain->of[TQT_INSTRUCTIONS];
}

/* In hundredths, upwards: a figure that is written does not forbid itself. */
static double hundredths(double times)
{
	return ceil(times * 100) / 100;
}

/* What a row may excuse from now on: never more than before, nothing that is not needed. */
static double excess_left(const struct tqt_table *now, const struct tqt_row *r,
			  const struct tqt_row *was)
{
	const double times = hundredths(times_plain(now, r));

	if (!was || times <= TQT_TIMES)
		return 0;
	return was->excess < times ? was->excess : times;
}

static void write_row(FILE *f, const struct tqt_row *r, double excess)
{
	fprintf(f, "%-11s %-12s %9.1f %6.1f %6.1f", r->operation, r->situation, r->of[0], r->of[1],
		r->of[2]);
	if (excess > 0)
		fprintf(f, "   %.2f", excess);
	fputc('\n', f);
}

void tqt_table_write(const char *path, const struct tqt_table *now, const struct tqt_table *old)
{
	FILE *f = fopen(path, "w");

	if (!f)
		fail(path);
	fputs(head, f);
	fprintf(f, MADE "%s\n", tqt_table_here());
	for (uint32_t i = 0; i < now->count; i++) {
		const struct tqt_row *r = &now->rows[i];
		const struct tqt_row *was = find(old, r->operation, r->situation);

		write_row(f, was && row_agrees(r, was) ? was : r, excess_left(now, r, was));
	}
	if (fclose(f))
		fail(path);
}

static uint32_t compare_row(const struct tqt_row *now, const struct tqt_row *was, bool instructions)
{
	uint32_t bad = 0;

	for (enum tqt_figure f = instructions ? 0 : TQT_ENTRIES; f < TQT_FIGURES; f++) {
		if (was && agrees(now->of[f], was->of[f], f))
			continue;
		bad++;
		if (was)
			printf("%s, %s: %s were %.1f, are %.1f (%+.1f %%)\n", now->operation,
			       now->situation, figures[f], was->of[f], now->of[f],
			       100 * (now->of[f] / was->of[f] - 1));
		else
			printf("%s, %s: %s are %.1f, and not in the file\n", now->operation,
			       now->situation, figures[f], now->of[f]);
	}
	return bad;
}

static uint32_t compare_times(const struct tqt_table *now, const struct tqt_row *r,
			      const struct tqt_row *was)
{
	const double most = was && was->excess > 0 ? was->excess : TQT_TIMES;
	const double times = times_plain(now, r);

	if (times <= most * (1 + TQT_SLACK))
		return 0;
	printf("%s, %s: costs %.3f times plain, at most %.2f\n", r->operation, r->situation, times,
	       most);
	return 1;
}

uint32_t tqt_table_compare(const struct tqt_table *now, const struct tqt_table *old,
			   bool instructions)
{
	uint32_t bad = 0;

	for (uint32_t i = 0; i < now->count; i++) {
		const struct tqt_row *r = &now->rows[i];
		const struct tqt_row *was = find(old, r->operation, r->situation);

		bad += compare_row(r, was, instructions);
		if (instructions)
			bad += compare_times(now, r, was);
	}
	for (uint32_t i = 0; i < old->count; i++) {
		if (find(now, old->rows[i].operation, old->rows[i].situation))
			continue;
		bad++;
		printf("%s, %s: is in the file, and not counted\n", old->rows[i].operation,
		       old->rows[i].situation);
	}
	return bad;
}
