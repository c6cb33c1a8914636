/* SPDX-License-Identifier: MIT */
/* A screen in memory. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "cells.h"
#include "text.h"

static const char *const glyphs[GLYPH_COUNT][2] = {
	{ "▁", "." }, { "▂", "." }, { "▃", ":" }, { "▄", ":" }, { "▅", "+" },
	{ "▆", "+" }, { "▇", "#" }, { "█", "#" }, { "█", "|" }, { "░", " " },
	{ "▼", "v" }, { "▲", "^" }, { "…", "~" },
};

bool cells_resize(struct cells *cells, int width, int height)
{
	const size_t count = (size_t)width * (size_t)height;
	struct cell *at = width > 0 && height > 0 ? calloc(count, sizeof(*at)) : NULL;

	free(cells->at);
	cells->at = at;
	cells->width = at ? width : 0;
	cells->height = at ? height : 0;
	cells_clear(cells);
	return at != NULL;
}

void cells_clear(struct cells *cells)
{
	for (int y = 0; y < cells->height; y++)
		cells_fill(cells, 0, y, cells->width, ROLE_TEXT);
}

void cells_free(struct cells *cells)
{
	free(cells->at);
	*cells = (struct cells){ .ascii = cells->ascii };
}

static struct cell *cell_at(struct cells *cells, int x, int y)
{
	if (x < 0 || y < 0 || x >= cells->width || y >= cells->height)
		return NULL;
	return &cells->at[(size_t)y * (size_t)cells->width + (size_t)x];
}

static void set_cell(struct cells *cells, int x, int y, enum role role, const char *text,
		     size_t bytes)
{
	struct cell *cell = cell_at(cells, x, y);

	if (!cell || bytes >= sizeof(cell->text))
		return;
	memset(cell->text, 0, sizeof(cell->text)); /* cells are compared byte by byte */
	memcpy(cell->text, text, bytes);
	cell->role = (uint8_t)role;
}

/* Columns of one valid character; 0 it cannot stand alone, or not on this terminal. */
static int char_width(const struct cells *cells, const char *text, size_t bytes)
{
	wchar_t wide;
	mbstate_t state = { 0 };

	if (bytes == 1)
		return 1;
	if (cells->ascii || mbrtowc(&wide, text, bytes, &state) != bytes)
		return 0;
	const int width = wcwidth(wide);

	return width > 0 ? width : 0;
}

static int put_char(struct cells *cells, int x, int y, int end, enum role role, const char *text,
		    size_t bytes)
{
	const int width = char_width(cells, text, bytes);

	if (width == 0) {
		set_cell(cells, x, y, role, "?", 1);
		return x + 1;
	}
	if (x + width > end) { /* half of a wide one */
		set_cell(cells, x, y, role, " ", 1);
		return end;
	}
	set_cell(cells, x, y, role, text, bytes);
	if (width == 2)
		set_cell(cells, x + 1, y, role, "", 0);
	return x + width;
}

/* Most text needs no care. */
static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text < 127)
		text++;
	return *text == '\0';
}

static int put_plain(struct cells *cells, int x, int y, int end, enum role role, const char *text)
{
	for (; *text && x < end; x++, text++)
		set_cell(cells, x, y, role, text, 1);
	return x;
}

int cells_put(struct cells *cells, int x, int y, int end, enum role role, const char *text)
{
	if (is_plain(text))
		return put_plain(cells, x, y, end < cells->width ? end : cells->width, role, text);
	char *safe = text_safe_copy(text, 0);
	const char *at = safe ? safe : "";
	size_t left = strlen(at);

	end = end < cells->width ? end : cells->width;
	while (left > 0 && x < end) {
		const size_t bytes = text_char(at, left);

		x = put_char(cells, x, y, end, role, at, bytes);
		at += bytes;
		left -= bytes;
	}
	free(safe);
	return x;
}

int cells_printf(struct cells *cells, int x, int y, int end, enum role role, const char *format,
		 ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	x = cells_put(cells, x, y, end, role, text ? text : "");
	free(text);
	return x;
}

int cells_glyph(struct cells *cells, int x, int y, enum role role, enum glyph glyph)
{
	const char *text = glyphs[glyph][cells->ascii];

	set_cell(cells, x, y, role, text, strlen(text));
	return x + 1;
}

int cells_width(const struct cells *cells, const char *text)
{
	if (is_plain(text))
		return (int)strlen(text);
	char *safe = text_safe_copy(text, 0);
	int width = 0;

	for (const char *at = safe ? safe : ""; *at;) {
		const size_t bytes = text_char(at, strlen(at));
		const int columns = char_width(cells, at, bytes);

		width += columns ? columns : 1;
		at += bytes;
	}
	free(safe);
	return width;
}

size_t cells_break(const struct cells *cells, const char *safe, int columns)
{
	const size_t all = strlen(safe);
	size_t at = 0, word = 0;

	for (size_t bytes; at < all; at += bytes) {
		bytes = text_char(safe + at, all - at);
		const int width = char_width(cells, safe + at, bytes);

		columns -= width ? width : 1;
		if (columns < 0 && safe[at] != ' ')
			return word ? word : at ? at : bytes;
		if (safe[at] == ' ')
			word = at + 1;
		if (columns < 0)
			return word;
	}
	return all;
}

void cells_field(struct cells *cells, int x, int y, int width, bool right, enum role role,
		 const char *text)
{
	const int columns = cells_width(cells, text);

	if (columns <= width) {
		cells_put(cells, right ? x + width - columns : x, y, x + width, role, text);
		return;
	}
	cells_put(cells, x, y, x + width - 1, role, text);
	if (width > 0)
		cells_glyph(cells, x + width - 1, y, role, GLYPH_CUT);
}

void cells_fill(struct cells *cells, int x, int y, int width, enum role role)
{
	for (int i = 0; i < width; i++)
		set_cell(cells, x + i, y, role, " ", 1);
}

void cells_tint(struct cells *cells, int x, int y, int width, enum role role)
{
	for (int i = 0; i < width; i++) {
		struct cell *cell = cell_at(cells, x + i, y);

		if (cell)
			cell->role = (uint8_t)role;
	}
}

static const struct cell *row_of(const struct cells *cells, int y)
{
	return &cells->at[(size_t)y * (size_t)cells->width];
}

/* Cells of a row up to its last sign. */
static int length_of(const struct cells *cells, int y)
{
	const struct cell *row = row_of(cells, y);
	int end = cells->width;

	while (end > 0 && !strcmp(row[end - 1].text, " "))
		end--;
	return end;
}

void cells_dump(const struct cells *cells, FILE *out)
{
	int end = cells->height;

	while (end > 0 && length_of(cells, end - 1) == 0)
		end--;
	for (int y = 0; y < end; y++) {
		for (int x = 0; x < length_of(cells, y); x++)
			fputs(row_of(cells, y)[x].text, out);
		fputc('\n', out);
	}
}

void cells_dump_roles(const struct cells *cells, FILE *out)
{
	static const char letters[] = {
#define ROLE_LETTER(name, letter) letter,
		ROLE_MAP(ROLE_LETTER)
#undef ROLE_LETTER
	};

	for (int y = 0; y < cells->height; y++) {
		for (int x = 0; x < cells->width; x++)
			fputc(letters[row_of(cells, y)[x].role], out);
		fputc('\n', out);
	}
}
