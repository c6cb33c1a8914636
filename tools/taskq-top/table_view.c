/* SPDX-License-Identifier: MIT */
/* Tables: which rows in which order, and which of them is picked. */
#include <stdlib.h>
#include <string.h>

#include "table_view.h"

/* Rows to be sorted: their ranks first, so that these are computed once. */
struct line {
	struct rank rank;
	uint32_t index;
};

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	const int order = rank_compare(&x->rank, &y->rank);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static uint32_t collect(const struct table_kind *kind, const struct table_state *state,
			const struct model *model, struct line *lines)
{
	const struct column *column = &kind->columns[state->sort];
	uint32_t n = 0;

	for (uint32_t i = 0; i < kind->count(model); i++) {
		const void *row = kind->row(model, i);

		if (!row || (state->filter[0] && !kind->matches(row, state->filter)))
			continue;
		lines[n].rank = column->rank(model, row);
		if (state->reverse)
			lines[n].rank = rank_reverse(lines[n].rank);
		lines[n++].index = i;
	}
	return n;
}

static void order_rows(const struct table_kind *kind, struct table_state *state,
		       const struct model *model)
{
	const uint32_t count = kind->count(model);
	struct line *lines = calloc(count + 1, sizeof(*lines));
	uint32_t *order = reallocarray(state->order, count + 1, sizeof(*order));

	state->count = 0;
	if (order)
		state->order = order;
	if (order && lines) {
		state->count = collect(kind, state, model, lines);
		qsort(lines, state->count, sizeof(*lines), compare);
		for (uint32_t i = 0; i < state->count; i++)
			order[i] = lines[i].index;
	}
	free(lines);
}

static void set_defaults(const struct table_kind *kind, struct table_state *state)
{
	if (state->is_set)
		return;
	state->is_set = true;
	state->sort = kind->first_sort;
	state->reverse = kind->columns[state->sort].descending;
}

static uint32_t index_of(const struct table_kind *kind, const struct table_state *state,
			 uint32_t line)
{
	return kind->is_ordered ? line : state->order[line];
}

static bool is_picked(const struct table_kind *kind, const struct table_state *state,
		      const struct model *model, uint32_t line)
{
	return line < state->count &&
	       kind->identity(model, index_of(kind, state, line)) == state->identity;
}

/* Where the row that is followed has gone; the same line when it is no more. */
static void follow(const struct table_kind *kind, struct table_state *state,
		   const struct model *model)
{
	uint32_t line = 0;

	if (is_picked(kind, state, model, state->cursor))
		return;
	if (kind->is_ordered) {
		line = pass_find(&model->pass, state->identity);
	} else {
		while (line < state->count && !is_picked(kind, state, model, line))
			line++;
	}
	if (line < state->count)
		state->cursor = line;
}

void table_update(const struct table_kind *kind, struct table_state *state,
		  const struct model *model)
{
	set_defaults(kind, state);
	if (kind->is_ordered)
		state->count = kind->count(model);
	else
		order_rows(kind, state, model);
	if (state->is_pinned)
		follow(kind, state, model);
	if (kind->is_stream && !state->is_paused)
		state->cursor = state->count;
	if (state->cursor >= state->count)
		state->cursor = state->count ? state->count - 1 : 0;
}

void table_free(struct table_state *state)
{
	free(state->order);
	state->order = NULL;
}

const void *table_row(const struct table_kind *kind, const struct table_state *state,
		      const struct model *model, uint32_t line)
{
	if (line >= state->count)
		return NULL;
	return kind->row(model, index_of(kind, state, line));
}

void table_move(const struct table_kind *kind, struct table_state *state, const struct model *model,
		int64_t lines)
{
	int64_t to = (int64_t)state->cursor + lines;

	if (to >= (int64_t)state->count)
		to = (int64_t)state->count - 1;
	state->cursor = to < 0 ? 0 : (uint32_t)to;
	state->is_paused = kind->is_stream && state->cursor + 1 < state->count;
	table_pin(kind, state, model, state->is_pinned);
}

void table_pin(const struct table_kind *kind, struct table_state *state, const struct model *model,
	       bool is_pinned)
{
	state->is_pinned = is_pinned && state->count > 0;
	if (state->is_pinned)
		state->identity = kind->identity(model, index_of(kind, state, state->cursor));
}

void table_sort(const struct table_kind *kind, struct table_state *state, unsigned column)
{
	if (column >= kind->column_count || !kind->columns[column].rank)
		return;
	state->reverse = state->sort == column ? !state->reverse : kind->columns[column].descending;
	state->sort = column;
	state->first = 0;
}

void table_scroll(struct table_state *state, int lines)
{
	const uint32_t room = lines > 0 ? (uint32_t)lines : 1;

	if (state->cursor < state->first)
		state->first = state->cursor;
	if (state->cursor >= state->first + room)
		state->first = state->cursor - room + 1;
	if (state->first + room > state->count)
		state->first = state->count > room ? state->count - room : 0;
}
