/* SPDX-License-Identifier: MIT */
/* Paging. */
#include "tools/taskq/print/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"

enum {
	CHUNK = 64
}; /* rows in memory at a time */

/* How many there were, or the library's error. */
static int print_pages(struct cli *cli, struct table *table, size_t bytes, page_fn *page,
		       row_fn *row)
{
	unsigned char *infos = calloc(CHUNK, bytes);
	const uint64_t size = bytes;
	uint64_t cursor = 0;
	int n, rows = 0;

	if (!infos)
		return -ENOMEM;
	do {
		memcpy(infos, &size, sizeof(size)); /* the first field of each such struct */
		n = page(cli->tq, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			rows += row(cli, table, infos + (size_t)i * bytes);
	} while (n > 0);
	free(infos);
	return n < 0 ? n : rows;
}

int rows_print(struct cli *cli, struct table *table, size_t bytes, page_fn *page, row_fn *row,
	       const char *what)
{
	const int r = print_pages(cli, table, bytes, page, row);

	table_end(table, stdout);
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "%s", what);
	return CLI_OK;
}
