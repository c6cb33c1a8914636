/* SPDX-License-Identifier: MIT */
/*
 * Tasks.  Their order comes from a pass over all records (pass.h), which ranks them by
 * what a struct tq_task_brief holds; the rows on the screen are read whole.
 */
#include <string.h>

#include "draw.h"
#include "field.h"
#include "text.h"
#include "view.h"

#define LONG_WAIT_NS 60000000000ull

static const struct tq_task_info *info_of(const void *row)
{
	return &((const struct task_row *)row)->info;
}

/* The state, or what is more to the point. */
static const struct state_word {
	uint32_t states; /* bits */
	uint32_t flag;
	enum role role;
	const char *word;
} state_words[] = {
	{ 1u << TQ_RUNNING, TQ_INFO_STOPPING, ROLE_WARN, "stopping" },
	{ 1u << TQ_RUNNING, TQ_INFO_STALLED, ROLE_BAD, "stalled" },
	{ 1u << TQ_BLOCKED | 1u << TQ_DELAYED | 1u << TQ_READY, TQ_INFO_HELD, ROLE_WARN, "held" },
	{ 1u << TQ_READY, TQ_INFO_PAUSED, ROLE_WARN, "paused" },
	{ 1u << TQ_READY, TQ_INFO_UNSERVED, ROLE_BAD, "no worker" },
	{ 1u << TQ_READY, TQ_INFO_THROTTLED, ROLE_WARN, "throttled" },
	{ 1u << TQ_READY, TQ_INFO_ASSIGNED, ROLE_TEXT, "assigned" },
};

static const enum role state_roles[TQ_STATE_COUNT] = {
	[TQ_FREE] = ROLE_DIM,	  [TQ_BLOCKED] = ROLE_DIM,    [TQ_DELAYED] = ROLE_DIM,
	[TQ_READY] = ROLE_STRONG, [TQ_RUNNING] = ROLE_BUSY,   [TQ_DONE] = ROLE_GOOD,
	[TQ_FAILED] = ROLE_BAD,	  [TQ_CANCELLED] = ROLE_WARN, [TQ_EXPIRED] = ROLE_WARN,
};

static void put_state(const struct model *model, const void *row, struct field *field)
{
	const struct tq_task_info *info = info_of(row);

	(void)model;
	for (unsigned i = 0; i < sizeof(state_words) / sizeof(state_words[0]); i++)
		if ((state_words[i].states >> info->state & 1) &&
		    (info->flags & state_words[i].flag)) {
			field_text(field, state_words[i].role, state_words[i].word);
			return;
		}
	field_text(field, info->state < TQ_STATE_COUNT ? state_roles[info->state] : ROLE_DIM,
		   info->state ? tq_task_state_name(info->state) : "gone");
}

static void put_id(const struct model *model, const void *row, struct field *field)
{
	char id[TQ_ID_TEXT_MAX];

	(void)model;
	field_text(field, ROLE_STRONG, tq_task_id_format(info_of(row)->id, id));
}

static void put_priority(const struct model *model, const void *row, struct field *field)
{
	const int32_t priority = info_of(row)->priority;

	(void)model;
	field->role = priority ? ROLE_TEXT : ROLE_DIM;
	snprintf(field->text, sizeof(field->text), "%d", priority);
}

static void put_queue(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field_text(field, ROLE_TEXT, info_of(row)->queue);
}

static void put_kind(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field_text(field, ROLE_TEXT, info_of(row)->kind);
}

static uint64_t between(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns && to_ns > from_ns ? to_ns - from_ns : 0;
}

/* How long it has been so: running, ready, until it is due; how long it took. */
static void put_time(const struct model *model, const void *row, struct field *field)
{
	const struct tq_task_info *info = info_of(row);
	const uint64_t now_ns = model->now.clocks.now_ns;

	if (info->state == TQ_RUNNING)
		field_duration(field, ROLE_BUSY, between(info->started_ns, now_ns));
	else if (info->state == TQ_DELAYED)
		field_duration(field, ROLE_DIM, between(now_ns, info->due_ns));
	else if (info->state >= TQ_DONE)
		field_duration(field, ROLE_TEXT, between(info->started_ns, info->ended_ns));
	else {
		const uint64_t since_ns = info->ready_ns ? info->ready_ns : info->submitted_ns;
		const uint64_t ns = between(since_ns, now_ns);

		field_duration(field, ns >= LONG_WAIT_NS ? ROLE_WARN : ROLE_TEXT, ns);
	}
}

