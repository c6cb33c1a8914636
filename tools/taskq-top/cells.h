/* SPDX-License-Identifier: MIT */
/*
 * A screen in memory: a character and a role in each cell.  Views draw here; screen.c
 * brings it to a terminal, batch.c to a file, tests compare it.
 */
#ifndef TASKQ_TOP_CELLS_H
#define TASKQ_TOP_CELLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "errors.h"

/* The one table of roles: what a cell means, not its colour; name, letter in dumps. */
#define ROLE_MAP(X)                                                                                \
	X(ROLE_TEXT, '.')                                                                          \
	X(ROLE_DIM, 'd')       /* captions, what is of no interest */                              \
	X(ROLE_STRONG, 'S')    /* figures that matter */                                           \
	X(ROLE_TITLE, 't')     /* the first line */                                                \
	X(ROLE_TAB, 'a')       /* a view that is not shown */                                      \
	X(ROLE_TAB_ON, 'A')    /* the one that is */                                               \
	X(ROLE_HEAD, 'h')      /* headers of columns */                                            \
	X(ROLE_HEAD_SORT, 'H') /* of the one that decides the order */                             \
	X(ROLE_PICKED, 'P')    /* the line that keys act on */                                     \
	X(ROLE_GOOD, 'g')                                                                          \
	X(ROLE_BUSY, 'b') /* under way */                                                          \
	X(ROLE_WARN, 'w')                                                                          \
	X(ROLE_BAD, 'x')                                                                           \
	X(ROLE_ALARM, '!') /* a line that says what is wrong */                                    \
	X(ROLE_ASK, '?')   /* a question, or a line to type in */                                  \
	X(ROLE_KEY, 'k')   /* in the last line */                                                  \
	X(ROLE_KEY_TEXT, 'K')                                                                      \
	X(ROLE_GRAPH, 'G')                                                                         \
	X(ROLE_GRAPH_BAD, 'X')

enum role {
#define ROLE_ENUM(name, letter) name,
	ROLE_MAP(ROLE_ENUM)
#undef ROLE_ENUM
	ROLE_COUNT
};

/* Signs with a stand-in where the terminal has ASCII only. */
enum glyph {
	GLYPH_BAR_1, /* eight heights of a bar */
	GLYPH_BAR_8 = GLYPH_BAR_1 + 7,
	GLYPH_FULL, /* of a gauge */
	GLYPH_EMPTY,
	GLYPH_DOWN, /* order of a column */
	GLYPH_UP,
	GLYPH_CUT, /* text goes on */
	GLYPH_COUNT
};

struct cell {
	char text[8]; /* UTF-8, one character; "" the right half of a wide one */
	uint8_t role; /* enum role */
};

struct cells {
	int width, height;
	bool ascii;
	struct cell *at; /* row by row */
};

/* Makes it this large, and blank; false: no memory, it is empty then. */
bool cells_resize(struct cells *cells, int width, int height);
void cells_clear(struct cells *cells);
void cells_free(struct cells *cells);

/*
 * Text from (x, y) on, clipped at column `end` and at the edges; control characters and
 * bad UTF-8 are escaped.  Returns the column behind it.
 */
int cells_put(struct cells *cells, int x, int y, int end, enum role role, const char *text);
int cells_printf(struct cells *cells, int x, int y, int end, enum role role, const char *format,
		 ...) PRINTF_LIKE(6, 7);
int cells_glyph(struct cells *cells, int x, int y, enum role role, enum glyph glyph);

/* Text in a field of `width` columns; a longer one ends with a sign that it was cut. */
void cells_field(struct cells *cells, int x, int y, int width, bool right, enum role role,
		 const char *text);

/* Blanks, or another role for what stands there. */
void cells_fill(struct cells *cells, int x, int y, int width, enum role role);
void cells_tint(struct cells *cells, int x, int y, int width, enum role role);

/* Bytes of text, harmless and not empty, for a row of so many columns: it breaks behind a
 * blank when it can. */
size_t cells_break(const struct cells *cells, const char *safe, int columns);

/* Columns that the text takes. */
int cells_width(const struct cells *cells, const char *text);

/* Lines without blanks at their ends, and none behind the last sign; a letter for the
 * role of each cell. */
void cells_dump(const struct cells *cells, FILE *out);
void cells_dump_roles(const struct cells *cells, FILE *out);

#endif
