/* SPDX-License-Identifier: MIT */
/* The columns of a task, for `taskq list` and `taskq show`. */
#include "tools/taskq/print/task_columns.h"

#include <stdlib.h>
#include <string.h>

#include "outcome.h"
#include "parse.h"
#include "payload.h"
#include "text.h"

/* An id that is not a task's. */
static void put_id(const struct column_row *row, char *(*format)(uint64_t id, char *buf))
{
	const uint64_t id = *(const uint64_t *)column_field(row);
	char text[TQ_ID_TEXT_MAX];

	column_text(row, id ? format(id, text) : "");
}

static void put_schedule(const struct column_row *row)
{
	put_id(row, tq_schedule_id_format);
}

static void put_group(const struct column_row *row)
{
	put_id(row, tq_group_id_format);
}

static void put_state(const struct column_row *row)
{
	/* The flags that turn the state's meaning round. */
	static const uint32_t shown = TQ_INFO_HELD | TQ_INFO_THROTTLED | TQ_INFO_ASSIGNED |
				      TQ_INFO_WAITING;
	const struct tq_task_info *info = row->of;
	char words[COLUMN_WORDS_MAX] = "";

	column_add_word(words, tq_task_state_name(info->state));
	/* A program compares it. */
	for (const struct outcome_flag *flag = outcome_flags; !row->exact && flag->name; flag++)
		if (info->flags & shown & flag->bit)
			column_add_word(words, flag->name);
	column_text(row, words);
}

static void put_flags(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;
	char words[COLUMN_WORDS_MAX] = "";

	for (const struct outcome_flag *flag = outcome_flags; flag->name; flag++)
		if (info->flags & flag->bit)
			column_add_word(words, flag->name);
	column_text(row, words);
}

static void put_limits(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;
	char words[COLUMN_WORDS_MAX] = "", limit[LIMIT_TEXT_MAX];

	for (uint32_t i = 0; i < info->limit_count && i < TQ_LIMITS_MAX; i++)
		column_add_word(words, text_limit(info->limits[i], info->limit_weights[i], limit));
	column_text(row, words);
}

static void put_scope(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;

	column_text(row, scope_name(info->unique_scope));
}

/* All of its bytes; true when it was printed. */
static bool put_exact_payload(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;
	void *payload = NULL;
	uint64_t bytes;
	const bool is_shown = row->exact && strcmp(info->kind, "exec") != 0 &&
			      info->payload_bytes <= TEXT_SHOWN_MAX &&
			      payload_read(row->tq, info->id, &payload, &bytes) == 0;

	if (is_shown)
		table_cell_bytes(row->table, payload, bytes);
	free(payload);
	return is_shown;
}

static void put_command(const struct column_row *row)
{
	if (put_exact_payload(row))
		return;
	char *text = text_of_task(row->tq, row->of);

	column_text(row, text ? text : "");
	free(text);
}

static void put_what(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;

	if (info->label[0])
		column_text(row, info->label);
	else
		put_command(row);
}

static void put_cause(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;
	char cause[CAUSE_MAX];

	column_text(row, info->cause == TQ_CAUSE_NONE ? "" : outcome_cause(info, cause));
}

/* Of who runs it now. */
static void put_of_worker(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;

	if (info->worker)
		column_count(row, *(const uint32_t *)column_field(row));
	else
		column_none(row);
}

static void put_progress(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;

	table_cell(row->table, row->exact ? "%u" : "%u%%", info->progress_percent);
}

static void put_retries(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;

	column_count(row, info->attempts_max ? info->attempts_max - 1 : 0);
}

static void put_at(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;

	if (info->at_ns)
		column_time(row, info->at_ns);
	else
		column_none(row);
}

/* From @from_ns to @to_ns; "-" while one of them has not come. */
static void put_between(const struct column_row *row, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns && to_ns >= from_ns)
		column_duration(row, to_ns - from_ns);
	else
		column_none(row);
}

