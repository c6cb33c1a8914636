/* SPDX-License-Identifier: MIT */
/* The rows of a list, read a page at a time. */
#ifndef TASKQ_TOOL_ROWS_H
#define TASKQ_TOOL_ROWS_H

#include <stddef.h>

#include "cli.h"
#include "tools/taskq/print/table.h"

/* As tq_queue_list(): up to @count structs into @infos, the size set in the first. */
typedef int page_fn(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count);

/* Print one, as a row of the table or as JSON; false: it is left out. */
typedef bool row_fn(struct cli *cli, struct table *table, const void *info);

/*
 * Print all rows of @bytes each, and end the table.  CLI_NOTHING when there are none;
 * on an error, reported as one of @what, its exit code.
 */
int rows_print(struct cli *cli, struct table *table, size_t bytes, page_fn *page, row_fn *row,
	       const char *what);

#endif
