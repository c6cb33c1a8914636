/* SPDX-License-Identifier: MIT */
/* taskq queue: the settings of a queue, set and shown; the queues there are. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "parse.h"
#include "policy_text.h"
#include "server_text.h"
#include "tools/taskq/options/queue_options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/rows.h"

/* The queue that the command line names; false when it was refused. */
static bool take_queue(struct cli *cli)
{
	if (!operands_ok(cli, 1, 2, "what to do"))
		return false;
	if (cli->operand_count < 2)
		return true;
	if (!name_ok(cli->operands[1])) {
		refuse(cli, "queue", cli->operands[1], "not a name", FORM_NAME);
		cli->exit_code = CLI_USAGE;
		return false;
	}
	cli->queue = cli->operands[1];
	return true;
}

/* Whether a setting would be on. */
static bool would_be(uint32_t change, uint32_t before)
{
	return change ? change != TQ_OFF : before != 0;
}

/* Which two settings exclude each other. */
static int refuse_both(struct cli *cli, const struct tq_queue_opts *opts)
{
	struct tq_queue_info info = { .size = sizeof(info) };

	if (tq_queue_info(cli->tq, cli->queue, &info) == 0 && would_be(opts->fair, info.fair) &&
	    would_be(opts->hybrid, info.hybrid))
		return usage(cli,
			     "fair keys and hybrid turns exclude each other: give --hybrid off "
			     "with --fair on, or --fair off with --hybrid");
	return usage(cli, "deadlines and ageing cannot both order a queue: give --ageing off with "
			  "--edf on, or --edf off with --ageing");
}

static int set(struct cli *cli, const struct queue_options *options)
{
	if (!take_queue(cli) || !queue_options_ok(cli, options) || !attach(cli, 0) ||
	    !require_queue(cli, cli->queue))
		return cli->exit_code;
	const int r = tq_queue_set(cli->tq, cli->queue, &options->opts);

	if (r == -EBUSY) {
		complain("queue set \"%s\": no memory to finish its last change of order first\n"
			 "let workers catch up, and try again",
			 cli->queue);
		return CLI_NOTHING;
	}
	if (r == -ENOTSUP)
		return refuse_both(cli, &options->opts);
	return r < 0 ? fail(cli, r, ABOUT_QUEUE, "queue set \"%s\"", cli->queue) : CLI_OK;
}

static const char *or_none(uint64_t ns, char buf[FORMAT_MAX])
{
	return ns && ns != TQ_UNLIMITED ? format_duration(ns, buf) : "none";
}

static void print_defaults(const struct tq_queue_info *info)
{
	char timeout[FORMAT_MAX], backoff[FORMAT_MAX], cap[FORMAT_MAX];

	if (info->depth_max && info->depth_max != TQ_UNLIMITED)
		printf("  max-depth %llu\n", (unsigned long long)info->depth_max);
	printf("  defaults  timeout %s, retries %u, backoff %s:%s\n",
	       or_none(info->timeout_ns, timeout), info->attempts_max - 1,
	       format_duration(info->backoff_ns, backoff),
	       format_duration(info->backoff_cap_ns, cap));
}

static void print_queue(const struct tq_queue_info *info)
{
	printf("queue %s: %u %s%s%s%s%s%s\n", info->name, info->workers,
	       format_plural(info->workers, "worker", "workers"),
	       info->flags & TQ_QUEUE_PAUSED ? ", paused" : "",
	       info->flags & TQ_QUEUE_DRAINING ? ", draining" : "",
	       info->flags & TQ_QUEUE_PURGING ? ", being purged" : "",
	       info->flags & TQ_QUEUE_REORDERING ? ", tasks being taken over into this order" : "",
	       !(info->flags & TQ_QUEUE_SERVED) ? ""
	       : !info->servers			? ", without a server"
	       : info->flags & TQ_QUEUE_NO_ROOM ? ", no server has room"
						: "");
	policy_text_print(info, stdout);
	print_defaults(info);
}

static json_t *json_of_bounds(const struct tq_queue_info *info)
{
	json_t *bounds = json_object();

	for (unsigned b = 0; b < TQ_BANDS; b++)
		json_object_set_new(bounds, band_names[b], json_u64(policy_overtaken_ns(info, b)));
	return bounds;
}

static int show(struct cli *cli)
{
	struct tq_queue_info info = { .size = sizeof(info) };

	if (!take_queue(cli) || !attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	const int r = tq_queue_info(cli->tq, cli->queue, &info);

	if (r < 0)
		return fail(cli, r, ABOUT_QUEUE, "queue \"%s\"", cli->queue);
	if (!cli->json) {
		print_queue(&info);
		servers_print(cli->tq, cli->queue, stdout);
		return CLI_OK;
	}
	json_t *object = json_of_queue(&info);

	json_object_set_new(object, "overtaken_ns", json_of_bounds(&info));
	if (info.flags & TQ_QUEUE_SERVED) {
		const struct clocks clocks = clocks_read();

		json_object_set_new(object, "servers",
				    json_of_servers(cli->tq, cli->queue, &clocks));
	}
	json_line(object);
	return CLI_OK;
}

static bool put_row(struct cli *cli, struct table *table, const void *row)
{
	const struct tq_queue_info *info = row;
	char order[FORMAT_MAX];

	if (cli->queue_given && strcmp(info->name, cli->queue) != 0)
		return false;
	if (cli->json) {
		json_line(json_of_queue(info));
		return true;
	}
	policy_text_short(info, order, sizeof(order));
	table_cell(table, "%s", info->name);
	table_cell(table, "%s", order);
	table_cell(table, "%u", info->workers);
	table_cell(table, "%u", info->counters.depth[TQ_READY]);
	table_cell(table, "%u", info->counters.depth[TQ_RUNNING]);
	if (info->depth_max && info->depth_max != TQ_UNLIMITED)
		table_cell(table, "%llu", (unsigned long long)info->depth_max);
	else
		table_cell(table, "-");
	return true;
}

static int page(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_queue_list(tq, 0, cursor, infos, count);
}

static int list(struct cli *cli)
{
	struct table table = { .columns = 0 };

	if (!operands_ok(cli, 1, 1, "what to do") || !attach(cli, TQ_OPEN_READONLY) ||
	    (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	table_column(&table, "QUEUE", false);
	table_column(&table, "ORDER", false);
	table_column(&table, "WORKERS", true);
	table_column(&table, "READY", true);
	table_column(&table, "RUNNING", true);
	table_column(&table, "MAX-DEPTH", true);
	return rows_print(cli, &table, sizeof(struct tq_queue_info), page, put_row, "queue list");
}

int verb_queue(struct cli *cli, int argc, char **argv)
{
	struct queue_options options = { .opts = { .size = sizeof(options.opts) } };

	if (!options_parse(cli, queue_rows, queue_option, &options, argc, argv) ||
	    !operands_ok(cli, 1, 2, "what to do (set, show or list)"))
		return cli->exit_code;
	const char *what = cli->operands[0];

	if (!strcmp(what, "set"))
		return set(cli, &options);
	if (options.given)
		return usage(cli, "only set changes settings");
	if (!strcmp(what, "show"))
		return show(cli);
	if (!strcmp(what, "list"))
		return list(cli);
	return usage(cli, "\"%s\" is not to be had: say set, show or list", what);
}
