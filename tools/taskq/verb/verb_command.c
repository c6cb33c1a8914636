/* SPDX-License-Identifier: MIT */
/* taskq command: orders to workers and farms, and what they answered. */
#include <errno.h>
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

enum {
	CHUNK = 16
}; /* commands, or answers, in memory at a time */

enum key {
	KEY_TO = OPTION_OWN,
	KEY_WAIT,
	KEY_TIMEOUT
};

static const struct option_row rows[] = {
	{ KEY_TO, "to", "WHOM",
	  "send: a worker's number, any, all, workers or farms; default all" },
	{ KEY_WAIT, "wait", NULL, "send: until all have answered; exits 1 when one did not do it" },
	{ KEY_TIMEOUT, "timeout", "D", "send: wait, but give up after this (exit 75)" },
	{ 0, NULL, NULL, NULL },
};

struct command_options {
	uint32_t to; /* 0: all, as the command's name says */
	uint32_t worker;
	bool wait;
	bool given;
	uint64_t timeout_ns;
};

static bool take_to(struct cli *cli, struct command_options *o, const char *arg)
{
	static const struct {
		const char *name;
		uint32_t to;
	} names[] = { { "all", 0 },
		      { "any", TQ_COMMAND_TO_ANY },
		      { "workers", TQ_COMMAND_TO_ALL },
		      { "farms", TQ_COMMAND_TO_FARMS } };
	uint64_t number;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(arg, names[i].name)) {
			o->to = names[i].to;
			return true;
		}
	if (parse_count(arg, &number) < 0 || number == 0 || number > UINT32_MAX)
		return refuse(
			cli, "--to", arg, "nobody",
			"a worker's number as `taskq status` prints it, or any, all, workers, "
			"farms");
	o->to = TQ_COMMAND_TO_WORKER;
	o->worker = (uint32_t)number;
	return true;
}

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct command_options *o = ctx;

	switch (key) {
	case KEY_TO:
		o->given = true;
		return take_to(cli, o, arg);
	case KEY_WAIT:
		o->wait = o->given = true;
		return true;
	case KEY_TIMEOUT:
		o->wait = o->given = true;
		return option_duration(cli, "--timeout", arg, &o->timeout_ns);
	default:
		return option_global(cli, NULL, key, arg);
	}
}

/* What a farm knows concerns it as a whole; other names are its workers' affair. */
static uint32_t all_of(const char *name)
{
	return !strcmp(name, "stop") || !strcmp(name, "reload") || !strcmp(name, "resize")
		       ? TQ_COMMAND_TO_FARMS
		       : TQ_COMMAND_TO_ALL;
}

static const char *whom(uint32_t to)
{
	static const char *const names[] = { "?", "worker", "any", "workers", "farms" };

	return names[to <= TQ_COMMAND_TO_FARMS ? to : 0];
}

static json_t *json_of_answer(const struct tq_command_answer *a, const struct clocks *clocks)
{
	json_t *object = json_pack("{s:s}", "answer", tq_answer_name(a->state));

	if (a->worker)
		json_object_set_new(object, "worker", json_u64(a->worker));
	if (a->pid)
		json_object_set_new(object, "pid", json_u64(a->pid));
	if (a->text[0])
		json_object_set_new(object, "text", json_text(a->text));
	json_set_time(object, "changed", clocks, a->changed_ns);
	return object;
}

/* Each answer in turn; the library's error, or how many. */
typedef void answer_fn(void *ctx, const struct tq_command_answer *answer);
static int each_answer(struct cli *cli, uint64_t id, answer_fn *take, void *ctx)
{
	struct tq_command_answer answers[CHUNK];
	uint64_t cursor = 0;
	int n, count = 0;

	do {
		answers[0].size = sizeof(answers[0]);
		n = tq_command_answers(cli->tq, id, &cursor, answers, CHUNK);
		for (int i = 0; i < n; i++)
			take(ctx, &answers[i]);
		count += n > 0 ? n : 0;
	} while (n > 0);
	return n < 0 ? n : count;
}

struct answer_list {
	json_t *array;
	struct clocks clocks;
};

static void add_answer(void *ctx, const struct tq_command_answer *a)
{
	const struct answer_list *list = ctx;

	json_array_append_new(list->array, json_of_answer(a, &list->clocks));
}

