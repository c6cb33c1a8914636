/* SPDX-License-Identifier: MIT */
/* taskq limit: how many tasks with a key may run at a time. */
#include <stdio.h>
#include <errno.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "parse.h"
#include "text.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/limit_tasks.h"
#include "tools/taskq/print/rows.h"
#include "tools/taskq/print/server_limit.h"

#define FORM_SLOTS "a whole number from 1 to 4294967294"

#define FORM_RATE                                                                                  \
	"tokens from 1 to 4294967294 for an interval from 1ns to 53375d, such as 10/s, 100/1m or " \
	"5/500ms; or off"
#define FORM_RATE_RANGE "fewer tokens, or a shorter interval: (tokens + burst) x ns below 2^63"

enum key {
	KEY_RATE = OPTION_OWN,
	KEY_BURST,
	KEY_SERVER
};

static const struct option_row limit_rows[] = {
	{ KEY_RATE, "rate", "N/D|off", "so many may begin in that time" },
	{ KEY_BURST, "burst", "N", "so many may begin at once after a rest; default as --rate" },
	{ KEY_SERVER, "server", "PATTERN",
	  "of the queue's servers: a name, or a prefix and a *, in place of KEY" },
	{ 0, NULL, NULL, NULL },
};

struct limit_options {
	struct tq_limit_opts opts;
	const char *server; /* pattern; NULL none */
	bool given;
};

/* "N/D", D without a number being one of its unit. */
static int parse_limit_rate(const char *text, struct tq_limit_opts *opts)
{
	const char *slash = strchr(text, '/');
	char count[24], interval[24];
	uint64_t tokens;

	if (!slash || !slash[1] || (size_t)(slash - text) >= sizeof(count) ||
	    strlen(slash + 1) + 2 > sizeof(interval))
		return -EINVAL;
	snprintf(count, sizeof(count), "%.*s", (int)(slash - text), text);
	snprintf(interval, sizeof(interval), "%s%s", strspn(slash + 1, "0123456789") ? "" : "1",
		 slash + 1);
	int r = parse_count(count, &tokens);

	if (r == 0)
		r = parse_duration(interval, &opts->interval_ns);
	if (r == 0 && (!tokens || !opts->interval_ns))
		r = -EINVAL;
	if (r == 0 && (tokens >= TQ_OFF || opts->interval_ns > DURATION_MOST_NS))
		r = -ERANGE;
	opts->rate = (uint32_t)tokens;
	return r;
}

static bool take_rate(struct cli *cli, struct tq_limit_opts *opts, const char *arg)
{
	if (!strcmp(arg, "off")) {
		opts->rate = TQ_OFF;
		return true;
	}
	const int r = parse_limit_rate(arg, opts);

	return r == 0 ||
	       refuse(cli, "--rate", arg, r == -ERANGE ? "too large" : "not a rate", FORM_RATE);
}

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct limit_options *options = ctx;
	uint64_t burst;

	if (key == KEY_RATE || key == KEY_BURST)
		options->given = true;
	if (key == KEY_RATE)
		return take_rate(cli, &options->opts, arg);
	if (key == KEY_SERVER) {
		options->server = arg;
		return true;
	}
	if (key != KEY_BURST)
		return option_global(cli, NULL, key, arg);
	if (!option_count(cli, "--burst", arg, 1, TQ_OFF - 1, &burst))
		return false;
	options->opts.burst = (uint32_t)burst;
	return true;
}

