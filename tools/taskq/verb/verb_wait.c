/* SPDX-License-Identifier: MIT */
/* taskq wait: until tasks have ended, with their exit code. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "errors.h"
#include "format.h"
#include "parse.h"
#include "tools/taskq/options/filter_options.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/run/waiting.h"

enum {
	CHUNK = 64 /* tasks in memory at a time */
};

enum key {
	KEY_TIMEOUT = OPTION_OWN
};

static const struct option_row rows[] = {
	{ KEY_TIMEOUT, "timeout", "D", "give up after this; 0 only looks" },
	{ 'p', "priority", "P",
	  "meanwhile they count as this urgent; a number, or low, normal, high, critical" },
	FILTER_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

struct wait {
	struct waiting how;
	struct filter_options filter;
	uint64_t *ids;
	unsigned count, room;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct wait *wait = ctx;

	if (key == KEY_TIMEOUT)
		return option_duration(cli, "--timeout", arg, &wait->how.timeout_ns);
	if (key != 'p')
		return filter_option(cli, &wait->filter, key, arg);
	wait->how.urgent = true;
	return option_priority(cli, arg, &wait->how.priority);
}

static int add_id(struct wait *wait, uint64_t id)
{
	if (wait->count == wait->room) {
		const unsigned room = wait->room ? 2 * wait->room : CHUNK;
		uint64_t *ids = reallocarray(wait->ids, room, sizeof(*ids));

		if (!ids)
			return -ENOMEM;
		wait->ids = ids;
		wait->room = room;
	}
	wait->ids[wait->count++] = id;
	return 0;
}

/* Those that match now, and have not ended unless ended ones were asked for. */
static int find_matching(struct cli *cli, struct wait *wait)
{
	struct tq_task_info infos[CHUNK];
	uint64_t cursor = 0;
	bool at_end = false;
	int r = 0;

	if (!wait->filter.filter.states)
		wait->filter.filter.states = (1u << TQ_DONE) - (1u << TQ_BLOCKED);
	while (r >= 0 && !at_end) {
		const int n = filter_list(cli, &wait->filter, &cursor, infos, CHUNK, &at_end);

		r = n;
		for (int i = 0; i < n && r >= 0; i++)
			r = add_id(wait, infos[i].id);
	}
	return r;
}

static int wait_matching(struct cli *cli, struct wait *wait)
{
	int r, code;

	if (!attach(cli, 0) || !filter_begin(cli, &wait->filter))
		return cli->exit_code;
	r = find_matching(cli, wait);
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "wait");
	wait->how.any_number = true;
	code = wait_and_report(cli, wait->ids, wait->count, &wait->how);
	if (!cli->json && (code == CLI_OK || code == CLI_NOTHING))
		printf("%u %s ended\n", wait->count,
		       format_plural(wait->count, "task has", "tasks have"));
	return code;
}

static int wait_for_operands(struct cli *cli, struct wait *wait)
{
	if (!operands_ids(cli, &wait->ids))
		return cli->exit_code;
	cli->transparent = true;
	if (!attach(cli, 0))
		return cli->exit_code;
	return wait_and_report(cli, wait->ids, (unsigned)cli->operand_count, &wait->how);
}

int verb_wait(struct cli *cli, int argc, char **argv)
{
	struct wait wait = { .how = { .timeout_ns = TQ_FOREVER_NS } };
	int code;

	if (!options_parse(cli, rows, take_option, &wait, argc, argv))
		return cli->exit_code;
	const bool by_filter = filter_in_place_of_ids(cli, &wait.filter);

	if (cli->exit_code)
		return cli->exit_code;
	if (by_filter) {
		cli->transparent = true;
		code = wait_matching(cli, &wait);
	} else {
		code = wait_for_operands(cli, &wait);
	}
	free(wait.ids);
	return code;
}
