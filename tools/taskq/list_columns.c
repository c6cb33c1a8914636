/* SPDX-License-Identifier: MIT */
/* The columns that `taskq list` can print. */
#include <stdlib.h>

#include "list_columns.h"
#include "outcome.h"
#include "text.h"

static void put_id(const struct list_row *row)
{
	char id[TQ_ID_TEXT_MAX];

	table_cell(row->table, "%s", tq_id_format(row->info->id, id));
}

static void put_state(const struct list_row *row)
{
	/* The flags that turn the state's meaning round. */
	table_cell(row->table, "%s%s%s%s%s", tq_state_name(row->info->state),
		   row->info->flags & TQ_INFO_HELD ? ",held" : "",
		   row->info->flags & TQ_INFO_THROTTLED ? ",throttled" : "",
		   row->info->flags & TQ_INFO_ASSIGNED ? ",assigned" : "",
		   row->info->flags & TQ_INFO_WAITING ? ",waiting" : "");
}

static void put_priority(const struct list_row *row)
{
	table_cell(row->table, "%d", row->info->priority);
}

static void put_effective(const struct list_row *row)
{
	table_cell(row->table, "%d", row->info->effective_priority);
}

static void put_queue(const struct list_row *row)
{
	table_cell(row->table, "%s", row->info->queue);
}

static void put_kind(const struct list_row *row)
{
	table_cell(row->table, "%s", row->info->kind);
}

static void put_attempts(const struct list_row *row)
{
	table_cell(row->table, "%u", row->info->attempt);
}

static void put_age(const struct list_row *row)
{
	char age[FORMAT_MAX];

	table_cell(row->table, "%s",
		   format_duration(row->clocks->now_ns - row->info->submitted_ns, age));
}

static void put_label(const struct list_row *row)
{
	table_cell(row->table, "%s", row->info->label);
}

static void put_command(const struct list_row *row)
{
	char *text = text_of_task(row->tq, row->info);

	table_cell(row->table, "%s", text ? text : "");
	free(text);
}

static void put_what(const struct list_row *row)
{
	if (row->info->label[0])
		put_label(row);
	else
		put_command(row);
}

static void put_cause(const struct list_row *row)
{
	char cause[CAUSE_MAX];

	table_cell(row->table, "%s",
		   row->info->cause == TQ_CAUSE_NONE ? "-" : outcome_cause(row->info, cause));
}

static void put_fair(const struct list_row *row)
{
	table_cell(row->table, "%s", row->info->fair_key[0] ? row->info->fair_key : "-");
}

static void put_server(const struct list_row *row)
{
	table_cell(row->table, "%s", row->info->server[0] ? row->info->server : "-");
}

static void put_worker(const struct list_row *row)
{
	if (row->info->worker)
		table_cell(row->table, "%u", row->info->worker);
	else
		table_cell(row->table, "-");
}

static void put_pid(const struct list_row *row)
{
	if (row->info->worker)
		table_cell(row->table, "%u", row->info->worker_pid);
	else
		table_cell(row->table, "-");
}

static void put_progress(const struct list_row *row)
{
	table_cell(row->table, "%u%%", row->info->progress_percent);
}

static void put_submitted(const struct list_row *row)
{
	char time[FORMAT_MAX];

	table_cell(row->table, "%s",
		   format_local(clocks_unix_ns(row->clocks, row->info->submitted_ns), time));
}

static void put_error(const struct list_row *row)
{
	table_cell(row->table, "%s", row->info->error_text);
}

const struct list_column list_columns[] = {
	{ "id", "ID", put_id, false },
	{ "state", "STATE", put_state, false },
	{ "priority", "PRI", put_priority, true },
	{ "queue", "QUEUE", put_queue, false },
	{ "kind", "KIND", put_kind, false },
	{ "attempts", "ATT", put_attempts, true },
	{ "age", "AGE", put_age, true },
	{ "what", "LABEL/COMMAND", put_what, false },
	{ "label", "LABEL", put_label, false },
	{ "command", "COMMAND", put_command, false },
	{ "cause", "CAUSE", put_cause, false },
	{ "error", "ERROR", put_error, false },
	{ "effective", "EFFECTIVE", put_effective, true },
	{ "fair", "FAIR", put_fair, false },
	{ "server", "SERVER", put_server, false },
	{ "worker", "WORKER", put_worker, true },
	{ "pid", "PID", put_pid, true },
	{ "progress", "DONE", put_progress, true },
	{ "submitted", "SUBMITTED", put_submitted, false },
	{ NULL, NULL, NULL, false },
};
