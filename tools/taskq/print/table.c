/* SPDX-License-Identifier: MIT */
/* Aligned columns, printed a chunk of rows at a time so that memory stays flat. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.h"
#include "tools/taskq/print/table.h"

enum {
	CELL_LEAST = 16
}; /* columns that the last cell gets on a narrow terminal */

void table_column(struct table *table, const char *header, bool right)
{
	if (table->columns == TABLE_COLUMNS_MAX)
		return;
	table->headers[table->columns] = header;
	table->right[table->columns] = right;
	table->columns++;
}

static bool make_room(struct table *table)
{
	const unsigned room = table->cell_room ? 2 * table->cell_room : 256;

	if (table->cell_count < table->cell_room)
		return true;
	char **cells = reallocarray(table->cells, room, sizeof(*cells));

	if (!cells)
		return false;
	table->cells = cells;
	table->cell_room = room;
	return true;
}

void table_cell(struct table *table, const char *format, ...)
{
	char *cell = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&cell, format, args) < 0)
		cell = NULL;
	va_end(args);
	table_cell_bytes(table, cell ? cell : "", cell ? strlen(cell) : 0);
	free(cell);
}

void table_cell_bytes(struct table *table, const char *text, size_t bytes)
{
	if (make_room(table))
		table->cells[table->cell_count++] = table->plain ? text_exact_copy(text, bytes)
								 : text_safe_copy(text, 0);
}

static unsigned width_of(const char *text)
{
	unsigned width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80; /* not inside a character */
	return width;
}

static void measure(struct table *table)
{
	for (unsigned i = 0; i < table->columns; i++)
		if (width_of(table->headers[i]) > table->widths[i])
			table->widths[i] = width_of(table->headers[i]);
	for (unsigned i = 0; i < table->cell_count; i++) {
		unsigned *width = &table->widths[i % table->columns];
		const char *cell = table->cells[i] ? table->cells[i] : "";

		if (width_of(cell) > *width)
			*width = width_of(cell);
	}
}

/* Columns left for the last cell: 0 (no limit) unless @out is a terminal. */
static unsigned last_room(const struct table *table, FILE *out)
{
	struct winsize size;
	unsigned used = 0;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return 0;
	for (unsigned i = 0; i + 1 < table->columns; i++)
		used += table->widths[i] + 2;
	used += 3; /* for the "..." of a cut */
	return used + CELL_LEAST > size.ws_col ? CELL_LEAST : size.ws_col - used;
}

static void put_last(const struct table *table, const char *cell, unsigned room, FILE *out)
{
	const unsigned column = table->columns - 1;

	if (table->right[column]) {
		fprintf(out, "%*s", (int)table->widths[column], cell);
	} else {
		char *safe = text_safe_copy(cell, room);

		fputs(safe ? safe : "", out);
		free(safe);
	}
}

static void put_row(const struct table *table, char *const *cells, unsigned room, FILE *out)
{
	for (unsigned i = 0; i + 1 < table->columns; i++) {
		const char *cell = cells[i] ? cells[i] : "";
		const int pad = (int)(table->widths[i] - width_of(cell));

		if (table->right[i])
			fprintf(out, "%*s%s  ", pad, "", cell);
		else
			fprintf(out, "%s%*s  ", cell, pad, "");
	}
	put_last(table, cells[table->columns - 1] ? cells[table->columns - 1] : "", room, out);
	fputc('\n', out);
}

static void put_plain(const struct table *table, FILE *out)
{
	for (unsigned i = 0; i < table->cell_count; i++) {
		fputs(table->cells[i] ? table->cells[i] : "", out);
		fputc((i + 1) % table->columns ? '\t' : '\n', out);
	}
}

static void put_headers(struct table *table, FILE *out)
{
	char *cells[TABLE_COLUMNS_MAX];

	for (unsigned i = 0; i < table->columns; i++)
		cells[i] = strdup(table->headers[i]);
	put_row(table, cells, 0, out);
	for (unsigned i = 0; i < table->columns; i++)
		free(cells[i]);
	table->headed = true;
}

static void put_aligned(struct table *table, FILE *out)
{
	measure(table);
	if (!table->headed)
		put_headers(table, out);

	const unsigned room = last_room(table, out);

	for (unsigned i = 0; i + table->columns <= table->cell_count; i += table->columns)
		put_row(table, table->cells + i, room, out);
}

void table_flush(struct table *table, FILE *out)
{
	if (table->columns == 0 || table->cell_count == 0)
		return;
	if (table->plain)
		put_plain(table, out);
	else
		put_aligned(table, out);
	for (unsigned i = 0; i < table->cell_count; i++)
		free(table->cells[i]);
	table->cell_count = 0;
}

void table_end(struct table *table, FILE *out)
{
	table_flush(table, out);
	free(table->cells);
	table->cells = NULL;
	table->cell_room = 0;
}
