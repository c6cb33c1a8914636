/* SPDX-License-Identifier: MIT */
/* taskq list: tasks, a line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "list_columns.h"
#include "options.h"
#include "parse.h"
#include "states.h"
#include "table.h"
#include "verbs.h"

enum {
	CHUNK = 256
}; /* tasks in memory at a time */

static const struct option_row rows[] = {
	{ 'S', "state", "S[,S]", "in these states; also \"unfinished\", \"finished\"" },
	{ 'K', "kind", "K", "of this kind" },
	{ 'L', "label", "TEXT", "with this label" },
	{ 'n', "limit", "N", "at most N tasks" },
	{ 'o', "output", "COLUMN[,COLUMN]", "print these columns; `-o help` lists them" },
	{ 0, NULL, NULL, NULL },
};

struct list {
	struct cli *cli;
	struct tq_task_filter filter;
	struct clocks clocks;
	const struct list_column *columns[TABLE_COLUMNS_MAX];
	unsigned column_count;
	struct table table;
	uint64_t limit;
	uint64_t count; /* printed so far */
	bool asks_columns;
};

static bool add_column(void *ctx, const char *name)
{
	struct list *list = ctx;

	for (const struct list_column *column = list_columns; column->name; column++) {
		if (strcmp(column->name, name) != 0)
			continue;
		if (list->column_count < TABLE_COLUMNS_MAX)
			list->columns[list->column_count++] = column;
		return true;
	}
	return refuse(list->cli, "--output", name, "no such column",
		      "some of those that `taskq list -o help` prints");
}

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct list *list = ctx;

	switch (key) {
	case 'S':
		return option_states(cli, arg, &list->filter.states);
	case 'K':
		return option_name(cli, "--kind", arg, &list->filter.kind);
	case 'L':
		list->filter.label = arg;
		return true;
	case 'n':
		return option_count(cli, "--limit", arg, 1, INT64_MAX, &list->limit);
	case 'o':
		list->asks_columns = !strcmp(arg, "help");
		return list->asks_columns || words_each(arg, add_column, list);
	default:
		return option_global(cli, NULL, key, arg);
	}
}

static void print_task(struct list *list, const struct tq_task_info *info)
{
	const struct list_row row = { &list->table, list->cli->tq, &list->clocks, info };

	if (list->cli->json) {
		json_line(json_of_task(list->cli->tq, info, &list->clocks));
		return;
	}
	for (unsigned i = 0; i < list->column_count; i++)
		list->columns[i]->put(&row);
}

static void set_columns(struct list *list)
{
	if (list->column_count == 0)
		while (list->column_count < LIST_COLUMNS_DEFAULT) {
			list->columns[list->column_count] = &list_columns[list->column_count];
			list->column_count++;
		}
	for (unsigned i = 0; i < list->column_count; i++)
		table_column(&list->table, list->columns[i]->header, list->columns[i]->right);
}

static int print_list(struct list *list)
{
	struct tq_task_info *infos = calloc(CHUNK, sizeof(*infos));
	uint64_t cursor = 0;
	int n = infos ? 1 : 0;

	while (n > 0 && list->count < list->limit && !ferror(stdout)) {
		infos[0].size = sizeof(infos[0]);
		n = tq_task_list(list->cli->tq, &list->filter, &cursor, infos, CHUNK);
		for (int i = 0; i < n && list->count < list->limit; i++, list->count++)
			print_task(list, &infos[i]);
		table_flush(&list->table, stdout);
	}
	table_end(&list->table, stdout);
	free(infos);
	return n < 0 ? n : 0;
}

static int list_tasks(struct list *list)
{
	struct cli *cli = list->cli;
	int r;

	if (!attach(cli, TQ_OPEN_READONLY) || (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	list->clocks = clocks_read();
	list->filter.queue = cli->queue_given ? cli->queue : NULL;
	set_columns(list);
	r = print_list(list);
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "list");
	if (list->count == 0 && !cli->json)
		complain("no such tasks");
	return list->count ? CLI_OK : CLI_NOTHING;
}

int verb_list(struct cli *cli, int argc, char **argv)
{
	struct list list = {
		.cli = cli,
		.filter = { .size = sizeof(list.filter) },
		.limit = UINT64_MAX,
	};

	if (!options_parse(cli, rows, take_option, &list, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	if (!list.asks_columns)
		return list_tasks(&list);
	for (const struct list_column *column = list_columns; column->name; column++)
		puts(column->name);
	return CLI_OK;
}