static void put_age(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;

	column_duration(row, ns_between(info->submitted_ns, row->clocks->now_ns));
}

static void put_wait(const struct column_row *row)
{
	const struct tq_task_info *info = row->of;

	if (info->state == TQ_READY)
		column_duration(row, ns_between(info->ready_ns, row->clocks->now_ns));
	else
		put_between(row, info->ready_ns, info->started_ns);
}

static void put_run(const struct column_row *row)
{
	const uint64_t ns = outcome_run_ns(row->of, row->clocks);

	if (ns)
		column_duration(row, ns);
	else
		column_none(row);
}

#define FIELD(name, header, form, field, meaning)                                                  \
	{                                                                                          \
		name, header, meaning, form, offsetof(struct tq_task_info, field), NULL, 0         \
	}
#define IDS(name, header, field, put, meaning)                                                     \
	{                                                                                          \
		name, header, meaning, COLUMN_WORDS, offsetof(struct tq_task_info, field), put, 0  \
	}
#define OF_WORKER(name, header, field, meaning)                                                    \
	{                                                                                          \
		name, header, meaning, COLUMN_FIGURES, offsetof(struct tq_task_info, field),       \
			put_of_worker, 0                                                           \
	}
#define WORDS(name, header, put, meaning)                                                          \
	{                                                                                          \
		name, header, meaning, COLUMN_WORDS, 0, put, 0                                     \
	}
#define FIGURES(name, header, put, meaning)                                                        \
	{                                                                                          \
		name, header, meaning, COLUMN_FIGURES, 0, put, 0                                   \
	}

