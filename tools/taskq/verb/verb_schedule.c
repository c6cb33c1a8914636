/* SPDX-License-Identifier: MIT */
/* taskq schedule: what makes tasks at certain times, listed, shown and steered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "parse.h"
#include "text.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/rows.h"

static uint64_t unix_of(const struct tq_schedule_info *info, const struct clocks *clocks)
{
	return info->every_ns ? clocks_unix_ns(clocks, info->next_ns) : info->next_ns;
}

/* "every 10s" or the expression. */
static void put_when(FILE *out, const struct tq_schedule_info *info)
{
	char text[FORMAT_MAX];

	if (info->every_ns)
		fprintf(out, "every %s", format_duration(info->every_ns, text));
	else
		text_put_safe(out, info->cron);
}

static char *command_of(struct tq *tq, const struct tq_schedule_info *info)
{
	void *payload = malloc(info->payload_bytes + 1);
	char *text = NULL;
	uint64_t bytes = 0;
	size_t text_bytes;
	FILE *out = open_memstream(&text, &text_bytes);

	if (out && payload &&
	    tq_schedule_payload(tq, info->id, payload, info->payload_bytes, &bytes) == 0 &&
	    bytes == info->payload_bytes)
		text_put_payload(out, info->kind, payload, bytes);
	if (out)
		fclose(out);
	free(payload);
	return text;
}

static char *when_of(const struct tq_schedule_info *info)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	put_when(out, info);
	fclose(out);
	return text;
}

static bool put_row(struct cli *cli, struct table *table, const void *row)
{
	const struct tq_schedule_info *info = row;
	const struct clocks clocks = clocks_read();

	if (cli->queue_given && strcmp(info->queue, cli->queue) != 0)
		return false;
	if (cli->json) {
		json_line(json_of_schedule(cli->tq, info, &clocks));
		return true;
	}
	char *command = command_of(cli->tq, info), *when = when_of(info);
	char id[TQ_ID_TEXT_MAX], next[FORMAT_MAX];
	const bool paused = info->flags & TQ_SCHEDULE_PAUSED;

	table_cell(table, "%s", tq_schedule_id_format(info->id, id));
	table_cell(table, "%s", when ? when : "");
	table_cell(table, "%s", paused ? "paused" : format_local(unix_of(info, &clocks), next));
	table_cell(table, "%llu", (unsigned long long)info->runs);
	table_cell(table, "%llu", (unsigned long long)info->skipped);
	table_cell(table, "%s", info->queue);
	table_cell(table, "%s", info->name);
	table_cell(table, "%s", info->label);
	table_cell(table, "%s", command ? command : "");
	free(command);
	free(when);
	return true;
}

static int page(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_schedule_list(tq, cursor, infos, count);
}

