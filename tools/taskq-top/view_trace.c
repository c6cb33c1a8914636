/* SPDX-License-Identifier: MIT */
/* Trace: what the flight recorder gets, newest last. */
#include <errno.h>

#include "draw.h"
#include "field.h"
#include "trace_text.h"
#include "view.h"

static const struct tq_trace_entry *entry_of(const void *row)
{
	return row;
}

static void put_time(const struct model *model, const void *row, struct field *field)
{
	char moment[FORMAT_MAX];

	if (entry_of(row)->event)
		field_text(field, ROLE_DIM,
			   trace_moment(row, &model->recorder.clocks, moment) +
				   sizeof("2026-01-01"));
}

static void put_task(const struct model *model, const void *row, struct field *field)
{
	char id[TQ_ID_TEXT_MAX];

	(void)model;
	if (entry_of(row)->event)
		field_text(field, ROLE_STRONG, tq_task_id_format(entry_of(row)->task, id));
}

static void put_pid(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field->role = ROLE_TEXT;
	if (entry_of(row)->event)
		snprintf(field->text, sizeof(field->text), "%u", entry_of(row)->pid);
}

static enum role role_of(const struct tq_trace_entry *entry)
{
	static const enum role roles[TQ_STATE_COUNT] = {
		[TQ_FREE] = ROLE_DIM,	[TQ_BLOCKED] = ROLE_DIM,    [TQ_DELAYED] = ROLE_TEXT,
		[TQ_READY] = ROLE_TEXT, [TQ_RUNNING] = ROLE_BUSY,   [TQ_DONE] = ROLE_GOOD,
		[TQ_FAILED] = ROLE_BAD, [TQ_CANCELLED] = ROLE_WARN, [TQ_EXPIRED] = ROLE_WARN,
	};

	switch (entry->event) {
	case TQ_TRACE_MOVE:
		return entry->to < TQ_STATE_COUNT ? roles[entry->to] : ROLE_TEXT;
	case TQ_TRACE_RECLAIM:
		return ROLE_BAD;
	case TQ_TRACE_STEAL:
	case TQ_TRACE_AFTER:
		return ROLE_TEXT;
	default:
		return ROLE_WARN;
	}
}

static void put_what(const struct model *model, const void *row, struct field *field)
{
	const struct tq_trace_entry *entry = entry_of(row);
	char text[TRACE_TEXT_MAX];

	(void)model;
	if (entry->event)
		field_text(field, role_of(entry), trace_text(entry, text));
	else
		snprintf(field->text, sizeof(field->text), "(%llu entries passed over)",
			 (unsigned long long)entry->number);
}

/* They stay in the order of their moments.  PID makes room for WHAT. */
static const struct column columns[] = {
	{ "TIME", 15, 0, false, false, put_time, NULL },
	{ "TASK", 11, 0, false, false, put_task, NULL },
	{ "PID", 7, 48, true, false, put_pid, NULL },
	{ "WHAT", 0, 0, false, false, put_what, NULL },
};

static uint32_t count(const struct model *model)
{
	return model->recorder.shown_count;
}

static const void *row_at(const struct model *model, uint32_t index)
{
	const struct recorder *recorder = &model->recorder;

	return index < recorder->shown_count ? &recorder->entries[recorder->shown[index]] : NULL;
}

static uint64_t identity(const struct model *model, uint32_t index)
{
	return model->recorder.entries[model->recorder.shown[index]].number;
}

static const struct table_kind table = {
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.count = count,
	.row = row_at,
	.identity = identity,
	.is_ordered = true,
	.is_stream = true,
	.nothing = "nothing has been recorded yet",
};

static int head(const struct model *model, const struct table_state *state, struct cells *cells,
		int y, int height)
{
	const struct recorder *recorder = &model->recorder;
	const uint64_t traced = model->now.segment.traced,
		       next = recorder->cursor ? recorder->cursor : 1;
	const bool is_filtered = recorder->filter[0];
	char all[FORMAT_MAX], here[FORMAT_MAX], newer[FORMAT_MAX];
	int x;

	(void)height;
	if (recorder->error == -ENODATA) {
		cells_put(cells, 1, y, cells->width, ROLE_WARN,
			  "the segment has no flight recorder: it was made with --trace off");
		return 1;
	}
	x = cells_printf(cells, 1, y, cells->width, ROLE_DIM, "%s of %s%s entries%s",
			 format_count(recorder->shown_count, here), is_filtered ? "the last " : "",
			 format_count(is_filtered ? recorder->count : traced, all),
			 is_filtered ? " match" : "");
	if (model->is_printed)
		return 1;
	if (state->is_paused)
		cells_printf(cells, x, y, cells->width, ROLE_WARN,
			     "   paused, %s newer: G or End goes on",
			     format_count(traced >= next ? traced - next + 1 : 0, newer));
	else
		cells_put(cells, x, y, cells->width, ROLE_DIM, "   following");
	return 1;
}

const struct view view_trace = { "Trace", SUBJECT_EVENT, &table, head };
