/* SPDX-License-Identifier: MIT */
/* Tables as they are drawn. */
#include <string.h>

#include "table_view.h"

enum {
	REST_LEAST = 12, /* of the column that takes what is left */
	NAME_MOST = 32	 /* of the first one: figures should stay near their name */
};

/* Columns that are shown, and where. */
struct place {
	int x, width; /* 0: not shown */
};

static bool is_wanted(const struct table_state *state, const struct column *column, unsigned i,
		      int width)
{
	if (i == 0)
		return true;
	/* Who scrolls looks for what there was no room for. */
	return i > state->skip && (state->skip > 0 || width >= column->from_width);
}

static int place_columns(const struct table_kind *kind, const struct table_state *state, int width,
			 struct place *places)
{
	int x = 0, rest = -1;

	for (unsigned i = 0; i < kind->column_count; i++) {
		const struct column *column = &kind->columns[i];
		const int least = column->width ? column->width : REST_LEAST;

		places[i] = (struct place){ 0 };
		if (!is_wanted(state, column, i, width) || (i > 0 && x + least > width))
			continue;
		places[i] = (struct place){ x, least };
		if (!column->width)
			rest = (int)i;
		x += least + 1;
	}
	if (rest < 0)
		return x;
	/* The one without a width gets what is left; those behind it make room. */
	const int left = width - (x - 1);
	const int more = rest == 0 && left > NAME_MOST - REST_LEAST ? NAME_MOST - REST_LEAST : left;

	places[rest].width += more > 0 ? more : 0;
	for (unsigned i = (unsigned)rest + 1; i < kind->column_count && more > 0; i++)
		places[i].x += more;
	return width;
}

static void draw_heads(const struct table_kind *kind, const struct table_state *state,
		       struct cells *cells, int y, const struct place *places)
{
	cells_fill(cells, 0, y, cells->width, ROLE_HEAD);
	for (unsigned i = 0; i < kind->column_count; i++) {
		const struct column *column = &kind->columns[i];
		const bool decides = i == state->sort && column->rank;
		const int width = places[i].width, title = (int)strlen(column->title);
		const enum role role = decides ? ROLE_HEAD_SORT : ROLE_HEAD;

		if (!width)
			continue;
		cells_field(cells, places[i].x, y, width, column->right, role, column->title);
		if (!decides)
			continue;
		cells_tint(cells, places[i].x, y, width, role);
		if (title < width)
			cells_glyph(cells,
				    column->right ? places[i].x + width - title - 1
						  : places[i].x + title,
				    y, role, state->reverse ? GLYPH_DOWN : GLYPH_UP);
	}
}

static void draw_row(const struct table_kind *kind, const struct model *model, struct cells *cells,
		     int y, const struct place *places, const void *row)
{
	for (unsigned i = 0; i < kind->column_count; i++) {
		struct field field = { .role = ROLE_TEXT };

		if (!places[i].width)
			continue;
		kind->columns[i].put(model, row, &field);
		cells_field(cells, places[i].x, y, places[i].width, kind->columns[i].right,
			    field.role, field.text);
	}
}

/* Why there is no row: a pass that is under way may find some yet. */
static const char *nothing_of(const struct table_kind *kind, const struct table_state *state,
			      const struct model *model)
{
	if (kind->is_ordered && !kind->is_stream && !model->pass.is_complete)
		return "none yet";
	return state->filter[0] ? "nothing matches the filter" : kind->nothing;
}

void table_draw(const struct table_kind *kind, const struct table_state *state,
		const struct model *model, struct cells *cells, int y, int height, bool has_cursor)
{
	struct place places[32] = { 0 };

	if (height < 1)
		return;
	place_columns(kind, state, cells->width, places);
	draw_heads(kind, state, cells, y, places);
	if (state->count == 0)
		cells_put(cells, 1, y + 1, cells->width, ROLE_DIM, nothing_of(kind, state, model));
	for (int i = 1; i < height; i++) {
		const uint32_t line = state->first + (uint32_t)i - 1;
		const void *row = table_row(kind, state, model, line);

		if (!row)
			continue;
		draw_row(kind, model, cells, y + i, places, row);
		if (has_cursor && line == state->cursor)
			cells_tint(cells, 0, y + i, cells->width, ROLE_PICKED);
	}
}

int table_column_at(const struct table_kind *kind, const struct table_state *state, int width,
		    int x)
{
	struct place places[32] = { 0 };

	place_columns(kind, state, width, places);
	for (unsigned i = 0; i < kind->column_count; i++)
		if (places[i].width && x >= places[i].x && x < places[i].x + places[i].width)
			return (int)i;
	return -1;
}
