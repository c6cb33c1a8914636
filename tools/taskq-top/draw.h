/* SPDX-License-Identifier: MIT */
/* Quantities as pictures, and figures in few columns. */
#ifndef TASKQ_TOP_DRAW_H
#define TASKQ_TOP_DRAW_H

#include "cells.h"
#include "format.h"

/* A gauge of `width` columns, `part` of `whole` full; red where it is nearly full. */
void draw_gauge(struct cells *cells, int x, int y, int width, double part, double whole);

/* The last values that fit, newest on the right, `height` lines high below (x, y); the
 * highest of them fills it. */
void draw_graph(struct cells *cells, int x, int y, int width, int height, enum role role,
		const double *values, unsigned count);

/* "812", "81,234", "8.12M": at most six columns.  Each fills @buf and returns it. */
char *format_count(uint64_t count, char buf[FORMAT_MAX]);
/* "99.9", percent of those that ended well; "-" none has ended.  Not 100 when one failed. */
char *format_success(uint64_t done, uint64_t failed, char buf[FORMAT_MAX]);
/* "0", "0.3", "12", "1.2k": at most five columns. */
char *format_rate(double per_second, char buf[FORMAT_MAX]);

#endif
