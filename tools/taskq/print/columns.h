/* SPDX-License-Identifier: MIT */
/* Tables of which the user chooses the columns: -o and -H. */
#ifndef TASKQ_TOOL_COLUMNS_H
#define TASKQ_TOOL_COLUMNS_H

#include "cli.h"
#include "format.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/print/table.h"

/* Rows for tables of options. */
#define COLUMNS_OPTION_ROWS                                                                        \
	{ 'o', "output", "COL[,COL]", "print these columns; `-o help` lists them" },               \
	{                                                                                          \
		'H', "no-header", NULL, "for programs: no header, tabs between exact values"       \
	}

struct column;

/* What the cells of a row are made from. */
struct column_row {
	struct table *table;
	bool exact; /* not rounded, and in the same unit in every row */
	struct tq *tq;
	const struct clocks *clocks;
	const void *of; /* the struct that a table of columns is about */
	const struct column *column;
};

/* How a cell is written: the field at .offset, or what .put makes of the whole row. */
enum column_form {
	COLUMN_TEXT,	 /* a string inside the struct */
	COLUMN_INT,	 /* int32_t */
	COLUMN_COUNT32,	 /* uint32_t */
	COLUMN_COUNT,	 /* uint64_t */
	COLUMN_ID,	 /* uint64_t, a task's; 0 none */
	COLUMN_SIZE,	 /* uint64_t, bytes; 0 unknown */
	COLUMN_DURATION, /* uint64_t, ns; 0 or TQ_UNLIMITED none */
	COLUMN_TIME,	 /* uint64_t, CLOCK_MONOTONIC; 0 none */
	COLUMN_WORDS,	 /* .put */
	COLUMN_FIGURES,	 /* .put, on the right */
};

struct column {
	const char *name;
	const char *header;
	const char *meaning;
	enum column_form form;
	size_t offset;
	void (*put)(const struct column_row *row);
	uint32_t argument; /* for .put */
};

/* The field at the column's offset. */
const void *column_field(const struct column_row *row);

/* Cells, for .put.  "-" stands for an empty text. */
void column_text(const struct column_row *row, const char *text);
void column_count(const struct column_row *row, uint64_t count);
void column_duration(const struct column_row *row, uint64_t ns);
void column_time(const struct column_row *row, uint64_t unix_ns);
void column_none(const struct column_row *row);

enum {
	COLUMN_WORDS_MAX = TQ_LIMITS_MAX * (TQ_KEY_MAX + 12) /* each with its weight */
}; /* bytes of the longest list: limit keys */

/* Adds a word to a list with commas. */
void column_add_word(char words[COLUMN_WORDS_MAX], const char *word);

/* The column of that name; NULL: @option was refused with a message. */
const struct column *columns_find(const struct cli *cli, const struct column *all,
				  const char *option, const char *name);

/* Whether its cells are numbers. */
bool column_is_figure(const struct column *column);

/* The exact cell of @of, "" for none; freed by free().  NULL: no memory. */
char *column_cell(const struct column *column, struct tq *tq, const struct clocks *clocks,
		  const void *of);

/* A choice of columns, and the table of them. */
struct columns {
	const struct column *all; /* a NULL name ends it */
	const char *usual;	  /* names of those that are printed without -o; NULL: none */
	const struct column *chosen[TABLE_COLUMNS_MAX];
	unsigned count;
	bool asks_help;
	struct table table;
};

/* Takes an option of COLUMNS_OPTION_ROWS, and passes others to option_global(). */
bool columns_option(struct cli *cli, struct columns *columns, int key, const char *arg);

/* When all options are read: whether rows are to be printed.  False: the verb is to return
 * cli->exit_code, as bad usage was reported, or `-o help` answered. */
bool columns_ready(struct cli *cli, struct columns *columns);

/* Adds the row of @of to the table. */
void columns_row(struct columns *columns, struct tq *tq, const struct clocks *clocks,
		 const void *of);

#endif
