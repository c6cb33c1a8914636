/* SPDX-License-Identifier: MIT */
/* taskq list: tasks, a line each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "parse.h"
#include "tools/taskq/options/filter_options.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/order.h"
#include "tools/taskq/print/task_columns.h"

enum {
	CHUNK = 256
}; /* tasks in memory at a time */

enum key {
	KEY_AFTER = OPTION_OWN,
	KEY_SORT,
	KEY_REVERSE,
};

static const struct option_row rows[] = {
	FILTER_OPTION_ROWS,
	{ 'n', "limit", "N", "the newest N; with --sort, the first N in its order" },
	{ KEY_SORT, "sort", "COL", "by this column of `-o help`, not by submission" },
	{ KEY_REVERSE, "reverse", NULL, "the order turned round: the newest first" },
	{ KEY_AFTER, "after", "ID", "with --sort id: those behind ID, which may be gone" },
	COLUMNS_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

struct list {
	struct cli *cli;
	struct filter_options filter;
	struct clocks clocks;
	struct columns columns;
	struct order order;
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
		return option_count(cli, "--limit", arg, 1, INT64_MAX, &list->order.most);
	case KEY_SORT:
		list->order.column = columns_find(cli, task_columns, "--sort", arg);
		return list->order.column != NULL;
	case KEY_REVERSE:
		list->order.reverse = true;
		return true;
	default:
		return columns_option(cli, &list->columns, key, arg);
	}
}

/* Whether any more are wanted. */
static bool print_task(void *ctx, const struct tq_task_info *info)
{
	struct list *list = ctx;

	if (list->cli->json)
		json_line(json_of_task(list->cli->tq, info, &list->clocks));
	else
		columns_row(&list->columns, list->cli->tq, &list->clocks, info);
	if (++list->count % CHUNK == 0)
		table_flush(&list->columns.table, stdout);
	return list->count < list->order.most && !ferror(stdout);
}

/* The order in which the library lists tasks: nothing is to be kept for it. */
static bool is_by_id(const struct order *order)
{
	return order->column && !strcmp(order->column->name, "id") && !order->reverse;
}

static int print_by_id(struct list *list)
{
	struct tq_task_info *infos = calloc(CHUNK, sizeof(*infos));
	bool at_end = false, go_on = true;
	uint64_t cursor = 0;
	int n = infos ? 0 : -ENOMEM;

	while (n >= 0 && !at_end && go_on) {
		n = filter_list(list->cli, &list->filter, &cursor, infos, CHUNK, &at_end);
		for (int i = 0; i < n && go_on; i++)
			go_on = print_task(list, &infos[i]);
	}
	free(infos);
	return n < 0 ? n : 0;
}

static int print_list(struct list *list)
{
	const int r = is_by_id(&list->order) ? print_by_id(list)
					     : order_each(&list->order, print_task, list);

	table_end(&list->columns.table, stdout);
	return r;
}

static int list_tasks(struct list *list)
{
	struct cli *cli = list->cli;
	int r;

	if (!attach(cli, TQ_OPEN_READONLY) || !filter_begin(cli, &list->filter))
		return cli->exit_code;
	list->clocks = clocks_read();
	list->order.cli = cli;
	list->order.filter = &list->filter;
	list->order.clocks = &list->clocks;
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
		.order = { .most = UINT64_MAX },
	};

	if (!options_parse(cli, rows, take_option, &list, argc, argv) ||
	    !columns_ready(cli, &list.columns) || !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	if (list.filter.filter.after && !is_by_id(&list.order))
		return usage(cli, "--after goes by ids: add --sort id, and leave --reverse out");
	return list_tasks(&list);
}
