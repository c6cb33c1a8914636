/* SPDX-License-Identifier: MIT */
/* taskq show: everything about a task, for a person at 3 a.m. or a program. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "outcome.h"
#include "parse.h"
#include "payload.h"
#include "text.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/task_columns.h"
#include "tools/taskq/verb/each.h"
#include "why.h"

enum {
	OUTPUT_LINES = 10, /* shown of the output; `taskq log` has it all */
	OUTPUT_BYTES = 4 << 10,
	COMMAND_BYTES = 64 << 10, /* the largest payload that is shown */
	EDGES = 16,		  /* dependencies and dependants that are shown */
};

struct show {
	struct cli *cli;
	struct clocks clocks;
	struct tq_task_info info;
	struct tq_why why;
	struct tq_attempt_info history[TQ_HISTORY_MAX];
	unsigned history_count;
};

/* "name        value", the value made safe. */
static void line(const char *name, const char *format, ...) PRINTF_LIKE(2, 3);
static void line(const char *name, const char *format, ...)
{
	char *value = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&value, format, args) < 0)
		value = NULL;
	va_end(args);
	printf("%-11s ", name);
	text_put_safe(stdout, value ? value : "");
	putchar('\n');
	free(value);
}

static void line_time(const struct show *show, const char *name, uint64_t at_ns)
{
	char moment[FORMAT_MAX];

	if (at_ns)
		line(name, "%s", format_moment(&show->clocks, at_ns, moment));
}

/* The state in words: what happens now, or how it ended. */
static void line_state(const struct show *show)
{
	const struct tq_task_info *info = &show->info;
	char outcome[OUTCOME_MAX], id[TQ_ID_TEXT_MAX], why[WHY_MAX];

	tq_task_id_format(info->id, id);
	if (info->state >= TQ_DONE)
		line("task", "%s: %s", id, outcome_format(info, outcome));
	else if (show->why.reason == TQ_WHY_RUNNING && !show->why.stopped_pid)
		line("task", "%s: running, attempt %u, on worker %u (pid %u)", id, info->attempt,
		     info->worker, info->worker_pid);
	else
		line("task", "%s: %s; %s", id, tq_task_state_name(info->state),
		     why_format(show->cli->tq, info, &show->why, &show->clocks, why));
}

static void lines_flags(const struct tq_task_info *info)
{
	for (const struct outcome_flag *flag = outcome_flags; flag->name; flag++) {
		if (!(info->flags & flag->bit) || (flag->ends && info->state >= TQ_DONE))
			continue;
		if (flag->meaning)
			line(flag->name, "%s", flag->meaning);
		else if (info->state == TQ_RUNNING)
			continue; /* it needs nobody any more */
		else if (!strcmp(info->kind, "exec"))
			line(flag->name,
			     "no live worker serves queue %s and kind %s: start one with "
			     "`taskq work -q %s`",
			     info->queue, info->kind, info->queue);
		else
			line(flag->name,
			     "no live worker serves queue %s and kind %s: start the program that "
			     "handles that kind",
			     info->queue, info->kind);
	}
}

static const char *priority_name(int32_t priority)
{
	switch (priority) {
	case TQ_PRIORITY_LOW:
		return " (low)";
	case TQ_PRIORITY_NORMAL:
		return " (normal)";
	case TQ_PRIORITY_HIGH:
		return " (high)";
	case TQ_PRIORITY_CRITICAL:
		return " (critical)";
	default:
		return "";
	}
}

/* What it has of those that wait for it, and of its own waiting. */
static void line_inherited(const struct show *show)
{
	const struct tq_task_info *info = &show->info;
	char id[TQ_ID_TEXT_MAX];
	const char *from = info->inherited_from ? tq_task_id_format(info->inherited_from, id)
						: "who waits for it";

	if (info->inherited_priority != info->priority)
		line("counts as", "priority %d%s, inherited from %s", info->inherited_priority,
		     priority_name(info->inherited_priority), from);
	if (info->effective_priority != info->inherited_priority)
		line("counts as", "priority %d now: it has gained %lld by waiting",
		     info->effective_priority,
		     (long long)info->effective_priority - info->inherited_priority);
	if (info->inherited_deadline_ns)
		line_time(show, "urgent by", info->inherited_deadline_ns);
}

