/* SPDX-License-Identifier: MIT */
/* Text in lines. */
#include <stdarg.h>
#include <stdlib.h>

#include "lines.h"
#include "text.h"

enum {
	NAME_COLUMNS = 13
};

void lines_clear(struct lines *lines)
{
	for (unsigned i = 0; i < lines->count; i++)
		free(lines->at[i].value);
	lines->count = 0;
}

void lines_free(struct lines *lines)
{
	lines_clear(lines);
	free(lines->at);
	*lines = (struct lines){ 0 };
}

void lines_add(struct lines *lines, enum role role, const char *name, const char *format, ...)
{
	struct line_text line = { .role = role, .name = name };
	va_list args;

	if (lines->count == lines->room) {
		const unsigned room = lines->room ? 2 * lines->room : 64;
		struct line_text *at = reallocarray(lines->at, room, sizeof(*at));

		if (!at)
			return;
		lines->at = at;
		lines->room = room;
	}
	va_start(args, format);
	if (vasprintf(&line.value, format, args) < 0)
		line.value = NULL;
	va_end(args);
	lines->at[lines->count++] = line;
}

/* A part of the screen, and how many rows of text were met. */
struct page {
	struct cells *cells;
	int y, height;
	unsigned first, row;
};

/* Where the row that was met last stands; -1: not on the page. */
static int place_of(const struct page *page)
{
	return page->row >= page->first && page->row - page->first < (unsigned)page->height
		       ? page->y + (int)(page->row - page->first)
		       : -1;
}

static void put_row(struct page *page, int x, enum role role, const char *text)
{
	const int y = place_of(page);

	if (y >= 0)
		cells_put(page->cells, x, y, page->cells->width, role, text);
	page->row++;
}

/* What is too long for a row goes on in the next one. */
static void put_value(struct page *page, int x, enum role role, const char *value)
{
	const int columns = page->cells->width > x ? page->cells->width - x : 1;
	char *safe = cells_width(page->cells, value) > columns ? text_safe_copy(value, 0) : NULL;

	if (!safe) {
		put_row(page, x, role, value);
		return;
	}
	for (char *at = safe; *at;) {
		char *end = at + cells_break(page->cells, at, columns);
		const char next = *end;

		*end = '\0';
		put_row(page, x, role, at);
		*end = next;
		at = end;
	}
	free(safe);
}

static void put_line(struct page *page, const struct line_text *line)
{
	int x = 1, y = place_of(page);

	if (line->name[0]) {
		if (y >= 0)
			cells_put(page->cells, x, y, page->cells->width, ROLE_DIM, line->name);
		x += NAME_COLUMNS;
	}
	put_value(page, x, line->role, line->value ? line->value : "");
}

unsigned lines_rows(const struct lines *lines, struct cells *cells)
{
	struct page page = { .cells = cells };

	for (unsigned i = 0; i < lines->count; i++)
		put_line(&page, &lines->at[i]);
	return page.row;
}

void lines_draw(const struct lines *lines, struct cells *cells, int y, int height, unsigned first)
{
	struct page page = { .cells = cells, .y = y, .height = height, .first = first };

	for (unsigned i = 0; i < lines->count && page.row < first + (unsigned)height; i++)
		put_line(&page, &lines->at[i]);
}