static int list(struct cli *cli)
{
	struct table table = { .columns = 0 };

	if (!operands_ok(cli, 1, 1, "what to do") || !attach(cli, TQ_OPEN_READONLY) ||
	    (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	table_column(&table, "SCHEDULE", false);
	table_column(&table, "WHEN", false);
	table_column(&table, "NEXT", false);
	table_column(&table, "RUNS", true);
	table_column(&table, "SKIPPED", true);
	table_column(&table, "QUEUE", false);
	table_column(&table, "NAME", false);
	table_column(&table, "LABEL", false);
	table_column(&table, "COMMAND", false);
	return rows_print(cli, &table, sizeof(struct tq_schedule_info), page, put_row,
			  "schedule list");
}

static void print_next(const struct tq_schedule_info *info, const struct clocks *clocks)
{
	char wall[FORMAT_MAX];

	if (info->flags & TQ_SCHEDULE_PAUSED)
		puts("next        none: it is paused; `taskq schedule resume` lets it go on");
	else
		printf("next        %s\n", format_local(unix_of(info, clocks), wall));
	if (info->last_error)
		printf("problem     the last run could not be made: %s\n",
		       tq_strerror(info->last_error));
	if (info->owed)
		printf("owed        %u %s for times that have passed%s\n", info->owed,
		       format_plural(info->owed, "run", "runs"),
		       info->retry_ns ? ", tried again each second"
				      : ", when the last one has ended");
}

static void print_runs(const struct tq_schedule_info *info, const struct clocks *clocks)
{
	char id[TQ_ID_TEXT_MAX], wall[FORMAT_MAX];

	printf("runs        %llu made, %llu skipped\n", (unsigned long long)info->runs,
	       (unsigned long long)info->skipped);
	if (info->last_run)
		printf("last run    %s, made %s\n", tq_task_id_format(info->last_run, id),
		       format_local(clocks_unix_ns(clocks, info->last_run_ns), wall));
	printf("overlap     %s, catch-up %u\n", tq_overlap_name(info->overlap), info->catch_up);
}

static void print_text(const char *name, const char *text)
{
	if (!*text)
		return;
	printf("%-12s", name);
	text_put_safe(stdout, text);
	putchar('\n');
}

static void print_one(struct cli *cli, const struct tq_schedule_info *info,
		      const struct clocks *clocks)
{
	char *command = command_of(cli->tq, info);
	char limit[LIMIT_TEXT_MAX];
	char id[TQ_ID_TEXT_MAX];

	printf("schedule    %s: ", tq_schedule_id_format(info->id, id));
	put_when(stdout, info);
	if (info->zone[0])
		printf(", %s", info->zone);
	putchar('\n');
	print_next(info, clocks);
	print_runs(info, clocks);
	print_text("name", info->name);
	printf("queue       %s, kind %s, priority %d\n", info->queue, info->kind, info->priority);
	print_text("label", info->label);
	for (uint32_t i = 0; i < info->limit_count && i < TQ_LIMITS_MAX; i++)
		print_text("limit", text_limit(info->limits[i], info->limit_weights[i], limit));
	print_text("fair key", info->fair_key);
	printf("command     %s\n", command ? command : "");
	free(command);
}

static int show(struct cli *cli, uint64_t id)
{
	struct tq_schedule_info info = { .size = sizeof(info) };
	const struct clocks clocks = clocks_read();
	char text[TQ_ID_TEXT_MAX];
	const int r = tq_schedule_info(cli->tq, id, &info);

	if (r < 0)
		return fail(cli, r, ABOUT_SCHEDULE, "schedule %s", tq_schedule_id_format(id, text));
	if (cli->json)
		json_line(json_of_schedule(cli->tq, &info, &clocks));
	else
		print_one(cli, &info, &clocks);
	return CLI_OK;
}

static int steer(struct cli *cli, uint64_t id, enum tq_schedule_action action)
{
	char text[TQ_ID_TEXT_MAX];
	const int r = tq_schedule_steer(cli->tq, id, action);

	if (r < 0)
		return fail(cli, r, ABOUT_SCHEDULE, "schedule %s", tq_schedule_id_format(id, text));
	return CLI_OK;
}

/* Ids; 0 what must be a name, for which one looks in the segment. */
static bool take_ids(struct cli *cli, uint64_t *ids)
{
	bool ok = true;

	for (int i = 1; i < cli->operand_count; i++)
		if (tq_schedule_id_parse(cli->operands[i], &ids[i - 1]) < 0)
			ok &= name_ok(cli->operands[i]) ||
			      refuse(cli, "schedule", cli->operands[i],
				     "neither a schedule's id nor a name", FORM_SCHEDULE);
	cli->exit_code = CLI_USAGE;
	return ok;
}

static int find(struct cli *cli, const char *name, uint64_t *ret_id)
{
	const int r = *ret_id ? 0 : tq_schedule_find(cli->tq, name, ret_id);

	return r < 0 ? fail(cli, r, ABOUT_SCHEDULE, "schedule \"%s\"", name) : CLI_OK;
}

static int one(struct cli *cli, uint64_t id, int action)
{
	return action ? steer(cli, id, (enum tq_schedule_action)action) : show(cli, id);
}

/* @action 0: show. */
static int each(struct cli *cli, int action)
{
	uint64_t *ids = calloc((size_t)cli->operand_count + 1, sizeof(*ids));
	int code = CLI_OK;

	if (!ids || !operands_ok(cli, 2, cli->operand_count, "a schedule's id") ||
	    !take_ids(cli, ids) || !attach(cli, action ? 0 : TQ_OPEN_READONLY)) {
		free(ids);
		return cli->exit_code;
	}
	for (int i = 1; i < cli->operand_count && !failed_at_lock(); i++) {
		if (!action && !cli->json && i > 1)
			putchar('\n');
		const int found = find(cli, cli->operands[i], &ids[i - 1]);

		code = worse(code, found == CLI_OK ? one(cli, ids[i - 1], action) : found);
	}
	free(ids);
	return code;
}

int verb_schedule(struct cli *cli, int argc, char **argv)
{
	static const struct {
		const char *name;
		int action;
	} actions[] = { { "show", 0 },
			{ "pause", TQ_SCHEDULE_PAUSE },
			{ "resume", TQ_SCHEDULE_RESUME },
			{ "remove", TQ_SCHEDULE_REMOVE } };

	if (!options_parse(cli, options_none, NULL, NULL, argc, argv))
		return cli->exit_code;
	const char *what = cli->operand_count ? cli->operands[0] : "";

	if (!strcmp(what, "list"))
		return list(cli);
	for (unsigned i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(what, actions[i].name))
			return each(cli, actions[i].action);
	return usage(cli, "say list, show, pause, resume or remove");
}
