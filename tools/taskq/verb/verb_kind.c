/* SPDX-License-Identifier: MIT */
/* taskq kind: defaults of the tasks of a kind. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "parse.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/queue_options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/rows.h"

enum key {
	KEY_TIMEOUT = OPTION_OWN,
	KEY_TIMEOUT_TOTAL,
	KEY_RETRIES,
	KEY_BACKOFF,
};

static const struct option_row kind_rows[] = {
	{ KEY_TIMEOUT, "timeout", "D|off", "set: time of an attempt" },
	{ KEY_TIMEOUT_TOTAL, "timeout-total", "D|off", "set: time of all attempts" },
	{ KEY_RETRIES, "retries", "N", "set: further attempts after a failure" },
	{ KEY_BACKOFF, "backoff", "D[:CAP]", "set: wait before a retry, doubled up to CAP" },
	{ 0, NULL, NULL, NULL },
};

struct kind_options {
	struct tq_kind_opts opts;
	bool given;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct kind_options *options = ctx;
	struct tq_kind_opts *opts = &options->opts;

	if (key < KEY_TIMEOUT || key > KEY_BACKOFF)
		return option_global(cli, NULL, key, arg);
	options->given = true;
	switch (key) {
	case KEY_TIMEOUT:
		return option_time_or_off(cli, "--timeout", arg, &opts->timeout_ns);
	case KEY_TIMEOUT_TOTAL:
		return option_time_or_off(cli, "--timeout-total", arg, &opts->timeout_total_ns);
	case KEY_RETRIES:
		return option_attempts(cli, arg, &opts->attempts_max);
	default:
		return option_backoff(cli, arg, &opts->backoff_ns, &opts->backoff_cap_ns);
	}
}

static bool kind_ok(struct cli *cli)
{
	if (!operands_ok(cli, 2, 2, "the kind"))
		return false;
	if (name_ok(cli->operands[1]))
		return true;
	refuse(cli, "kind", cli->operands[1], "not a name", FORM_NAME);
	cli->exit_code = CLI_USAGE;
	return false;
}

static int set(struct cli *cli, const struct kind_options *options)
{
	if (!kind_ok(cli))
		return cli->exit_code;
	if (!options->given)
		return usage(cli, "nothing to change: give a setting");
	if (!attach(cli, 0))
		return cli->exit_code;
	const int r = tq_kind_set(cli->tq, cli->operands[1], &options->opts);

	return r < 0 ? fail(cli, r, ABOUT_QUEUE, "kind set \"%s\"", cli->operands[1]) : CLI_OK;
}

static int clear(struct cli *cli)
{
	if (!kind_ok(cli) || !attach(cli, 0))
		return cli->exit_code;
	const int r = tq_kind_clear(cli->tq, cli->operands[1]);

	if (r == -ENOENT) {
		complain("kind %s has no defaults", cli->operands[1]);
		return CLI_NOTHING;
	}
	return r < 0 ? fail(cli, r, ABOUT_QUEUE, "kind clear \"%s\"", cli->operands[1]) : CLI_OK;
}

/* "-": as the queue says. */
static const char *time_text(uint64_t ns, char buf[FORMAT_MAX])
{
	return !ns ? "-" : ns == TQ_UNLIMITED ? "none" : format_duration(ns, buf);
}

static bool put_row(struct cli *cli, struct table *table, const void *row)
{
	const struct tq_kind_info *info = row;
	char buf[FORMAT_MAX];

	if (cli->json) {
		json_line(json_of_kind(info));
		return true;
	}
	table_cell(table, "%s", info->name);
	table_cell(table, "%s", time_text(info->timeout_ns, buf));
	table_cell(table, "%s", time_text(info->timeout_total_ns, buf));
	if (info->attempts_max)
		table_cell(table, "%u", info->attempts_max - 1);
	else
		table_cell(table, "-");
	table_cell(table, "%s", time_text(info->backoff_ns, buf));
	table_cell(table, "%s", time_text(info->backoff_cap_ns, buf));
	return true;
}

static int page(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_kind_list(tq, cursor, infos, count);
}

static int list(struct cli *cli)
{
	static const char *const headers[] = { "KIND",	  "TIMEOUT", "TOTAL",
					       "RETRIES", "BACKOFF", "CAP" };
	struct table table = { .columns = 0 };

	if (!operands_ok(cli, 1, 1, "what to do") || !attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i], i != 0);
	return rows_print(cli, &table, sizeof(struct tq_kind_info), page, put_row, "kind list");
}

int verb_kind(struct cli *cli, int argc, char **argv)
{
	struct kind_options options = { .opts = { .size = sizeof(options.opts) } };

	if (!options_parse(cli, kind_rows, take_option, &options, argc, argv) ||
	    !operands_ok(cli, 1, 2, "what to do (set, clear or list)"))
		return cli->exit_code;
	const char *what = cli->operands[0];

	if (!strcmp(what, "set"))
		return set(cli, &options);
	if (options.given)
		return usage(cli, "settings are for set");
	if (!strcmp(what, "clear"))
		return clear(cli);
	return !strcmp(what, "list")
		       ? list(cli)
		       : usage(cli, "what to do: set, clear or list, not \"%s\"", what);
}
