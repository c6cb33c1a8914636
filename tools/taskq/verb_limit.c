/* SPDX-License-Identifier: MIT */
/* taskq limit: how many tasks with a key may run at a time. */
#include <stdio.h>
#include <errno.h>
#include <string.h>

#include "errors.h"
#include "json.h"
#include "options.h"
#include "parse.h"
#include "table.h"
#include "text.h"
#include "verbs.h"

enum {
	CHUNK = 64
}; /* limits in memory at a time */

#define FORM_SLOTS "a whole number from 1 to 4294967294"

static const struct option_row no_rows[] = { { 0, NULL, NULL, NULL } };

/* The key that is the second operand, of so many; false when it was refused. */
static bool key_operand(struct cli *cli, int count, const char *what)
{
	if (!operands_ok(cli, count, count, what))
		return false;
	const char *key = cli->operands[1];

	if (key_ok(key))
		return true;
	refuse(cli, "key", key, *key ? "too long" : "empty", FORM_KEY);
	cli->exit_code = CLI_USAGE;
	return false;
}

static bool slots_operand(struct cli *cli, const char *arg, uint32_t *ret_slots)
{
	uint64_t slots;
	const int r = parse_count(arg, &slots);

	*ret_slots = (uint32_t)slots;
	if (r == 0 && slots > 0 && slots < TQ_OFF)
		return true;
	if (r == 0 && slots == 0) {
		complain("limit set: a limit of 0 would start nothing\n"
			 "`taskq pause` is the way to start no more tasks of a queue; "
			 "`taskq limit remove` takes a limit away");
	} else {
		refuse(cli, "limit", arg, r == -EINVAL ? "not a number" : "too large", FORM_SLOTS);
	}
	cli->exit_code = CLI_USAGE;
	return false;
}

static int set(struct cli *cli)
{
	struct tq_limit_opts opts = { .size = sizeof(opts) };

	if (!key_operand(cli, 3, "a key and a number") ||
	    !slots_operand(cli, cli->operands[2], &opts.slots) || !attach(cli, 0))
		return cli->exit_code;
	const int r = tq_limit_set(cli->tq, cli->operands[1], &opts);

	return r < 0 ? fail(cli, r, ABOUT_LIMIT, "limit \"%s\"", cli->operands[1]) : CLI_OK;
}

static int take_away(struct cli *cli)
{
	if (!key_operand(cli, 2, "a key") || !attach(cli, 0))
		return cli->exit_code;
	const int r = tq_limit_remove(cli->tq, cli->operands[1]);

	return r < 0 ? fail(cli, r, ABOUT_LIMIT, "limit \"%s\"", cli->operands[1]) : CLI_OK;
}

static json_t *json_of_limit(const struct tq_limit_info *info)
{
	json_t *object = json_object();

	json_object_set_new(object, "key", json_text(info->key));
	if (info->slots != TQ_OFF)
		json_object_set_new(object, "slots", json_u64(info->slots));
	json_object_set_new(object, "used", json_u64(info->used));
	json_object_set_new(object, "waiting", json_u64(info->waiting));
	json_object_set_new(object, "tasks", json_u64(info->tasks));
	return object;
}

static void put_row(const struct cli *cli, struct table *table, const struct tq_limit_info *info)
{
	if (cli->json) {
		json_line(json_of_limit(info));
		return;
	}
	table_cell(table, "%s", info->key);
	if (info->slots == TQ_OFF)
		table_cell(table, "-");
	else
		table_cell(table, "%u", info->slots);
	table_cell(table, "%u", info->used);
	table_cell(table, "%u", info->waiting);
	table_cell(table, "%u", info->tasks);
}

static void begin_table(struct table *table)
{
	table_column(table, "LIMIT", false);
	table_column(table, "SLOTS", true);
	table_column(table, "USED", true);
	table_column(table, "WAITING", true);
	table_column(table, "TASKS", true);
}

static int show(struct cli *cli)
{
	struct tq_limit_info info = { .size = sizeof(info) };
	struct table table = { .columns = 0 };

	if (!key_operand(cli, 2, "a key") || !attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	const int r = tq_limit_get(cli->tq, cli->operands[1], &info);

	if (r < 0)
		return fail(cli, r, ABOUT_LIMIT, "limit \"%s\"", cli->operands[1]);
	begin_table(&table);
	put_row(cli, &table, &info);
	table_end(&table, stdout);
	return CLI_OK;
}

static int put_rows(struct cli *cli, struct table *table)
{
	struct tq_limit_info infos[CHUNK];
	uint64_t cursor = 0;
	int n, rows = 0;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_limit_list(cli->tq, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			put_row(cli, table, &infos[i]);
		rows += n > 0 ? n : 0;
	} while (n > 0);
	return n < 0 ? n : rows;
}

static int list(struct cli *cli)
{
	struct table table = { .columns = 0 };

	if (!operands_ok(cli, 1, 1, "what to do") || !attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	begin_table(&table);
	const int r = put_rows(cli, &table);

	table_end(&table, stdout);
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "limit list");
	return r ? CLI_OK : CLI_NOTHING;
}

int verb_limit(struct cli *cli, int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct cli *cli);
	} words[] = { { "set", set }, { "remove", take_away }, { "show", show }, { "list", list } };

	if (!options_parse(cli, no_rows, NULL, NULL, argc, argv) ||
	    !operands_ok(cli, 1, 3, "what to do (set, remove, show or list)"))
		return cli->exit_code;
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(cli->operands[0], words[i].name))
			return words[i].run(cli);
	return usage(cli, "\"%s\" is not to be had: say set, remove, show or list",
		     cli->operands[0]);
}
