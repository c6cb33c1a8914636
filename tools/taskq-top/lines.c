/* SPDX-License-Identifier: MIT */
/* Text in lines. */
#include <stdarg.h>
#include <stdlib.h>

#include "lines.h"

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

void lines_draw(const struct lines *lines, struct cells *cells, int y, int height, unsigned first)
{
	for (int i = 0; i < height && first + (unsigned)i < lines->count; i++) {
		const struct line_text *line = &lines->at[first + (unsigned)i];
		int x = 1;

		if (line->name[0]) {
			cells_put(cells, x, y + i, cells->width, ROLE_DIM, line->name);
			x += NAME_COLUMNS;
		}
		if (line->value)
			cells_put(cells, x, y + i, cells->width, line->role, line->value);
	}
}
