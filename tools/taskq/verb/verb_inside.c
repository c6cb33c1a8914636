/* SPDX-License-Identifier: MIT */
/* taskq progress, taskq checkpoint: what a command says of its own attempt. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "parse.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"

static int outcome(struct cli *cli, int r)
{
	if (r >= 0)
		return CLI_OK;
	if (r != -ESRCH)
		return fail(cli, r, ABOUT_TASK, "%s", cli->verb->name);
	complain("%s: this process is not part of a running task\n"
		 "it is for the commands of tasks, which find TASKQ_ID in their environment",
		 cli->verb->name);
	return CLI_NOTHING;
}

int verb_progress(struct cli *cli, int argc, char **argv)
{
	uint64_t percent;

	if (!options_parse(cli, options_none, option_global, NULL, argc, argv) ||
	    !operands_ok(cli, 1, 2, "the percentage"))
		return cli->exit_code;
	if (!option_count(cli, "progress", cli->operands[0], 0, 100, &percent))
		return CLI_USAGE;
	if (!attach(cli, 0))
		return cli->exit_code;
	return outcome(cli, tq_attempt_progress(cli->tq, (uint32_t)percent,
						cli->operand_count > 1 ? cli->operands[1] : NULL));
}

/* DATA itself, or of @FILE its bytes, one more than there may be at most. */
static bool read_data(const char *given, char data[TQ_CHECKPOINT_MAX + 1], size_t *ret_bytes)
{
	FILE *file;

	if (given[0] != '@') {
		*ret_bytes = strnlen(given, TQ_CHECKPOINT_MAX + 1);
		memcpy(data, given, *ret_bytes);
		return true;
	}
	file = strcmp(given, "@-") ? fopen(given + 1, "re") : stdin;
	if (!file)
		return false;
	*ret_bytes = fread(data, 1, TQ_CHECKPOINT_MAX + 1, file);

	const bool ok = !ferror(file);

	if (file != stdin)
		fclose(file);
	return ok;
}

static int save(struct cli *cli, const char *given)
{
	char data[TQ_CHECKPOINT_MAX + 1];
	size_t bytes;

	if (!read_data(given, data, &bytes)) {
		complain("checkpoint %s: %s", given, strerror(errno));
		return CLI_NOTHING;
	}
	if (bytes > TQ_CHECKPOINT_MAX) {
		complain("checkpoint: more than %d bytes\nput it in a file, and save its name",
			 TQ_CHECKPOINT_MAX);
		return CLI_USAGE;
	}
	return outcome(cli, tq_attempt_checkpoint(cli->tq, data, bytes));
}

static int restore(struct cli *cli)
{
	char data[TQ_CHECKPOINT_MAX];
	uint64_t bytes;
	const int r = tq_attempt_restore(cli->tq, data, &bytes);

	if (r == -ENODATA)
		return CLI_NOTHING;
	if (r == 0)
		fwrite(data, 1, bytes, stdout);
	return outcome(cli, r);
}

int verb_checkpoint(struct cli *cli, int argc, char **argv)
{
	if (!options_parse(cli, options_none, option_global, NULL, argc, argv) ||
	    !operands_ok(cli, 0, 1, "the data") || !attach(cli, 0))
		return cli->exit_code;
	return cli->operand_count ? save(cli, cli->operands[0]) : restore(cli);
}
