/* SPDX-License-Identifier: MIT */
/* taskq log: a task's output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "errors.h"
#include "options.h"
#include "parse.h"
#include "stream.h"
#include "verbs.h"

static const struct option_row rows[] = {
	{ 'f', "follow", NULL, "go on until the task has ended, across its attempts" },
	{ 0, NULL, NULL, NULL },
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	bool *follow = ctx;

	if (key != 'f')
		return option_global(cli, NULL, key, arg);
	*follow = true;
	return true;
}

static int print_log(struct cli *cli, uint64_t id, bool follow)
{
	struct stream stream = { .id = id, .follow = follow };
	int r;

	/* Waiting for more needs a place in the segment, looking does not. */
	if (!attach(cli, follow ? 0 : TQ_OPEN_READONLY))
		return cli->exit_code;
	r = stream_copy(cli, &stream);
	if (r == -EPIPE || r == -EIO)
		return CLI_OK; /* main() looks at standard output once more */
	stream_say_lost(&stream);
	if (r < 0)
		return fail_task(cli, r, id);
	return stream.lost ? CLI_NOTHING : CLI_OK;
}

int verb_log(struct cli *cli, int argc, char **argv)
{
	bool follow = false;
	uint64_t *ids;
	int code;

	if (!options_parse(cli, rows, take_option, &follow, argc, argv) ||
	    !operands_ok(cli, 1, 1, "the id") || !operands_ids(cli, &ids))
		return cli->exit_code;
	code = print_log(cli, ids[0], follow);
	free(ids);
	return code;
}
