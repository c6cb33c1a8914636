/* SPDX-License-Identifier: MIT */
/*
 * A table on the screen: columns, an order, a filter, a picked line.  What its rows are
 * is the business of a struct table_kind.
 */
#ifndef TASKQ_TOP_TABLE_VIEW_H
#define TASKQ_TOP_TABLE_VIEW_H

#include "cells.h"
#include "model.h"
#include "rank.h"

struct field {
	enum role role;
	char text[512];
};

struct column {
	const char *title;
	int width;	 /* 0: what is left */
	int from_width;	 /* shown on screens of this width and more; 0 all */
	bool right;	 /* numbers */
	bool descending; /* what people look for is large */
	void (*put)(const struct model *model, const void *row, struct field *field);
	struct rank (*rank)(const struct model *model, const void *row);
};

struct table_kind {
	const struct column *columns;
	unsigned column_count;
	unsigned first_sort; /* column that decides the order at first */
	uint32_t (*count)(const struct model *model);
	const void *(*row)(const struct model *model, uint32_t index);	 /* NULL: not there */
	uint64_t (*identity)(const struct model *model, uint32_t index); /* what is followed */
	bool (*matches)(const void *row, const char *filter);
	bool is_ordered;     /* rows come in their order, and filtered */
	bool is_stream;	     /* new ones come at the end, where the cursor stays unless moved up */
	const char *nothing; /* said when there is no row */
};

/* What the user has chosen. */
struct table_state {
	bool is_set; /* sort and reverse are */
	unsigned sort;
	bool reverse;
	char filter[FILTER_MAX];
	bool is_pinned;	   /* the picked line follows its row when the order changes */
	uint64_t identity; /* of that row */
	bool is_paused;	   /* of a stream: the cursor is not at the end */
	uint32_t cursor;   /* its line */
	uint32_t first;	   /* line at the top */
	unsigned skip;	   /* columns that are scrolled out, behind the first */
	uint32_t *order;   /* line to row; NULL is_ordered */
	uint32_t count;	   /* lines */
};

/* Brings order and cursor up to date with the model. */
void table_update(const struct table_kind *kind, struct table_state *state,
		  const struct model *model);
void table_free(struct table_state *state);

/* The row on a line; NULL none. */
const void *table_row(const struct table_kind *kind, const struct table_state *state,
		      const struct model *model, uint32_t line);

/* Whether the cursor follows the row that it is on. */
void table_pin(const struct table_kind *kind, struct table_state *state, const struct model *model,
	       bool is_pinned);
/* Moves the cursor. */
void table_move(const struct table_kind *kind, struct table_state *state, const struct model *model,
		int64_t lines);
void table_sort(const struct table_kind *kind, struct table_state *state, unsigned column);

/* Scrolls so that the cursor is among `lines` lines. */
void table_scroll(struct table_state *state, int lines);

/* Headers on line `y`, rows below, `height` lines in all. */
void table_draw(const struct table_kind *kind, const struct table_state *state,
		const struct model *model, struct cells *cells, int y, int height, bool has_cursor);

/* Column whose header is at x; -1 none. */
int table_column_at(const struct table_kind *kind, const struct table_state *state, int width,
		    int x);

#endif
