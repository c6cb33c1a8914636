/* SPDX-License-Identifier: MIT */
/* Aligned columns, printed a chunk of rows at a time so that memory stays flat. */
#ifndef TASKQ_TOOL_TABLE_H
#define TASKQ_TOOL_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "errors.h"

enum {
	TABLE_COLUMNS_MAX = 64
};

struct table {
	unsigned columns;
	const char *headers[TABLE_COLUMNS_MAX];
	bool right[TABLE_COLUMNS_MAX]; /* numbers */
	unsigned widths[TABLE_COLUMNS_MAX];
	bool plain;   /* for programs: no headers, and a tab between cells, exact texts */
	bool headed;  /* the headers have been printed */
	char **cells; /* of the rows not yet printed */
	unsigned cell_count;
	unsigned cell_room;
};

void table_column(struct table *table, const char *header, bool right);

/* Adds the next cell; rows fill from left to right. */
void table_cell(struct table *table, const char *format, ...) PRINTF_LIKE(2, 3);

/* The same of @text, which may hold NULs where it is for programs. */
void table_cell_bytes(struct table *table, const char *text, size_t bytes);

/* Prints the rows added so far, below the headers if these are still due. */
void table_flush(struct table *table, FILE *out);

/* table_flush(), and frees what the table owns. */
void table_end(struct table *table, FILE *out);

#endif
