/* SPDX-License-Identifier: MIT */
/* Quantities as pictures, and figures in few columns. */
#include "draw.h"

#define NEARLY_FULL 0.9

void draw_gauge(struct cells *cells, int x, int y, int width, double part, double whole)
{
	const double share = whole > 0 ? part / whole : 0;
	const int full = (int)(share * width + 0.5);
	const enum role role = share >= NEARLY_FULL ? ROLE_BAD : ROLE_GRAPH;

	for (int i = 0; i < width; i++)
		cells_glyph(cells, x + i, y, i < full ? role : ROLE_DIM,
			    i < full ? GLYPH_FULL : GLYPH_EMPTY);
}

/* Eighths of a line that a value is high; what is not zero can be seen. */
static int eighths(double value, double most, int height)
{
	const int n = most > 0 ? (int)(value / most * height * 8 + 0.5) : 0;

	return value > 0 && n == 0 ? 1 : n;
}

static void draw_column(struct cells *cells, int x, int y, int height, enum role role, int high)
{
	for (int line = 0; line < height && high > 0; line++, high -= 8)
		cells_glyph(cells, x, y + height - 1 - line, role,
			    (enum glyph)(GLYPH_BAR_1 + (high < 8 ? high : 8) - 1));
}

void draw_graph(struct cells *cells, int x, int y, int width, int height, enum role role,
		const double *values, unsigned count)
{
	const unsigned shown = width > 0 && count > (unsigned)width ? (unsigned)width : count;
	const double *first = values + (count - shown);
	double most = 0;

	for (unsigned i = 0; i < shown; i++)
		most = first[i] > most ? first[i] : most;
	for (unsigned i = 0; i < shown; i++)
		draw_column(cells, x + width - (int)shown + (int)i, y, height, role,
			    eighths(first[i], most, height));
}

char *format_count(uint64_t count, char buf[FORMAT_MAX])
{
	static const char units[] = "MGTPE";
	double value = (double)count / 1e6;
	int unit = 0;

	if (count < 1000)
		snprintf(buf, FORMAT_MAX, "%u", (unsigned)count);
	else if (count < 100000)
		snprintf(buf, FORMAT_MAX, "%u,%03u", (unsigned)(count / 1000),
			 (unsigned)(count % 1000));
	else if (count < 1000000)
		snprintf(buf, FORMAT_MAX, "%uk", (unsigned)(count / 1000));
	else {
		for (; value >= 1000 && unit < 4; unit++)
			value /= 1000;
		snprintf(buf, FORMAT_MAX, "%.*f%c",
			 value < 10    ? 2
			 : value < 100 ? 1
				       : 0,
			 value, units[unit]);
	}
	return buf;
}

char *format_success(uint64_t done, uint64_t failed, char buf[FORMAT_MAX])
{
	const double share = done + failed ? 100.0 * (double)done / (double)(done + failed) : 0;

	if (done + failed == 0)
		snprintf(buf, FORMAT_MAX, "-");
	else if (failed == 0)
		snprintf(buf, FORMAT_MAX, "100");
	else
		snprintf(buf, FORMAT_MAX, "%.1f", share > 99.9 ? 99.9 : share);
	return buf;
}

char *format_rate(double per_second, char buf[FORMAT_MAX])
{
	if (per_second <= 0)
		snprintf(buf, FORMAT_MAX, "0");
	else if (per_second < 9.95)
		snprintf(buf, FORMAT_MAX, "%.1f", per_second < 0.1 ? 0.1 : per_second);
	else if (per_second < 999.5)
		snprintf(buf, FORMAT_MAX, "%.0f", per_second);
	else if (per_second < 9950)
		snprintf(buf, FORMAT_MAX, "%.1fk", per_second / 1e3);
	else if (per_second < 999500)
		snprintf(buf, FORMAT_MAX, "%.0fk", per_second / 1e3);
	else
		snprintf(buf, FORMAT_MAX, "%.1fM", per_second / 1e6);
	return buf;
}
