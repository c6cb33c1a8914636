/* SPDX-License-Identifier: MIT */
/*
 * Counts what operations cost, and compares with the file; see counts.h.
 *
 *   counts.counts_test FILE             0 as it says, 77 made elsewhere, 1 something differs
 *   counts.counts_test FILE --update    write what differs into it
 */
#include <stdio.h>
#include <string.h>

#include "tests/counts/counts.h"

#define SKIPPED 77

static struct tqt_table now, old;

static int inside(void)
{
	tqt_scenes(&tqt_meter_instructions, &now);
	return 0;
}

static double instructions_of(const char *operation, const char *situation)
{
	for (uint32_t i = 0; i < now.count; i++)
		if (strcmp(now.rows[i].operation, operation) == 0 &&
		    strcmp(now.rows[i].situation, situation) == 0)
			return now.rows[i].of[TQT_INSTRUCTIONS];
	return 0;
}

static void say_lives(const char *situation)
{
	const double submit = instructions_of("submit", situation);

	printf("a life, %s: %.0f instructions; with tq_next %.0f; in batches %.0f\n", situation,
	       submit + instructions_of("claim", situation) +
		       instructions_of("complete", situation),
	       submit + instructions_of("next", situation),
	       (instructions_of("submit-64", situation) + instructions_of("claim-64", situation) +
		instructions_of("complete-64", situation)) /
		       64);
}

static int compare(const char *why_not)
{
	const uint32_t bad = tqt_table_compare(&now, &old, !why_not);

	if (bad) {
		printf("%u figures differ.  A change that is meant:  ./run counts --update\n", bad);
		return 1;
	}
	if (why_not) {
		printf("instructions: not run here: %s\n", why_not);
		return SKIPPED;
	}
	say_lives("plain");
	say_lives("1000-waiting");
	say_lives("1000-in-order");
	return 0;
}

static int update(const char *path, const char *why_not)
{
	if (why_not) {
		fprintf(stderr, "instructions: %s; nothing is written\n", why_not);
		return 1;
	}
	(void)tqt_table_compare(&now, &old, true);
	tqt_table_write(path, &now, &old);
	say_lives("plain");
	say_lives("1000-waiting");
	say_lives("1000-in-order");
	return 0;
}

int main(int argc, char **argv)
{
	const bool updates = argc == 3 && strcmp(argv[2], "--update") == 0;
	char made[64];

	if (argc == 2 && strcmp(argv[1], TQT_INSIDE) == 0)
		return inside();
	if (argc < 2 || (argc > 2 && !updates)) {
		fprintf(stderr, "usage: counts.counts_test FILE [--update]\n");
		return 2;
	}
	tqt_table_read(argv[1], &old, made);
	if (strcmp(made, tqt_table_here()) != 0) {
		printf("not run here: counted with %s, this is %s\n", made, tqt_table_here());
		return updates ? 1 : SKIPPED;
	}
	tqt_scenes(&tqt_meter_stores, &now);
	const char *why_not = tqt_count_instructions(&now);

	return updates ? update(argv[1], why_not) : compare(why_not);
}
