/* SPDX-License-Identifier: MIT */
/* taskq list: tasks, a line each. */
#include <stdio.h>
#include <stdlib.h>

#include "errors.h"
#include "filter_options.h"
#include "format.h"
#include "json.h"
#include "options.h"
#include "parse.h"
#include "task_columns.h"
#include "verbs.h"

enum {
	CHUNK = 256
}; /* tasks in memory at a time */

enum key {
	KEY_AFTER = OPTION_OWN,
};

static const struct option_row rows[] = {
	FILTER_OPTION_ROWS,
	{ KEY_AFTER, "after", "ID", "those behind ID in the list; it may be gone" },
	{ 'n', "limit", "N", "at most N tasks" },
	COLUMNS_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

struct list {
	struct cli *cli;
	struct filter_options filter;
	struct clocks clocks;
	struct columns columns;
	uint64_t limit;
	uint64_t count; /* printed so far */
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct list *list = ctx;

	switch (key) {
	case 'S':
	case 'K':
	case 'L':
	case OPTION_GROUP_OF:
		return filter_option(cli, &list->filter, key, arg);
	case KEY_AFTER:
		return tq_task_id_parse(arg, &list->filter.filter.after) == 0 ||
		       refuse(cli, "--after", arg, "not a task id", FORM_ID);
	case 'n':
		return option_count(cli, "--limit", arg, 1, INT64_MAX, &list->limit);
	default:
		return columns_option(cli, &list->columns, key, arg);
	}
}

static void print_task(struct list *list, const struct tq_task_info *info)
{
	if (list->cli->json)
		json_line(json_of_task(list->cli->tq, info, &list->clocks));
	else
		columns_row(&list->columns, list->cli->tq, &list->clocks, info);
}

static int print_list(struct list *list)
{
	struct tq_task_info *infos = calloc(CHUNK, sizeof(*infos));
	bool at_end = !infos;
	uint64_t cursor = 0;
	int n = 0;

	while (!at_end && list->count < list->limit && !ferror(stdout)) {
		n = filter_list(list->cli, &list->filter, &cursor, infos, CHUNK, &at_end);
		for (int i = 0; i < n && list->count < list->limit; i++, list->count++)
			print_task(list, &infos[i]);
		table_flush(&list->columns.table, stdout);
	}
	table_end(&list->columns.table, stdout);
	free(infos);
	return n < 0 ? n : 0;
}

static int list_tasks(struct list *list)
{
	struct cli *cli = list->cli;
	int r;

	if (!attach(cli, TQ_OPEN_READONLY) || !filter_begin(cli, &list->filter))
		return cli->exit_code;
	list->clocks = clocks_read();
	r = print_list(list);
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "list");
	if (list->count == 0 && !cli->json)
		complain("no such tasks");
	return CLI_OK;
}

int verb_list(struct cli *cli, int argc, char **argv)
{
	struct list list = {
		.cli = cli,
		.columns = { .all = task_columns,
			     .usual = "id,state,priority,queue,kind,attempts,age,what" },
		.limit = UINT64_MAX,
	};

	if (!options_parse(cli, rows, take_option, &list, argc, argv) ||
	    !columns_ready(cli, &list.columns) || !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	return list_tasks(&list);
}
