/* SPDX-License-Identifier: MIT */
/* Limits by key: who fills them, who waits for them. */
#include "draw.h"
#include "field.h"
#include "view.h"

static const struct tq_limit_info *info_of(const void *row)
{
	return row;
}

static bool is_full(const struct tq_limit_info *info)
{
	return (info->slots != TQ_OFF && info->used >= info->slots) ||
	       (info->rate && !info->tokens);
}

static double share(const struct tq_limit_info *info)
{
	return info->slots == TQ_OFF || !info->slots ? 0 : (double)info->used / (double)info->slots;
}

static void put_key(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field_text(field, ROLE_STRONG, info_of(row)->key);
}

TEXT_RANK(key, info_of(row)->key)

static void put_used(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field_count(field, is_full(info_of(row)) ? ROLE_WARN : ROLE_BUSY, info_of(row)->used);
}

static void put_slots(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	if (info_of(row)->slots == TQ_OFF)
		field_text(field, ROLE_DIM, "any");
	else
		field_count(field, ROLE_TEXT, info_of(row)->slots);
}

static void put_full(const struct model *model, const void *row, struct field *field)
{
	const double full = share(info_of(row));

	(void)model;
	field->role = full >= 1 ? ROLE_WARN : full > 0 ? ROLE_TEXT : ROLE_DIM;
	snprintf(field->text, sizeof(field->text), full > 0 ? "%.0f%%" : "-", full * 100);
}

static struct rank rank_full(const struct model *model, const void *row)
{
	(void)model;
	return rank_of_real(share(info_of(row)));
}

static void put_rate(const struct model *model, const void *row, struct field *field)
{
	const struct tq_limit_info *info = info_of(row);
	char interval[FORMAT_MAX];

	(void)model;
	field->role = info->rate ? ROLE_TEXT : ROLE_DIM;
	snprintf(field->text, sizeof(field->text), info->rate ? "%u in %s" : "-", info->rate,
		 format_duration(info->interval_ns, interval));
}

static void put_tokens(const struct model *model, const void *row, struct field *field)
{
	const struct tq_limit_info *info = info_of(row);

	(void)model;
	field->role = !info->rate ? ROLE_DIM : info->tokens ? ROLE_TEXT : ROLE_WARN;
	snprintf(field->text, sizeof(field->text), info->rate ? "%u/%u" : "-", info->tokens,
		 info->burst);
}

static void put_next(const struct model *model, const void *row, struct field *field)
{
	const uint64_t next_ns = info_of(row)->next_ns, now_ns = model->now.clocks.now_ns;

	field_duration(field, ROLE_TEXT, next_ns > now_ns ? next_ns - now_ns : 0);
}

RANK_COLUMN(used, info_of(row)->used)
RANK_COLUMN(slots, info_of(row)->slots)
RANK_COLUMN(rate, info_of(row)->rate)
RANK_COLUMN(tokens, info_of(row)->tokens)
RANK_COLUMN(next, info_of(row)->next_ns)
NUMBER_COLUMN(waiting, ROLE_WARN, info_of(row)->waiting)
NUMBER_COLUMN(tasks, ROLE_TEXT, info_of(row)->tasks)

static const struct column columns[] = {
	{ "KEY", 0, 0, false, false, put_key, rank_key },
	{ "USED", 6, 0, true, true, put_used, rank_used },
	{ "SLOTS", 6, 0, true, true, put_slots, rank_slots },
	{ "FULL", 5, 0, true, true, put_full, rank_full },
	{ "WAIT", 6, 0, true, true, put_waiting, rank_waiting },
	{ "RATE", 12, 0, true, true, put_rate, rank_rate },
	{ "TOKENS", 9, 0, true, false, put_tokens, rank_tokens },
	{ "NEXT", 7, 0, true, true, put_next, rank_next },
	{ "TASKS", 6, 0, true, true, put_tasks, rank_tasks },
};

static uint32_t count(const struct model *model)
{
	return model->now.limit_count;
}

static const void *row_at(const struct model *model, uint32_t index)
{
	return &model->now.limits[index];
}

/* FNV-1a of its key: two that are alike would only share a cursor. */
static uint64_t identity(const struct model *model, uint32_t index)
{
	uint64_t hash = 14695981039346656037ull;

	for (const char *at = model->now.limits[index].key; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 1099511628211ull;
	return hash;
}

static bool matches(const void *row, const char *filter)
{
	const char *const texts[] = { info_of(row)->key };

	return words_match(filter, texts, 1);
}

static const struct table_kind table = {
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.first_sort = 4,
	.count = count,
	.row = row_at,
	.identity = identity,
	.matches = matches,
	.nothing = "no task names a limit key: `taskq submit --limit KEY`, `taskq limit set`",
};

static int head(const struct model *model, const struct table_state *state, struct cells *cells,
		int y, int height)
{
	(void)state;
	(void)height;
	if (!model->now.limits_cut)
		return 0;
	cells_printf(cells, 1, y, cells->width, ROLE_WARN,
		     "there are more keys: these are the first %d", LIMITS_MAX);
	return 1;
}

const struct view view_limits = { "Limits", SUBJECT_LIMIT, &table, head };
