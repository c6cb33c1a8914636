/* SPDX-License-Identifier: MIT */
/*
 * What one operation costs in one situation: instructions, journal entries, and cache
 * lines of the segment that it writes.  Two passes over the same scenes (scene.c):
 *
 *   stores        natively; the segment is read-only, each store traps: entries, lines
 *   instructions  under callgrind, which this program starts on itself
 *
 * All that could differ from run to run is played: the clock, sleeps, priorities.
 */
#ifndef TQT_COUNTS_H
#define TQT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "client/core/handle.h"

/* An operation to be counted; the same function is used in all passes. */
typedef void tqt_operation(void *arg);

enum tqt_figure {
	TQT_INSTRUCTIONS,
	TQT_ENTRIES,
	TQT_LINES,
	TQT_FIGURES
};

struct tqt_row {
	char operation[16];
	char situation[16];
	uint32_t calls;		/* that have been counted */
	double of[TQT_FIGURES]; /* of one call */
	double excess; /* of the file: times "plain", where that is over TQT_TIMES; 0 it is not */
};

/* One pass: how it looks at a row's operations. */
struct tqt_meter {
	/* The segment of the rows to come, which does not grow any more. */
	void (*watch)(struct tq *tq);
	/* Run it, and add what it costs to this row. */
	void (*count)(tqt_operation *op, void *arg);
	/* The row ends: the figures that this pass has, of all calls. */
	void (*end_row)(struct tqt_row *ret);
};

extern const struct tqt_meter tqt_meter_stores;
extern const struct tqt_meter tqt_meter_instructions; /* only inside tqt_count_instructions() */

#define TQT_ROWS_MAX 128
struct tqt_table {
	struct tqt_row rows[TQT_ROWS_MAX];
	uint32_t count;
};

#define TQT_CALLS 10 /* counted for a row of one task, and for doing nothing */

/* Run all scenes under a meter. */
void tqt_scenes(const struct tqt_meter *meter, struct tqt_table *ret);

/*
 * Fill in the instructions, in the order of the rows.  NULL, or why they cannot be had here.
 * The program's own argument for the run under callgrind is TQT_INSIDE.
 */
#define TQT_INSIDE "--inside"
const char *tqt_count_instructions(struct tqt_table *table);

/*
 * The file (table.c).  TQT_TIMES: what stands elsewhere in the segment costs an operation at
 * most so much more.  TQT_SLACK: instructions that differ by so little are the same.
 */
#define TQT_TIMES 1.1
#define TQT_SLACK 0.005
/* Where such counts are made: compiler, libc, architecture. */
const char *tqt_table_here(void);
/* Exits when it cannot be read; `made` is where its counts were made. */
void tqt_table_read(const char *path, struct tqt_table *ret, char made[64]);
/* Rows that agree with `old` are left as they stand there.  Exits when it cannot be written. */
void tqt_table_write(const char *path, const struct tqt_table *now, const struct tqt_table *old);
/* Says what differs; how many figures do.  `instructions` false: they were not counted. */
uint32_t tqt_table_compare(const struct tqt_table *now, const struct tqt_table *old,
			   bool instructions);

#endif
