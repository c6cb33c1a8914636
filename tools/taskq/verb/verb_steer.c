/* SPDX-License-Identifier: MIT */
/* Verbs that move tasks from state to state: cancel, retry, hold, unhold, forget. */
#include "json.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/verb/steer.h"

enum key {
	KEY_FAILED = OPTION_OWN,
	KEY_DEPENDANTS
};

/* What cancel is asked to do. */
struct cancel {
	struct filter_options filter;
	bool dependants;
};

static const struct option_row cancel_rows[] = {
	{ KEY_DEPENDANTS, "dependants", NULL, "and all tasks that depend on them" },
	FILTER_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

static bool take_cancel(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct cancel *cancel = ctx;

	if (key == KEY_DEPENDANTS)
		return cancel->dependants = true;
	return filter_option(cli, &cancel->filter, key, arg);
}

static int cancel_one(struct cli *cli, uint64_t id, const void *arg)
{
	const struct cancel *cancel = arg;
	const int r = tq_task_steer(cli->tq, id,
				    cancel->dependants ? TQ_TASK_ACTION_CANCEL_DEPENDANTS
						       : TQ_TASK_ACTION_CANCEL);

	if (r >= 0 && cli->json)
		json_line(json_pack("{s:o,s:s}", "id", json_id(id), "cancel",
				    r ? "stopping" : "cancelled"));
	return r;
}

int verb_cancel(struct cli *cli, int argc, char **argv)
{
	struct cancel cancel = { .dependants = false };

	if (!options_parse(cli, cancel_rows, take_cancel, &cancel, argc, argv))
		return cli->exit_code;
	return steer_chosen(cli, &cancel.filter, NULL, cancel_one, &cancel);
}

static int steer_one(struct cli *cli, uint64_t id, const void *arg)
{
	const enum tq_task_action *action = arg;
	const int r = tq_task_steer(cli->tq, id, *action);

	if (r >= 0 && cli->json)
		json_line(json_pack("{s:o}", "id", json_id(id)));
	return r;
}

static const struct option_row filter_rows[] = {
	FILTER_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

static bool take_filter(struct cli *cli, void *ctx, int key, const char *arg)
{
	return filter_option(cli, ctx, key, arg);
}

static int steer_simply(struct cli *cli, int argc, char **argv, enum tq_task_action action)
{
	struct filter_options filter = { .given = false };

	if (!options_parse(cli, filter_rows, take_filter, &filter, argc, argv))
		return cli->exit_code;
	return steer_chosen(cli, &filter, NULL, steer_one, &action);
}

int verb_hold(struct cli *cli, int argc, char **argv)
{
	return steer_simply(cli, argc, argv, TQ_TASK_ACTION_HOLD);
}

int verb_unhold(struct cli *cli, int argc, char **argv)
{
	return steer_simply(cli, argc, argv, TQ_TASK_ACTION_UNHOLD);
}

struct choice {
	struct filter_options filter;
	bool dependants;
};

#define FAILED_ROW                                                                                 \
	{                                                                                          \
		KEY_FAILED, "failed", NULL, "all failed tasks: as -S failed"                       \
	}
static const struct option_row forget_rows[] = {
	FAILED_ROW,
	FILTER_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

static const struct option_row retry_rows[] = {
	FAILED_ROW,
	{ KEY_DEPENDANTS, "dependants", NULL, "and all tasks that their ends have cancelled" },
	FILTER_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

static bool take_choice(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct choice *choice = ctx;

	if (key == KEY_DEPENDANTS)
		return choice->dependants = true;
	if (key != KEY_FAILED)
		return filter_option(cli, &choice->filter, key, arg);
	choice->filter.filter.states |= 1u << TQ_FAILED;
	return choice->filter.given = true;
}

int verb_retry(struct cli *cli, int argc, char **argv)
{
	struct choice choice = { .dependants = false };
	enum tq_task_action action = TQ_TASK_ACTION_RETRY;

	if (!options_parse(cli, retry_rows, take_choice, &choice, argc, argv))
		return cli->exit_code;
	if (choice.dependants)
		action = TQ_TASK_ACTION_RETRY_DEPENDANTS;
	return steer_chosen(cli, &choice.filter, NULL, steer_one, &action);
}

int verb_forget(struct cli *cli, int argc, char **argv)
{
	const enum tq_task_action action = TQ_TASK_ACTION_FORGET;
	struct choice choice = { .dependants = false };

	if (!options_parse(cli, forget_rows, take_choice, &choice, argc, argv))
		return cli->exit_code;
	return steer_chosen(cli, &choice.filter, NULL, steer_one, &action);
}