/* The key that is the second operand, of up to so many; false when it was refused. */
static bool key_operand(struct cli *cli, int most)
{
	if (!operands_ok(cli, 2, most, "a key"))
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
	uint64_t slots = 0;
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

static bool options_agree(struct cli *cli, const struct tq_limit_opts *opts)
{
	if (cli->operand_count < 3 && !opts->rate)
		cli->exit_code = usage(cli, "a number, or --rate, is missing");
	else if (opts->burst && (!opts->rate || opts->rate == TQ_OFF))
		cli->exit_code = usage(cli, "--burst is for a --rate");
	else
		return true;
	return false;
}

static int set(struct cli *cli, struct tq_limit_opts *opts)
{
	if (!key_operand(cli, 3) || !options_agree(cli, opts) ||
	    (cli->operand_count == 3 && !slots_operand(cli, cli->operands[2], &opts->slots)) ||
	    !attach(cli, 0))
		return cli->exit_code;
	const int r = tq_limit_set(cli->tq, cli->operands[1], opts);

	if (r == -ERANGE) {
		complain("limit set \"%s\": more tokens in more time than can be counted\n"
			 "give " FORM_RATE_RANGE,
			 cli->operands[1]);
		return CLI_USAGE;
	}
	return r < 0 ? fail(cli, r, ABOUT_LIMIT, "limit \"%s\"", cli->operands[1]) : CLI_OK;
}

static int take_away(struct cli *cli)
{
	if (!key_operand(cli, 2) || !attach(cli, 0))
		return cli->exit_code;
	const int r = tq_limit_remove(cli->tq, cli->operands[1]);

	return r < 0 ? fail(cli, r, ABOUT_LIMIT, "limit \"%s\"", cli->operands[1]) : CLI_OK;
}

/* With --server: the same words, and no key. */
static int change_server(struct cli *cli, const struct limit_options *options)
{
	const bool sets = !strcmp(cli->operands[0], "set");
	uint32_t slots = 0;

	if (!sets && strcmp(cli->operands[0], "remove") != 0)
		return usage(cli, "--server is for set and remove");
	if (options->given)
		return usage(cli, "servers have no rates");
	if (sets && cli->operand_count < 2)
		return usage(cli, "a number is missing");
	if (!operands_ok(cli, sets ? 2 : 1, sets ? 2 : 1, "a number") ||
	    (sets && !slots_operand(cli, cli->operands[1], &slots)))
		return cli->exit_code;
	return server_limit_change(cli, options->server, slots);
}

static bool put_row(struct cli *cli, struct table *table, const void *row)
{
	const struct tq_limit_info *info = row;
	char interval[FORMAT_MAX];

	if (cli->json) {
		json_line(json_of_limit(info));
		return true;
	}
	table_cell(table, "%s", info->key);
	if (info->slots == TQ_OFF)
		table_cell(table, "-");
	else
		table_cell(table, "%u", info->slots);
	table_cell(table, "%u", info->used);
	table_cell(table, "%u", info->waiting);
	table_cell(table, "%u", info->tasks);
	if (!info->rate) {
		table_cell(table, "-");
		table_cell(table, "-");
		return true;
	}
	table_cell(table, "%u/%s", info->rate, format_duration(info->interval_ns, interval));
	table_cell(table, "%u of %u", info->tokens, info->burst);
	return true;
}

static void begin_table(struct table *table)
{
	table_column(table, "LIMIT", false);
	table_column(table, "SLOTS", true);
	table_column(table, "USED", true);
	table_column(table, "WAITING", true);
	table_column(table, "TASKS", true);
	table_column(table, "RATE", true);
	table_column(table, "TOKENS", true);
}

static int show(struct cli *cli)
{
	struct tq_limit_info info = { .size = sizeof(info) };
	struct table table = { .columns = 0 };

	if (!key_operand(cli, 2) || !attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	const int r = tq_limit_info(cli->tq, cli->operands[1], &info);

	if (r < 0)
		return fail(cli, r, ABOUT_LIMIT, "limit \"%s\"", cli->operands[1]);
	json_t *object = cli->json ? json_of_limit(&info) : NULL;

	if (!object) {
		begin_table(&table);
		put_row(cli, &table, &info);
		table_end(&table, stdout);
	}
	const int named = limit_tasks_put(cli->tq, cli->operands[1], object);

	if (object)
		json_line(object);
	return named < 0 ? fail(cli, named, ABOUT_LIMIT, "limit \"%s\"", cli->operands[1]) : CLI_OK;
}

static int page(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_limit_list(tq, cursor, infos, count);
}

static int list(struct cli *cli)
{
	struct table table = { .columns = 0 };

	if (!operands_ok(cli, 1, 1, "what to do") || !attach(cli, TQ_OPEN_READONLY) ||
	    (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	begin_table(&table);
	const int keys =
		rows_print(cli, &table, sizeof(struct tq_limit_info), page, put_row, "limit list");

	if (keys > CLI_NOTHING)
		return keys;
	const int servers = server_limit_list(cli);

	return servers > CLI_NOTHING ? servers : keys < servers ? keys : servers;
}

int verb_limit(struct cli *cli, int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct cli *cli);
	} words[] = { { "remove", take_away }, { "show", show }, { "list", list } };
	struct limit_options options = { .opts = { .size = sizeof(options.opts) } };

	if (!options_parse(cli, limit_rows, take_option, &options, argc, argv) ||
	    !operands_ok(cli, 1, 3, "what to do (set, remove, show or list)"))
		return cli->exit_code;
	if (options.server)
		return change_server(cli, &options);
	if (!strcmp(cli->operands[0], "set"))
		return set(cli, &options.opts);
	if (options.given)
		return usage(cli, "only set changes limits");
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(cli->operands[0], words[i].name))
			return words[i].run(cli);
	return usage(cli, "\"%s\" is not to be had: say set, remove, show or list",
		     cli->operands[0]);
}