const struct column task_columns[] = {
	FIELD("id", "ID", COLUMN_ID, id, "its id"),
	FIELD("sequence", "SEQUENCE", COLUMN_COUNT, sequence,
	      "its place in the order of submission"),
	WORDS("state", "STATE", put_state,
	      "state; without -H also held, throttled, assigned, waiting"),
	WORDS("flags", "FLAGS", put_flags, "all its flags"),
	FIELD("priority", "PRI", COLUMN_INT, priority, "its own priority"),
	FIELD("effective", "EFFECTIVE", COLUMN_INT, effective_priority,
	      "the priority that counts now: its own or an inherited one, and what it gained"),
	FIELD("inherited-from", "FROM", COLUMN_ID, inherited_from,
	      "the task that this priority is of"),
	FIELD("queue", "QUEUE", COLUMN_TEXT, queue, "its queue"),
	FIELD("kind", "KIND", COLUMN_TEXT, kind, "its kind"),
	WORDS("what", "LABEL/COMMAND", put_what, "its label, else its command or payload"),
	FIELD("label", "LABEL", COLUMN_TEXT, label, "its label"),
	WORDS("command", "COMMAND", put_command, "its command or payload"),
	FIELD("payload", "PAYLOAD", COLUMN_SIZE, payload_bytes, "size of its payload"),
	FIELD("fair", "FAIR", COLUMN_TEXT, fair_key, "its fair key"),
	WORDS("limits", "LIMITS", put_limits, "its limit keys"),
	FIELD("unique", "UNIQUE", COLUMN_TEXT, unique_key, "its unique key"),
	WORDS("unique-scope", "SCOPE", put_scope, "scope of the unique key"),
	IDS("group", "GROUP", group, put_group, "the group that it is a member of"),
	IDS("completes", "COMPLETES", completes, put_group, "the group after which it starts"),
	IDS("schedule", "SCHEDULE", schedule, put_schedule, "the schedule that made it"),
	FIELD("after", "AFTER", COLUMN_COUNT32, after_count, "how many tasks it is to come after"),
	FIELD("unmet", "UNMET", COLUMN_COUNT32, unmet, "for how many things it is blocked"),
	FIELD("server", "SERVER", COLUMN_TEXT, server, "the server of its last attempt"),
	OF_WORKER("worker", "WORKER", worker, "number of the worker that runs it"),
	OF_WORKER("pid", "PID", worker_pid, "pid of that worker"),
	FIGURES("progress", "DONE", put_progress, "progress that it has reported"),
	FIELD("doing", "DOING", COLUMN_TEXT, progress_text, "the text of that report"),
	FIELD("checkpoint", "CHECKPOINT", COLUMN_COUNT32, checkpoint_bytes,
	      "bytes that its attempts have saved last"),
	FIELD("attempts", "ATT", COLUMN_COUNT32, attempt, "attempts begun"),
	FIELD("failures", "FAILURES", COLUMN_COUNT32, failures, "attempts that failed"),
	FIGURES("retries", "RETRIES", put_retries, "how many of them may be followed by another"),
	FIELD("crashes", "CRASHES", COLUMN_COUNT32, crashes,
	      "attempts that died with their worker"),
	FIELD("crashes-max", "CRASHES-MAX", COLUMN_COUNT32, crashes_max, "so many may"),
	FIELD("losses", "LOSSES", COLUMN_COUNT32, losses, "attempts that lost their lease"),
	FIELD("losses-max", "LOSSES-MAX", COLUMN_COUNT32, losses_max, "so many may"),
	WORDS("cause", "CAUSE", put_cause, "why it, or its last attempt, ended"),
	FIELD("cause-id", "CAUSE-ID", COLUMN_ID, cause_id, "the task of cause dependency"),
	FIELD("error", "ERROR", COLUMN_TEXT, error_text, "text of its last failure"),
	FIELD("submitted", "SUBMITTED", COLUMN_TIME, submitted_ns, "when it was submitted"),
	FIELD("ready", "READY", COLUMN_TIME, ready_ns, "when it became ready, last"),
	FIELD("due", "DUE", COLUMN_TIME, due_ns, "when it may start"),
	WORDS("at", "AT", put_at, "the same, by the wall clock"),
	FIELD("deadline", "DEADLINE", COLUMN_TIME, deadline_ns, "when it is to have ended"),
	FIELD("urgent-by", "URGENT-BY", COLUMN_TIME, inherited_deadline_ns,
	      "an earlier deadline of what waits for it"),
	FIELD("started", "STARTED", COLUMN_TIME, started_ns, "when its last attempt started"),
	FIELD("ended", "ENDED", COLUMN_TIME, ended_ns, "when it ended"),
	FIGURES("age", "AGE", put_age, "time since its submission"),
	FIGURES("wait", "WAIT", put_wait, "from ready to the last start, or so far"),
	FIGURES("run", "RUN", put_run, "run time of its last attempt, or so far"),
	FIELD("cpu", "CPU", COLUMN_DURATION, cpu_ns, "CPU time of its last ended attempt"),
	FIELD("memory", "MEMORY", COLUMN_SIZE, max_rss_bytes, "most memory of that attempt"),
	FIELD("result", "RESULT", COLUMN_SIZE, result_bytes, "size of its result"),
	FIELD("output", "OUTPUT", COLUMN_SIZE, output_bytes, "size of its output, kept or not"),
	FIELD("timeout", "TIMEOUT", COLUMN_DURATION, timeout_ns, "time that an attempt may take"),
	FIELD("timeout-total", "TIMEOUT-TOTAL", COLUMN_DURATION, timeout_total_ns,
	      "time that all attempts may take"),
	FIELD("progress-timeout", "PROGRESS-TIMEOUT", COLUMN_DURATION, progress_timeout_ns,
	      "longest time between two reports"),
	FIELD("backoff", "BACKOFF", COLUMN_DURATION, backoff_ns, "first wait before a retry"),
	FIELD("backoff-cap", "BACKOFF-CAP", COLUMN_DURATION, backoff_cap_ns, "longest such wait"),
	{ .name = NULL },
};