static void lines_exec(const struct tq_exec *exec)
{
	if (exec->cwd)
		line("directory", "%s", exec->cwd);
	for (const char *const *env = exec->env; env && *env; env++)
		line("environment", "%s", *env);
	if (exec->output_path)
		line("output to", "%s%s", exec->output_path,
		     exec->flags & TQ_EXEC_APPEND ? ", appended" : "");
	if (exec->flags & TQ_EXEC_READER_INPUT)
		line("input of", "process %u", (unsigned)(exec->reader >> 32));
	if (exec->flags & TQ_EXEC_UMASK)
		line("umask", "%04o", exec->umask);
	if (exec->flags & TQ_EXEC_LEFTOVERS)
		line("leftovers", "allowed");
}

static void lines_work(const struct show *show)
{
	const struct tq_task_info *info = &show->info;
	char *text = text_of_task(show->cli->tq, info), size[FORMAT_MAX], id[TQ_ID_TEXT_MAX];
	char limit[LIMIT_TEXT_MAX];
	struct tq_exec *exec = NULL;
	void *payload = NULL;
	uint64_t bytes;

	line("queue", "%s, kind %s, priority %d%s", info->queue, info->kind, info->priority,
	     priority_name(info->priority));
	line_inherited(show);
	if (info->label[0])
		line("label", "%s", info->label);
	if (info->schedule)
		line("schedule", "%s", tq_schedule_id_format(info->schedule, id));
	if (info->unique_key[0])
		line("unique", "%s, scope %s", info->unique_key, scope_name(info->unique_scope));
	for (uint32_t i = 0; i < info->limit_count && i < TQ_LIMITS_MAX; i++)
		line("limit", "%s", text_limit(info->limits[i], info->limit_weights[i], limit));
	if (info->server[0])
		line("server", "%s", info->server);
	if (info->group)
		line("group", "%s", tq_group_id_format(info->group, id));
	if (info->completes)
		line("starts after", "the last of group %s",
		     tq_group_id_format(info->completes, id));
	if (info->fair_key[0])
		line("fair key", "%s", info->fair_key);
	if (!strcmp(info->kind, "exec"))
		line("command", "%s", text ? text : "(unreadable)");
	else
		line("payload", "%s (%s %s)", text ? text : "",
		     format_size(info->payload_bytes, size),
		     format_plural(info->payload_bytes, "byte", "bytes"));
	if (!strcmp(info->kind, "exec") && info->payload_bytes <= COMMAND_BYTES &&
	    payload_read(show->cli->tq, info->id, &payload, &bytes) == 0 &&
	    tq_exec_decode(payload, bytes, &exec) == 0)
		lines_exec(exec);
	free(exec);
	free(payload);
	free(text);
}

/* "after 17-3 (after-ok, done)", one a line. */
static void lines_edges(const struct show *show, const char *name,
			int (*read)(struct tq *tq, uint64_t id, struct tq_dependency_info *infos,
				    uint32_t count))
{
	struct tq_dependency_info infos[EDGES + 1];
	const int n = read(show->cli->tq, show->info.id, infos, EDGES + 1);
	char id[TQ_ID_TEXT_MAX];

	for (int i = 0; i < n && i < EDGES; i++)
		line(name, "%s (%s, %s)", tq_task_id_format(infos[i].id, id),
		     tq_after_name(infos[i].kind), tq_task_state_name(infos[i].state));
	if (n > EDGES)
		line(name, "and others; --json names them");
}