static json_t *json_of_command(struct cli *cli, const struct tq_command_info *info)
{
	struct answer_list list = { json_array(), clocks_read() };
	json_t *object = json_pack("{s:o,s:s,s:o,s:s}", "id", json_id(info->id), "name", info->name,
				   "queue", json_text(info->queue), "to", whom(info->to));

	if (info->argument_bytes)
		json_object_set_new(object, "argument", json_text(info->argument));
	json_object_set_new(object, "recipients", json_u64(info->recipients));
	for (uint32_t a = TQ_ANSWER_WAITING; a < TQ_ANSWER_COUNT; a++)
		json_object_set_new(object, tq_answer_name(a), json_u64(info->answers[a]));
	json_object_set_new(object, "sender_pid", json_u64(info->sender_pid));
	json_set_time(object, "sent", &list.clocks, info->sent_ns);
	json_set_time(object, "ended", &list.clocks, info->ended_ns);
	each_answer(cli, info->id, add_answer, &list);
	json_object_set_new(object, "answers", list.array);
	return object;
}

static void print_answer(void *ctx, const struct tq_command_answer *a)
{
	(void)ctx;
	if (a->worker)
		printf("  worker %u (pid %u): %s", a->worker, a->pid, tq_answer_name(a->state));
	else
		printf("  anybody: %s", tq_answer_name(a->state));
	if (a->text[0]) {
		fputs(": ", stdout);
		text_put_safe(stdout, a->text);
	}
	putchar('\n');
}

static void report(struct cli *cli, const struct tq_command_info *info)
{
	if (cli->json)
		json_line(json_of_command(cli, info));
	else
		each_answer(cli, info->id, print_answer, NULL);
}

static int wait_for(struct cli *cli, uint64_t id, uint64_t timeout_ns)
{
	struct tq_command_info info = { .size = sizeof(info) };
	int r;

	do
		r = tq_command_wait(cli->tq, id, timeout_ns, &info);
	while (r == -EINTR);
	if (r < 0 && r != -ETIMEDOUT)
		return fail(cli, r, ABOUT_COMMAND, "command %s", cli->operands[1]);
	report(cli, &info);
	if (r < 0)
		return CLI_UNFINISHED;
	return info.answers[TQ_ANSWER_DONE] == info.recipients ? CLI_OK : CLI_NOTHING;
}

static int print_sent(struct cli *cli, uint64_t id, int count)
{
	char text[TQ_ID_TEXT_MAX];

	tq_task_id_format(id, text);
	if (cli->json)
		json_line(json_pack("{s:s,s:i}", "id", text, "recipients", count));
	else
		printf("%s\n", text);
	return CLI_OK;
}

static int send(struct cli *cli, const struct command_options *o)
{
	if (!operands_ok(cli, 2, 3, "the command's name"))
		return cli->exit_code;
	const char *name = cli->operands[1];
	const char *argument = cli->operand_count > 2 ? cli->operands[2] : NULL;
	const struct tq_command_spec spec = {
		.size = sizeof(spec),
		.name = name,
		.queue = o->to == TQ_COMMAND_TO_WORKER && !cli->queue_given ? NULL : cli->queue,
		.argument = argument,
		.argument_bytes = argument ? strlen(argument) : 0,
		.to = o->to ? o->to : all_of(name),
		.worker = o->worker,
	};
	uint64_t id;

	if (!name_ok(name)) {
		refuse(cli, "NAME", name, "not a name", FORM_NAME);
		return CLI_USAGE;
	}
	if (!attach(cli, 0))
		return cli->exit_code;
	const int r = tq_command_send(cli->tq, &spec, &id);

	if (r == -ENOENT)
		return fail(cli, r, ABOUT_QUEUE, "command %s: queue \"%s\"", name, cli->queue);
	if (r < 0)
		return fail(cli, r, ABOUT_COMMAND, "command %s", name);
	if (o->wait && cli->json)
		return wait_for(cli, id, o->timeout_ns);
	print_sent(cli, id, r);
	fflush(stdout);
	return o->wait ? wait_for(cli, id, o->timeout_ns) : CLI_OK;
}

static bool put_row(struct cli *cli, struct table *table, const void *row)
{
	const struct tq_command_info *info = row;
	const struct clocks clocks = clocks_read();
	char id[TQ_ID_TEXT_MAX], age[FORMAT_MAX];

	if (cli->queue_given && strcmp(info->queue, cli->queue) != 0)
		return false;
	if (cli->json) {
		json_line(json_of_command(cli, info));
		return true;
	}
	char *argument = text_safe_copy(info->argument, 0);

	table_cell(table, "%s", tq_task_id_format(info->id, id));
	table_cell(table, "%s", info->queue);
	table_cell(table, "%s", whom(info->to));
	table_cell(table, "%s", format_duration(ns_between(info->sent_ns, clocks.now_ns), age));
	for (uint32_t a = TQ_ANSWER_WAITING; a < TQ_ANSWER_COUNT; a++)
		table_cell(table, "%u", info->answers[a]);
	table_cell(table, "%s%s%s", info->name, info->argument_bytes ? " " : "",
		   argument ? argument : "");
	free(argument);
	return true;
}

