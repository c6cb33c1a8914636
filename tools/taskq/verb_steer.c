/* SPDX-License-Identifier: MIT */
/* Verbs that change tasks: cancel, retry, hold, unhold, forget, update. */
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "json.h"
#include "options.h"
#include "parse.h"
#include "verbs.h"

enum key {
	KEY_FAILED = OPTION_OWN,
	KEY_DELAY,
	KEY_AT,
	KEY_DEADLINE
};

/* What is done to each of the tasks; 0 or more when it was. */
typedef int steer_fn(struct cli *cli, uint64_t id, const void *arg);

static const struct option_row no_rows[] = { { 0, NULL, NULL, NULL } };

/* What a verb asks of the state, for those who did not know. */
static const struct rule {
	const char *verb;
	const char *text;
} rules[] = {
	{ "cancel", "only tasks that have not ended can be cancelled" },
	{ "retry", "only failed, cancelled and expired tasks can be retried" },
	{ "hold", "only tasks that wait can be held" },
	{ "unhold", "only tasks that wait can be held and let go" },
	{ "forget", "only tasks that have ended can be forgotten; `taskq cancel` ends one" },
	{ "update", "only tasks that wait can be changed" },
};

static int fail_state(const struct cli *cli, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const struct rule *rule = rules;
	char text[TQ_ID_TEXT_MAX];

	if (tq_info(cli->tq, id, &info) < 0)
		return fail_task(cli, TQ_ESTATE, id);
	while (strcmp(rule->verb, cli->verb->name) != 0)
		rule++;
	complain("%s %s: it is %s\n%s", rule->verb, tq_id_format(id, text),
		 tq_state_name(info.state), rule->text);
	return CLI_NOTHING;
}

static int steer_each(struct cli *cli, const uint64_t *ids, unsigned count, steer_fn *steer,
		      const void *arg)
{
	int code = CLI_OK;

	for (unsigned i = 0; i < count; i++) {
		const int r = steer(cli, ids[i], arg);

		if (r == TQ_ESTATE)
			code = worse(code, fail_state(cli, ids[i]));
		else if (r < 0)
			code = worse(code, fail_task(cli, r, ids[i]));
	}
	return code;
}

static int steer_operands(struct cli *cli, steer_fn *steer, const void *arg)
{
	uint64_t *ids;
	int code;

	if (!operands_ok(cli, 1, INT32_MAX, "the id") || !operands_ids(cli, &ids))
		return cli->exit_code;
	if (attach(cli, 0))
		code = steer_each(cli, ids, (unsigned)cli->operand_count, steer, arg);
	else
		code = cli->exit_code;
	free(ids);
	return code;
}

static int cancel_one(struct cli *cli, uint64_t id, const void *arg)
{
	const int r = tq_cancel(cli->tq, id);

	(void)arg;
	if (r >= 0 && cli->json)
		json_line(json_pack("{s:o,s:s}", "id", json_id(id), "cancel",
				    r ? "stopping" : "cancelled"));
	return r;
}

int verb_cancel(struct cli *cli, int argc, char **argv)
{
	if (!options_parse(cli, no_rows, NULL, NULL, argc, argv))
		return cli->exit_code;
	return steer_operands(cli, cancel_one, NULL);
}

static int steer_one(struct cli *cli, uint64_t id, const void *arg)
{
	const enum tq_task_action *action = arg;

	return tq_task_steer(cli->tq, id, *action);
}

static int steer_simply(struct cli *cli, int argc, char **argv, enum tq_task_action action)
{
	if (!options_parse(cli, no_rows, NULL, NULL, argc, argv))
		return cli->exit_code;
	return steer_operands(cli, steer_one, &action);
}

int verb_hold(struct cli *cli, int argc, char **argv)
{
	return steer_simply(cli, argc, argv, TQ_TASK_ACTION_HOLD);
}

int verb_unhold(struct cli *cli, int argc, char **argv)
{
	return steer_simply(cli, argc, argv, TQ_TASK_ACTION_UNHOLD);
}

static const struct option_row failed_rows[] = {
	{ KEY_FAILED, "failed", NULL, "all failed tasks, of the queue given by -q or of all" },
	{ 0, NULL, NULL, NULL },
};

static bool take_failed(struct cli *cli, void *ctx, int key, const char *arg)
{
	bool *failed = ctx;

	if (key != KEY_FAILED)
		return option_global(cli, NULL, key, arg);
	*failed = true;
	return true;
}

/* All failed tasks, a chunk at a time.  One that was steered by somebody else between
 * our look and our step is not our failure. */
