/* SPDX-License-Identifier: MIT */
/* Verbs that steer whole queues: pause, resume, drain, purge. */
#include <stdio.h>

#include "errors.h"
#include "json.h"
#include "parse.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"

enum key {
	KEY_UNDO = OPTION_OWN
};

static const struct option_row drain_rows[] = {
	{ KEY_UNDO, "undo", NULL, "take new tasks again" },
	{ 0, NULL, NULL, NULL },
};

static bool take_undo(struct cli *cli, void *ctx, int key, const char *arg)
{
	bool *undo = ctx;

	if (key != KEY_UNDO)
		return option_global(cli, NULL, key, arg);
	*undo = true;
	return true;
}

static int steer(struct cli *cli, const char *queue, enum tq_queue_action action)
{
	const int r = tq_queue_steer(cli->tq, queue, action);

	if (r < 0)
		return fail(cli, r, ABOUT_QUEUE, "%s \"%s\"", cli->verb->name, queue);
	if (action != TQ_QUEUE_PURGE)
		return CLI_OK;
	if (cli->json)
		json_line(json_pack("{s:o,s:i}", "queue", json_text(queue), "cancelled", r));
	else
		printf("%d %s cancelled\n", r, format_plural((uint64_t)r, "task", "tasks"));
	return CLI_OK;
}

static int steer_operands(struct cli *cli, enum tq_queue_action action)
{
	int code = CLI_OK;

	for (int i = 0; i < cli->operand_count; i++)
		if (!name_ok(cli->operands[i])) {
			refuse(cli, "queue", cli->operands[i], "not a name", FORM_NAME);
			return CLI_USAGE;
		}
	if (!attach(cli, 0))
		return cli->exit_code;
	if (cli->operand_count == 0)
		return steer(cli, cli->queue, action);
	for (int i = 0; i < cli->operand_count; i++)
		code = worse(code, steer(cli, cli->operands[i], action));
	return code;
}

static int steer_simply(struct cli *cli, int argc, char **argv, enum tq_queue_action action)
{
	if (!options_parse(cli, options_none, NULL, NULL, argc, argv))
		return cli->exit_code;
	return steer_operands(cli, action);
}

int verb_pause(struct cli *cli, int argc, char **argv)
{
	return steer_simply(cli, argc, argv, TQ_QUEUE_PAUSE);
}

int verb_resume(struct cli *cli, int argc, char **argv)
{
	return steer_simply(cli, argc, argv, TQ_QUEUE_RESUME);
}

int verb_purge(struct cli *cli, int argc, char **argv)
{
	return steer_simply(cli, argc, argv, TQ_QUEUE_PURGE);
}

int verb_drain(struct cli *cli, int argc, char **argv)
{
	bool undo = false;

	if (!options_parse(cli, drain_rows, take_undo, &undo, argc, argv))
		return cli->exit_code;
	return steer_operands(cli, undo ? TQ_QUEUE_UNDRAIN : TQ_QUEUE_DRAIN);
}