static void lines_times(const struct show *show)
{
	const struct tq_task_info *info = &show->info;
	char text[FORMAT_MAX];

	line_time(show, "submitted", info->submitted_ns);
	line_time(show, "ready", info->ready_ns);
	if (info->state < TQ_RUNNING)
		line_time(show, "due", info->due_ns);
	if (info->at_ns)
		line("at", "%s by the wall clock", format_local(info->at_ns, text));
	line_time(show, "deadline", info->deadline_ns);
	line_time(show, "started", info->started_ns);
	line_time(show, "ended", info->ended_ns);
	if (info->ended_ns && info->run_ns)
		line("took", "%s", format_duration(info->run_ns, text));
	if (info->timeout_ns && info->timeout_ns != TQ_UNLIMITED)
		line("time-out", "%s an attempt", format_duration(info->timeout_ns, text));
	if (info->timeout_total_ns && info->timeout_total_ns != TQ_UNLIMITED)
		line("time-out", "%s in all", format_duration(info->timeout_total_ns, text));
	if (info->progress_timeout_ns && info->progress_timeout_ns != TQ_UNLIMITED)
		line("time-out", "%s between two progress reports",
		     format_duration(info->progress_timeout_ns, text));
}

/* The first lines of @data, each set in by four columns. */
static void print_lines(const char *data, size_t bytes)
{
	for (unsigned lines = 0; bytes > 0 && lines < OUTPUT_LINES; lines++) {
		const char *feed = memchr(data, '\n', bytes);
		const size_t length = feed ? (size_t)(feed - data) : bytes;
		const size_t step = feed ? length + 1 : length;

		fputs("    ", stdout);
		text_put_safe_bytes(stdout, data, length);
		putchar('\n');
		data += step;
		bytes -= step;
	}
}

static void lines_checkpoint(const struct show *show)
{
	char data[TQ_CHECKPOINT_MAX];
	uint64_t bytes;

	if (tq_task_checkpoint(show->cli->tq, show->info.id, data, &bytes) < 0)
		return;
	line("checkpoint", "%" PRIu64 " bytes, which the next attempt is given", bytes);
	print_lines(data, bytes);
}

static void lines_attempts(const struct show *show)
{
	const struct tq_task_info *info = &show->info;
	char cpu[FORMAT_MAX], rss[FORMAT_MAX], first[FORMAT_MAX], cap[FORMAT_MAX];

	line("attempts", "%u begun; %u of %u failed, %u of %u %s, %u of %u lost %s", info->attempt,
	     info->failures, info->attempts_max, info->crashes, info->crashes_max,
	     format_plural(info->crashes_max, "crash", "crashes"), info->losses, info->losses_max,
	     format_plural(info->losses_max, "lease", "leases"));
	if (info->attempts_max > 1 && info->state < TQ_DONE)
		line("back-off", "%s, doubled each time up to %s",
		     format_duration(info->backoff_ns, first),
		     format_duration(info->backoff_cap_ns, cap));
	if (info->progress_percent || info->progress_text[0])
		line("progress", "%u %% %s", info->progress_percent, info->progress_text);
	lines_checkpoint(show);
	if (info->max_rss_bytes || info->cpu_ns)
		line("used", "%s CPU time, %s memory at most", format_duration(info->cpu_ns, cpu),
		     format_size(info->max_rss_bytes, rss));
}

