/* SPDX-License-Identifier: MIT */
/* taskq server: where the tasks of a queue run. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "server_text.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/rows.h"

enum key {
	KEY_ALL = OPTION_OWN
};

static const struct option_row server_rows[] = {
	{ KEY_ALL, "all", NULL, "remove: all of them; tasks then start without a server" },
	{ 0, NULL, NULL, NULL },
};

struct server_options {
	bool all;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct server_options *options = ctx;

	if (key != KEY_ALL)
		return option_global(cli, NULL, key, arg);
	options->all = true;
	return true;
}

/* All operands behind the first; false when one was refused. */
static bool servers_ok(struct cli *cli)
{
	if (cli->operand_count < 2) {
		cli->exit_code = usage(cli, "a server is missing");
		return false;
	}
	for (int i = 1; i < cli->operand_count; i++) {
		const char *server = cli->operands[i];

		if (server_ok(server))
			continue;
		refuse(cli, "server", server, *server ? "not a server's name" : "empty",
		       FORM_SERVER);
		cli->exit_code = CLI_USAGE;
		return false;
	}
	return true;
}

static int change_each(struct cli *cli,
		       int change(struct tq *tq, const char *queue, const char *server))
{
	int code = CLI_OK;

	if (!servers_ok(cli) || !attach(cli, 0) || !require_queue(cli, cli->queue))
		return cli->exit_code;
	for (int i = 1; i < cli->operand_count && !failed_at_lock(); i++) {
		const int r = change(cli->tq, cli->queue, cli->operands[i]);

		if (r < 0)
			code = worse(code, fail(cli, r, ABOUT_SERVER, "server \"%s\" of queue %s",
						cli->operands[i], cli->queue));
	}
	return code;
}

static int remove_all(struct cli *cli)
{
	if (!operands_ok(cli, 1, 1, "what to do") || !attach(cli, 0) ||
	    !require_queue(cli, cli->queue))
		return cli->exit_code;
	const int r = tq_server_clear(cli->tq, cli->queue);

	if (r == -ENOENT) {
		complain("queue %s has no servers", cli->queue);
		return CLI_NOTHING;
	}
	return r < 0 ? fail(cli, r, ABOUT_SERVER, "servers of queue %s", cli->queue) : CLI_OK;
}

static bool put_row(struct cli *cli, struct table *table, const void *row)
{
	const struct tq_server_info *info = row;
	const struct clocks clocks = clocks_read();
	char id[TQ_ID_TEXT_MAX], since[FORMAT_MAX];

	if (cli->queue_given && strcmp(info->queue, cli->queue) != 0)
		return false;
	if (cli->json) {
		json_line(json_of_server(info, &clocks));
		return true;
	}
	table_cell(table, "%s", info->name);
	table_cell(table, "%s", info->queue);
	table_cell(table, "%u", info->used);
	table_cell(table, "%s", info->limit[0] ? info->limit : "-");
	if (info->limit[0])
		table_cell(table, "%u of %u", info->limit_used, info->limit_slots);
	else
		table_cell(table, "-");
	table_cell(table, "%s",
		   info->flags & TQ_SERVER_LEAVING ? "leaving"
		   : info->flags & TQ_SERVER_FULL  ? "full"
						   : "open");
	table_cell(table, "%s", info->holder ? tq_task_id_format(info->holder, id) : "-");
	table_cell(table, "%s",
		   info->holder ? format_duration(ns_between(info->since_ns, clocks.now_ns), since)
				: "-");
	return true;
}

static int page(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_server_list(tq, NULL, cursor, infos, count);
}

static int list(struct cli *cli)
{
	static const char *const headers[] = { "SERVER", "QUEUE", "USED",   "LIMIT",
					       "SLOTS",	 "STATE", "HOLDER", "SINCE" };
	struct table table = { .columns = 0 };

	if (!operands_ok(cli, 1, 1, "what to do") || !attach(cli, TQ_OPEN_READONLY) ||
	    (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i], i == 2 || i == 4 || i == 7);
	return rows_print(cli, &table, sizeof(struct tq_server_info), page, put_row, "server list");
}

int verb_server(struct cli *cli, int argc, char **argv)
{
	struct server_options options = { .all = false };

	if (!options_parse(cli, server_rows, take_option, &options, argc, argv) ||
	    !operands_ok(cli, 1, INT_MAX, "what to do (add, remove or list)"))
		return cli->exit_code;
	const char *what = cli->operands[0];

	if (options.all && strcmp(what, "remove") != 0)
		return usage(cli, "--all is for remove");
	if (!strcmp(what, "add"))
		return change_each(cli, tq_server_add);
	if (!strcmp(what, "remove"))
		return options.all ? remove_all(cli) : change_each(cli, tq_server_remove);
	if (!strcmp(what, "list"))
		return list(cli);
	return usage(cli, "\"%s\" is not to be had: say add, remove or list", what);
}
