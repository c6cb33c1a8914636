/* SPDX-License-Identifier: MIT */
/* Text in lines, "name  value" or free: what details are shown as. */
#ifndef TASKQ_TOP_LINES_H
#define TASKQ_TOP_LINES_H

#include "cells.h"

struct line_text {
	enum role role;	  /* of the value */
	const char *name; /* "" none; of static storage */
	char *value;
};

struct lines {
	struct line_text *at;
	unsigned count, room;
};

void lines_clear(struct lines *lines);
void lines_free(struct lines *lines);

void lines_add(struct lines *lines, enum role role, const char *name, const char *format, ...)
	PRINTF_LIKE(4, 5);

/* Rows that they take on these cells: long ones are broken at words. */
unsigned lines_rows(const struct lines *lines, struct cells *cells);
/* Draws `height` rows of them from row `first` on. */
void lines_draw(const struct lines *lines, struct cells *cells, int y, int height, unsigned first);

#endif