static void put_attempts(const struct model *model, const void *row, struct field *field)
{
	const struct tq_task_info *info = info_of(row);

	(void)model;
	field->role = info->attempt > 1 ? ROLE_WARN : ROLE_DIM;
	snprintf(field->text, sizeof(field->text), "%u", info->attempt);
}

static void put_pid(const struct model *model, const void *row, struct field *field)
{
	const struct tq_task_info *info = info_of(row);

	(void)model;
	field->role = info->state == TQ_RUNNING ? ROLE_TEXT : ROLE_DIM;
	snprintf(field->text, sizeof(field->text), info->worker_pid ? "%u" : "-", info->worker_pid);
}

static void put_age(const struct model *model, const void *row, struct field *field)
{
	field_duration(field, ROLE_TEXT,
		       between(info_of(row)->submitted_ns, model->now.clocks.now_ns));
}

static void put_cpu(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field_duration(field, ROLE_TEXT, info_of(row)->cpu_ns);
}

static void put_memory(const struct model *model, const void *row, struct field *field)
{
	const uint64_t bytes = info_of(row)->max_rss_bytes;
	char text[FORMAT_MAX];

	(void)model;
	field_text(field, bytes ? ROLE_TEXT : ROLE_DIM, bytes ? format_size(bytes, text) : "-");
}

/* How it ended, how far it is, and what it does. */
static void put_what(const struct model *model, const void *row, struct field *field)
{
	const struct task_row *task = row;
	const struct tq_task_info *info = &task->info;
	char cause[48] = "";

	(void)model;
	if (info->state >= TQ_FAILED && info->state < TQ_STATE_COUNT) {
		tq_cause_format(info->cause, info->cause_arg, cause);
		strncat(cause, ": ", sizeof(cause) - strlen(cause) - 1);
	} else if (info->state == TQ_RUNNING && info->progress_percent) {
		snprintf(cause, sizeof(cause), "%u %% ", info->progress_percent);
	}
	field->role = info->state == TQ_RUNNING || info->state == TQ_READY ? ROLE_TEXT : ROLE_DIM;
	snprintf(field->text, sizeof(field->text), "%s%s%s%.300s", cause, info->label,
		 info->label[0] && task->command && task->command[0] ? ": " : "",
		 task->command ? task->command : "");
}

static struct rank by_id(const struct tq_task_brief *brief)
{
	return rank_of_number(brief->sequence);
}

/* What runs, longest first; what waits, as it was handed in; what ended, last first. */
static struct rank by_state(const struct tq_task_brief *brief)
{
	static const uint8_t places[TQ_STATE_COUNT] = {
		[TQ_RUNNING] = 0, [TQ_READY] = 1,   [TQ_DELAYED] = 2,	[TQ_BLOCKED] = 3,
		[TQ_FAILED] = 4,  [TQ_EXPIRED] = 4, [TQ_CANCELLED] = 4, [TQ_DONE] = 4
	};
	struct rank rank = { .major = places[brief->state] };

	if (brief->state == TQ_RUNNING)
		rank.minor = brief->started_ns;
	else if (brief->state == TQ_DELAYED)
		rank.minor = brief->due_ns;
	else if (brief->state >= TQ_DONE)
		rank.minor = ~brief->ended_ns;
	return rank;
}

static struct rank by_priority(const struct tq_task_brief *brief)
{
	return rank_of_signed(brief->priority);
}

static struct rank by_queue(const struct tq_task_brief *brief)
{
	return rank_of_text(brief->queue);
}

static struct rank by_kind(const struct tq_task_brief *brief)
{
	return rank_of_text(brief->kind);
}

