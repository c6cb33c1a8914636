/* SPDX-License-Identifier: MIT */
/* Groups: how many of their members are through, and how they ended. */
#include "field.h"
#include "view.h"

static const struct tq_group_info *info_of(const void *row)
{
	return row;
}

static const uint32_t *states_of(const void *row)
{
	return info_of(row)->states;
}

/* What is more to the point: a cancelled one is sealed, too. */
static const char *state_of(const struct tq_group_info *info)
{
	return info->flags & TQ_GROUP_INFO_CANCELLED ? "cancelled"
						     : tq_group_state_name(info->state);
}

static void put_id(const struct model *model, const void *row, struct field *field)
{
	char id[TQ_ID_TEXT_MAX];

	(void)model;
	field_text(field, ROLE_STRONG, tq_group_id_format(info_of(row)->id, id));
}

static void put_state(const struct model *model, const void *row, struct field *field)
{
	const struct tq_group_info *info = info_of(row);

	(void)model;
	field_text(field,
		   info->flags & TQ_GROUP_INFO_CANCELLED ? ROLE_WARN
		   : info->state == TQ_GROUP_COMPLETE	 ? ROLE_DIM
							 : ROLE_BUSY,
		   state_of(info));
}

TEXT_RANK(state, state_of(info_of(row)))

static void put_condition(const struct model *model, const void *row, struct field *field)
{
	const struct tq_group_info *info = info_of(row);

	(void)model;
	field_text(field, info->culprit ? ROLE_WARN : ROLE_DIM,
		   info->completion ? tq_group_condition_name(info->condition) : "-");
}

TEXT_RANK(condition,
	  info_of(row)->completion ? tq_group_condition_name(info_of(row)->condition) : "-")

static void put_completion(const struct model *model, const void *row, struct field *field)
{
	const uint64_t id = info_of(row)->completion;
	char text[TQ_ID_TEXT_MAX];

	(void)model;
	field_text(field, id ? ROLE_TEXT : ROLE_DIM, id ? tq_task_id_format(id, text) : "-");
}

static void put_label(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field_text(field, ROLE_TEXT, info_of(row)->label);
}

TEXT_RANK(label, info_of(row)->label)

/* Of what is complete: how long it took. */
static uint64_t age_of(const struct model *model, const struct tq_group_info *info)
{
	const uint64_t until_ns = info->ended_ns ? info->ended_ns : model->now.clocks.now_ns;

	return until_ns > info->created_ns ? until_ns - info->created_ns : 0;
}

static void put_age(const struct model *model, const void *row, struct field *field)
{
	field_duration(field, info_of(row)->ended_ns ? ROLE_DIM : ROLE_TEXT,
		       age_of(model, info_of(row)));
}

static struct rank rank_age(const struct model *model, const void *row)
{
	return rank_of_number(age_of(model, row));
}

/* What is under way before what is complete; of either the newest first. */
static struct rank rank_id(const struct model *model, const void *row)
{
	(void)model;
	return (struct rank){ info_of(row)->state != TQ_GROUP_COMPLETE, info_of(row)->created_ns };
}

RANK_COLUMN(completion, info_of(row)->completion)
NUMBER_COLUMN(members, ROLE_TEXT, info_of(row)->members)
NUMBER_COLUMN(unfinished, ROLE_STRONG, info_of(row)->unfinished)
NUMBER_COLUMN(blocked, ROLE_TEXT, states_of(row)[TQ_BLOCKED])
NUMBER_COLUMN(delayed, ROLE_TEXT, states_of(row)[TQ_DELAYED])
NUMBER_COLUMN(ready, ROLE_STRONG, states_of(row)[TQ_READY])
NUMBER_COLUMN(running, ROLE_BUSY, states_of(row)[TQ_RUNNING])
NUMBER_COLUMN(done, ROLE_GOOD, states_of(row)[TQ_DONE])
NUMBER_COLUMN(failed, ROLE_BAD, states_of(row)[TQ_FAILED])
NUMBER_COLUMN(cancelled, ROLE_WARN, states_of(row)[TQ_CANCELLED])
NUMBER_COLUMN(expired, ROLE_WARN, states_of(row)[TQ_EXPIRED])

/* MEMB is LEFT, DONE and this. */
static uint64_t bad_of(const uint32_t *states)
{
	return (uint64_t)states[TQ_FAILED] + states[TQ_CANCELLED] + states[TQ_EXPIRED];
}

NUMBER_COLUMN(bad, ROLE_BAD, bad_of(states_of(row)))

static const struct column columns[] = {
	{ "GROUP", 9, 0, false, true, put_id, rank_id },
	{ "STATE", 9, 0, false, false, put_state, rank_state },
	{ "MEMB", 6, 0, true, true, put_members, rank_members },
	{ "LEFT", 6, 0, true, true, put_unfinished, rank_unfinished },
	{ "RUN", 5, 0, true, true, put_running, rank_running },
	{ "DONE", 6, 0, true, true, put_done, rank_done },
	{ "BAD", 6, 0, true, true, put_bad, rank_bad },
	{ "FAIL", 6, 120, true, true, put_failed, rank_failed },
	{ "READY", 6, 120, true, true, put_ready, rank_ready },
	{ "DELAY", 6, 150, true, true, put_delayed, rank_delayed },
	{ "BLOCK", 6, 130, true, true, put_blocked, rank_blocked },
	{ "CANC", 6, 150, true, true, put_cancelled, rank_cancelled },
	{ "EXPIR", 6, 150, true, true, put_expired, rank_expired },
	{ "AGE/TOOK", 8, 0, true, true, put_age, rank_age },
	{ "WHEN", 5, 110, false, false, put_condition, rank_condition },
	{ "THEN", 11, 100, false, true, put_completion, rank_completion },
	{ "LABEL", 0, 0, false, false, put_label, rank_label },
};

static uint32_t count(const struct model *model)
{
	return model->now.group_count;
}

static const void *row_at(const struct model *model, uint32_t index)
{
	return &model->now.groups[index];
}

static uint64_t identity(const struct model *model, uint32_t index)
{
	return model->now.groups[index].id;
}

static bool matches(const void *row, const char *filter)
{
	const struct tq_group_info *info = info_of(row);
	char id[TQ_ID_TEXT_MAX], completion[TQ_ID_TEXT_MAX] = "";
	const char *const texts[] = { tq_group_id_format(info->id, id), state_of(info), info->label,
				      completion };

	if (info->completion)
		tq_task_id_format(info->completion, completion);
	return words_match(filter, texts, sizeof(texts) / sizeof(texts[0]));
}

static const struct table_kind table = {
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.first_sort = 0,
	.count = count,
	.row = row_at,
	.identity = identity,
	.matches = matches,
	.nothing = "there is no group: `taskq group new` makes one, so does `submit --graph`",
};

const struct view view_groups = { "Groups", SUBJECT_GROUP, &table, NULL };
