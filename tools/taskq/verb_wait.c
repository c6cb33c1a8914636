/* SPDX-License-Identifier: MIT */
/* taskq wait: until tasks have ended, with their exit code. */
#include <stdlib.h>

#include "errors.h"
#include "options.h"
#include "parse.h"
#include "verbs.h"
#include "waiting.h"

enum key {
	KEY_TIMEOUT = OPTION_OWN
};

static const struct option_row rows[] = {
	{ KEY_TIMEOUT, "timeout", "D", "give up after this; 0 only looks" },
	{ 'p', "priority", "P",
	  "meanwhile they count as this urgent; a number, or low, normal, high, critical" },
	{ 0, NULL, NULL, NULL },
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct waiting *how = ctx;

	if (key == KEY_TIMEOUT)
		return option_duration(cli, "--timeout", arg, &how->timeout_ns);
	if (key == 'p') {
		how->urgent = true;
		return option_priority(cli, arg, &how->priority);
	}
	return option_global(cli, NULL, key, arg);
}

int verb_wait(struct cli *cli, int argc, char **argv)
{
	struct waiting how = { .timeout_ns = TQ_FOREVER_NS };
	uint64_t *ids;
	int code;

	if (!options_parse(cli, rows, take_option, &how, argc, argv))
		return cli->exit_code;
	if (cli->operand_count == 0)
		return usage(cli, "the id is missing");
	if (!operands_ids(cli, &ids))
		return cli->exit_code;
	cli->transparent = true;
	if (attach(cli, 0))
		code = wait_and_report(cli, ids, (unsigned)cli->operand_count, &how);
	else
		code = cli->exit_code;
	free(ids);
	return code;
}