/* Since when it has been so: the earlier, the longer. */
static struct rank by_time(const struct tq_task_brief *brief)
{
	if (brief->state == TQ_RUNNING)
		return rank_of_number(~brief->started_ns);
	if (brief->state >= TQ_DONE)
		return rank_of_number(between(brief->started_ns, brief->ended_ns));
	return rank_of_number(~(brief->ready_ns ? brief->ready_ns : brief->submitted_ns));
}

static struct rank by_attempts(const struct tq_task_brief *brief)
{
	return rank_of_number(brief->attempt);
}

static struct rank by_pid(const struct tq_task_brief *brief)
{
	return rank_of_number(brief->worker_pid);
}

static struct rank by_age(const struct tq_task_brief *brief)
{
	return rank_of_number(~brief->submitted_ns);
}

static struct rank by_cpu(const struct tq_task_brief *brief)
{
	return rank_of_number(brief->cpu_ns);
}

static struct rank by_memory(const struct tq_task_brief *brief)
{
	return rank_of_number(brief->max_rss_bytes);
}

/* That a column decides on an order; which, tasks_rank() says. */
static struct rank is_ranked(const struct model *model, const void *row)
{
	(void)model;
	(void)row;
	return rank_of_number(0);
}

static const struct column columns[] = {
	{ "TASK", 11, 0, false, true, put_id, is_ranked },
	{ "STATE", 9, 0, false, false, put_state, is_ranked },
	{ "PRI", 5, 0, true, true, put_priority, is_ranked },
	{ "QUEUE", 10, 0, false, false, put_queue, is_ranked },
	{ "KIND", 10, 110, false, false, put_kind, is_ranked },
	{ "TIME", 7, 0, true, true, put_time, is_ranked },
	{ "AGE", 7, 110, true, true, put_age, is_ranked },
	{ "CPU", 7, 140, true, true, put_cpu, is_ranked },
	{ "MEM", 5, 140, true, true, put_memory, is_ranked },
	{ "ATT", 4, 0, true, true, put_attempts, is_ranked },
	{ "PID", 7, 0, true, false, put_pid, is_ranked },
	{ "WHAT", 0, 0, false, false, put_what, NULL },
};

pass_rank_fn *tasks_rank(unsigned column)
{
	static pass_rank_fn *const ranks[sizeof(columns) / sizeof(columns[0])] = {
		by_id,	by_state, by_priority, by_queue,    by_kind, by_time,
		by_age, by_cpu,	  by_memory,   by_attempts, by_pid,  NULL
	};

	return ranks[column];
}

static uint32_t count(const struct model *model)
{
	return model->pass.pick_count;
}

static const void *row_at(const struct model *model, uint32_t index)
{
	const uint32_t at = index - model->tasks_first;

	return index >= model->tasks_first && at < model->task_count ? &model->tasks[at] : NULL;
}

static uint64_t identity(const struct model *model, uint32_t index)
{
	return model->pass.picks[index].id;
}

const struct table_kind tasks_table = {
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.first_sort = 1,
	.count = count,
	.row = row_at,
	.identity = identity,
	.is_ordered = true,
	.nothing = "there are no tasks",
};

/* One line: how many, and how far the pass is. */
static int head(const struct model *model, const struct table_state *state, struct cells *cells,
		int y, int height)
{
	const struct pass *pass = &model->pass;
	char count_text[FORMAT_MAX], all[FORMAT_MAX];
	int x = 1;

	(void)state;
	(void)height;
	x = cells_printf(cells, x, y, cells->width, ROLE_DIM, "%s%s of %s %s",
			 format_count(pass->matches, count_text), pass->filter[0] ? " match," : "",
			 format_count(model->now.segment.tasks_count, all),
			 format_plural(model->now.segment.tasks_count, "task", "tasks"));
	if (pass->matches > pass->pick_count)
		x = cells_printf(cells, x, y, cells->width, ROLE_DIM, ", the first %s are here",
				 format_count(pass->pick_count, count_text));
	if (!pass->is_complete && pass->left)
		cells_printf(cells, x, y, cells->width, ROLE_WARN, "   scanning %u %%",
			     pass_percent(pass));
	return 1;
}

const struct view view_tasks = { "Tasks", SUBJECT_TASK, &tasks_table, head };