static int steer_failed(struct cli *cli, enum tq_task_action action)
{
	enum {
		CHUNK = 64
	};
	const struct tq_task_filter filter = {
		.size = sizeof(filter),
		.states = 1u << TQ_FAILED,
		.queue = cli->queue_given ? cli->queue : NULL,
	};
	struct tq_task_info infos[CHUNK] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0, steered = 0;
	int n, code = CLI_OK;

	if (!attach(cli, 0) || (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	while ((n = tq_task_list(cli->tq, &filter, &cursor, infos, CHUNK)) > 0) {
		for (int i = 0; i < n; i++) {
			const int r = tq_task_steer(cli->tq, infos[i].id, action);

			if (r == 0)
				steered++;
			else if (r != TQ_ESTATE && r != TQ_EGONE)
				code = worse(code, fail_task(cli, r, infos[i].id));
		}
		infos[0].size = sizeof(infos[0]);
	}
	if (n < 0)
		return fail(cli, n, ABOUT_CONTENT, "%s --failed", cli->verb->name);
	if (code == CLI_OK && steered == 0) {
		complain("no failed tasks");
		return CLI_NOTHING;
	}
	return code;
}

static int steer_ids_or_failed(struct cli *cli, int argc, char **argv, enum tq_task_action action)
{
	bool failed = false;

	if (!options_parse(cli, failed_rows, take_failed, &failed, argc, argv))
		return cli->exit_code;
	if (failed && cli->operand_count > 0)
		return usage(cli, "give either ids or --failed");
	if (failed)
		return steer_failed(cli, action);
	return steer_operands(cli, steer_one, &action);
}

int verb_retry(struct cli *cli, int argc, char **argv)
{
	return steer_ids_or_failed(cli, argc, argv, TQ_TASK_ACTION_RETRY);
}

int verb_forget(struct cli *cli, int argc, char **argv)
{
	return steer_ids_or_failed(cli, argc, argv, TQ_TASK_ACTION_FORGET);
}

static const struct option_row update_rows[] = {
	{ 'p', "priority", "P", "bigger is more urgent; or low, normal, high, critical" },
	{ 'q', "queue", "QUEUE", "move them there" },
	{ KEY_DELAY, "delay", "D", "start not before, from now; 0 at once" },
	{ KEY_AT, "at", "WHEN", "start not before, by the wall clock" },
	{ KEY_DEADLINE, "deadline", "D", "finish by, from now; off: no deadline" },
	{ 0, NULL, NULL, NULL },
};

static bool take_deadline(const struct cli *cli, const char *arg, uint64_t *ret_ns)
{
	if (strcmp(arg, "off") != 0)
		return option_time_limit(cli, "--deadline", arg, ret_ns);
	*ret_ns = TQ_UNLIMITED;
	return true;
}

static bool take_update(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct tq_task_update *update = ctx;

	switch (key) {
	case 'p':
		update->fields |= TQ_UPDATE_PRIORITY;
		return option_priority(cli, arg, &update->priority);
	case 'q':
		update->fields |= TQ_UPDATE_QUEUE;
		return option_name(cli, "--queue", arg, &update->queue);
	case KEY_DELAY:
		update->fields |= TQ_UPDATE_DELAY;
		return option_duration(cli, "--delay", arg, &update->delay_ns);
	case KEY_AT:
		update->fields |= TQ_UPDATE_AT;
		return option_at(cli, arg, &update->at_ns);
	case KEY_DEADLINE:
		update->fields |= TQ_UPDATE_DEADLINE;
		return take_deadline(cli, arg, &update->deadline_ns);
	default:
		return option_global(cli, NULL, key, arg);
	}
}

static int update_one(struct cli *cli, uint64_t id, const void *arg)
{
	return tq_task_update(cli->tq, id, arg);
}

static int update_each(struct cli *cli, const uint64_t *ids, const struct tq_task_update *update)
{
	if (!attach(cli, 0) || (update->queue && !require_queue(cli, update->queue)))
		return cli->exit_code;
	return steer_each(cli, ids, (unsigned)cli->operand_count, update_one, update);
}

int verb_update(struct cli *cli, int argc, char **argv)
{
	struct tq_task_update update = { .size = sizeof(update) };
	uint64_t *ids;
	int code;

	if (!options_parse(cli, update_rows, take_update, &update, argc, argv))
		return cli->exit_code;
	if (!update.fields)
		return usage(cli, "nothing to change: give --priority, --queue, --delay, --at or "
				  "--deadline");
	if ((update.fields & TQ_UPDATE_DELAY) && (update.fields & TQ_UPDATE_AT))
		return usage(cli, "--at and --delay exclude each other");
	if (!operands_ok(cli, 1, INT32_MAX, "the id") || !operands_ids(cli, &ids))
		return cli->exit_code;
	code = update_each(cli, ids, &update);
	free(ids);
	return code;
}
