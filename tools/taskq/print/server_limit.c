/* SPDX-License-Identifier: MIT */
/* Limits of servers: set, removed, listed. */
#include "tools/taskq/print/server_limit.h"

#include <string.h>

#include "errors.h"
#include "json.h"
#include "server_text.h"
#include "tools/taskq/print/rows.h"

int server_limit_change(struct cli *cli, const char *pattern, uint32_t slots)
{
	if (!pattern_ok(pattern)) {
		refuse(cli, "--server", pattern, *pattern ? "not a name or a prefix" : "empty",
		       FORM_PATTERN);
		return CLI_USAGE;
	}
	if (!attach(cli, 0) || !require_queue(cli, cli->queue))
		return cli->exit_code;
	const int r = slots ? tq_server_limit_set(cli->tq, cli->queue, pattern, slots)
			    : tq_server_limit_remove(cli->tq, cli->queue, pattern);

	return r < 0 ? fail(cli, r, ABOUT_LIMIT, "limit of servers \"%s\" of queue %s", pattern,
			    cli->queue)
		     : CLI_OK;
}

/* Ready tasks that wait for any server of the queue: those of one limit cannot be told apart. */
static uint32_t waiting(struct cli *cli, const char *queue)
{
	struct tq_queue_info info = { .size = sizeof(info) };

	if (tq_queue_info(cli->tq, queue, &info) < 0 || !(info.flags & TQ_QUEUE_NO_ROOM))
		return 0;
	return info.counters.throttled;
}

static bool put_row(struct cli *cli, struct table *table, const void *row)
{
	const struct tq_server_limit_info *info = row;
	const uint32_t waiters = waiting(cli, info->queue);

	if (cli->queue_given && strcmp(info->queue, cli->queue) != 0)
		return false;
	if (cli->json) {
		json_t *object = json_of_server_limit(info);

		json_object_set_new(object, "waiting", json_u64(waiters));
		json_line(object);
		return true;
	}
	table_cell(table, "%s", info->pattern);
	table_cell(table, "%s", info->queue);
	table_cell(table, "%u", info->slots);
	table_cell(table, "%u", info->used);
	table_cell(table, "%u", waiters);
	table_cell(table, "%u", info->servers);
	return true;
}

static int page(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_server_limit_list(tq, NULL, cursor, infos, count);
}

int server_limit_list(struct cli *cli)
{
	static const char *const headers[] = { "SERVERS", "QUEUE",   "SLOTS",
					       "USED",	  "WAITING", "COUNT" };
	struct tq_server_limit_info info = { .size = sizeof(info) };
	struct table table = { .columns = 0 };
	uint64_t cursor = 0;

	if (page(cli->tq, &cursor, &info, 1) <= 0)
		return CLI_NOTHING;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i], i > 1);
	return rows_print(cli, &table, sizeof(info), page, put_row, "limit list");
}