static int page(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_command_list(tq, cursor, infos, count);
}

static int list(struct cli *cli)
{
	static const char *const headers[] = { "ID",	  "QUEUE",     "TO",	 "AGE",
					       "WAITING", "TAKEN",     "DONE",	 "REFUSED",
					       "GONE",	  "CANCELLED", "COMMAND" };
	struct table table = { .columns = 0 };

	if (!operands_ok(cli, 1, 1, "what to do") || !attach(cli, TQ_OPEN_READONLY) ||
	    (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i], i > 2 && i < 10);
	return rows_print(cli, &table, sizeof(struct tq_command_info), page, put_row,
			  "command list");
}

/* The one with this id; the library's error. */
static int find(struct cli *cli, uint64_t id, struct tq_command_info *ret_info)
{
	uint64_t cursor = 0;

	for (;;) {
		ret_info->size = sizeof(*ret_info);
		int n = tq_command_list(cli->tq, &cursor, ret_info, 1);

		if (n <= 0)
			return n < 0 ? n : -ENOENT;
		if (ret_info->id == id)
			return 0;
	}
}

static void print_head(const struct tq_command_info *info)
{
	const struct clocks clocks = clocks_read();
	char id[TQ_ID_TEXT_MAX], time[FORMAT_MAX];

	printf("command %s: %s", tq_task_id_format(info->id, id), info->name);
	if (info->argument_bytes) {
		putchar(' ');
		text_put_quoted(stdout, info->argument);
	}
	printf(", queue %s, to %s, sent %s by pid %u\n", info->queue, whom(info->to),
	       format_local(clocks_unix_ns(&clocks, info->sent_ns), time), info->sender_pid);
}

/* The one that is named; false: the exit code says why not. */
static bool take_id(struct cli *cli, uint64_t *ret_id)
{
	if (!operands_ok(cli, 2, 2, "the command's id"))
		return false;
	if (tq_task_id_parse(cli->operands[1], ret_id) == 0)
		return true;
	refuse(cli, "ID", cli->operands[1], "not an id",
	       "an id as `taskq command send` prints it, such as 17-3");
	cli->exit_code = CLI_USAGE;
	return false;
}

static int cancel(struct cli *cli)
{
	uint64_t id;

	if (!take_id(cli, &id) || !attach(cli, 0))
		return cli->exit_code;
	const int r = tq_command_cancel(cli->tq, id);

	if (r < 0)
		return fail(cli, r, ABOUT_COMMAND, "command %s", cli->operands[1]);
	if (cli->json)
		json_line(json_pack("{s:o,s:i}", "id", json_id(id), "cancelled", r));
	if (r > 0)
		return CLI_OK;
	complain("command %s: all who were to get it have taken it", cli->operands[1]);
	return CLI_NOTHING;
}

static int show(struct cli *cli)
{
	struct tq_command_info info;
	uint64_t id;

	if (!take_id(cli, &id) || !attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	const int r = find(cli, id, &info);

	if (r < 0)
		return fail(cli, r, ABOUT_COMMAND, "command %s", cli->operands[1]);
	if (!cli->json)
		print_head(&info);
	report(cli, &info);
	return CLI_OK;
}

int verb_command(struct cli *cli, int argc, char **argv)
{
	struct command_options o = { .timeout_ns = TQ_FOREVER_NS };

	if (!options_parse(cli, rows, take_option, &o, argc, argv) ||
	    !operands_ok(cli, 1, 3, "what to do (send, list, show or cancel)"))
		return cli->exit_code;
	const char *what = cli->operands[0];

	if (!strcmp(what, "send"))
		return send(cli, &o);
	if (o.given)
		return usage(cli, "only send knows --to, --wait and --timeout");
	if (!strcmp(what, "list"))
		return list(cli);
	if (!strcmp(what, "show"))
		return show(cli);
	if (!strcmp(what, "cancel"))
		return cancel(cli);
	return usage(cli, "\"%s\" is not to be had: say send, list, show or cancel", what);
}