static void table_history(const struct show *show)
{
	static const char *const headers[] = { "ATTEMPT", "WORKER", "PID", "STARTED",
					       "TOOK",	  "OUTPUT", "END" };
	struct table table = { 0 };

	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i], i < 3 || i == 4);
	for (unsigned i = 0; i < show->history_count; i++) {
		const struct tq_attempt_info *attempt = &show->history[i];
		char started[FORMAT_MAX], took[FORMAT_MAX], cause[32];

		table_cell(&table, "%u", attempt->number);
		if (attempt->worker)
			table_cell(&table, "%u", attempt->worker);
		else
			table_cell(&table, "-");
		table_cell(&table, "%u", attempt->worker_pid);
		table_cell(
			&table, "%s",
			format_local(clocks_unix_ns(&show->clocks, attempt->started_ns), started));
		table_cell(&table, "%s",
			   format_duration(attempt->ended_ns - attempt->started_ns, took));
		table_cell(&table, "%s",
			   outcome_of_output(show->cli->tq, show->info.id, attempt->number));
		table_cell(&table, "%s",
			   tq_cause_format(attempt->cause, attempt->cause_arg, cause));
	}
	table_end(&table, stdout);
}

static void print_output(const struct show *show)
{
	const struct tq_task_info *info = &show->info;
	char data[OUTPUT_BYTES], id[TQ_ID_TEXT_MAX], size[FORMAT_MAX];
	uint64_t from;
	uint32_t attempt = 0;
	int n = tq_output_read(show->cli->tq, info->id, 0, data, sizeof(data), 0, &from, &attempt);

	if (n <= 0)
		return;
	line("output", "%s bytes; its first lines (all: `taskq log %s`)",
	     format_size(info->output_bytes ? info->output_bytes : info->result_bytes, size),
	     tq_task_id_format(info->id, id));
	print_lines(data, (size_t)n);
}

static void print_for_people(const struct show *show)
{
	line_state(show);
	lines_flags(&show->info);
	if (show->info.error_text[0] && show->info.state < TQ_DONE)
		line("last error", "%s", show->info.error_text);
	lines_work(show);
	lines_edges(show, "after", tq_task_dependencies);
	lines_edges(show, "before", tq_task_dependants);
	lines_times(show);
	lines_attempts(show);
	table_history(show);
	print_output(show);
}

static int show_for_programs(struct cli *cli, uint64_t id)
{
	const struct clocks clocks = clocks_read();
	json_t *object;
	const int r = json_of_task_whole(cli->tq, id, &clocks, UINT64_MAX, &object);

	if (r < 0)
		return fail_task(cli, r, id);
	json_line(object);
	return CLI_OK;
}

static const struct option_row rows[] = {
	COLUMNS_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	return columns_option(cli, ctx, key, arg);
}

static int show_row(struct cli *cli, struct columns *columns, uint64_t id)
{
	const struct clocks clocks = clocks_read();
	struct tq_task_info info = { .size = sizeof(info) };
	const int r = tq_task_info(cli->tq, id, &info);

	if (r < 0)
		return fail_task(cli, r, id);
	columns_row(columns, cli->tq, &clocks, &info);
	return CLI_OK;
}

static int show_one(struct cli *cli, void *ctx, uint64_t id, bool first)
{
	struct columns *columns = ctx;
	struct show show = {
		.cli = cli,
		.clocks = clocks_read(),
		.info = { .size = sizeof(show.info) },
		.why = { .size = sizeof(show.why) },
	};
	int r;

	if (columns->count)
		return show_row(cli, columns, id);
	if (cli->json)
		return show_for_programs(cli, id);
	if (!first)
		putchar('\n');
	r = tq_task_info(cli->tq, id, &show.info);
	if (r == 0)
		r = tq_task_why(cli->tq, id, &show.why);
	if (r == 0)
		r = tq_task_history(cli->tq, id, show.history);
	if (r < 0)
		return fail_task(cli, r, id);
	show.history_count = (unsigned)r;
	print_for_people(&show);
	return CLI_OK;
}

int verb_show(struct cli *cli, int argc, char **argv)
{
	struct columns columns = { .all = task_columns };
	int code;

	if (!options_parse(cli, rows, take_option, &columns, argc, argv) ||
	    !columns_ready(cli, &columns))
		return cli->exit_code;
	code = look_at_each(cli, show_one, &columns);
	table_end(&columns.table, stdout);
	return code;
}
