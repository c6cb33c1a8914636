/* SPDX-License-Identifier: MIT */
/* Verbs that change tasks: cancel, retry, hold, unhold, forget, update. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "after_options.h"
#include "errors.h"
#include "json.h"
#include "options.h"
#include "parse.h"
#include "states.h"
#include "verbs.h"

enum key {
	KEY_FAILED = OPTION_OWN,
	KEY_DEPENDANTS,
	KEY_DELAY,
	KEY_AT,
	KEY_DEADLINE
};

/* A failure of which all has been said; cli->exit_code is for it. */
#define STEER_REPORTED INT_MIN

/* What is done to each of the tasks; 0 or more when it was. */
typedef int steer_fn(struct cli *cli, uint64_t id, const void *arg);

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
	{ "update", "only tasks that wait can be changed, and get dependencies only before their\n"
		    "first start" },
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

/* Room is wanting in the queue that the task is in. */
static int fail_steer(struct cli *cli, int r, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const char *queue = cli->queue;
	int code;

	if (r == TQ_ESTATE)
		return fail_state(cli, id);
	if (r == TQ_EFULL && tq_info(cli->tq, id, &info) == 0)
		cli->queue = info.queue;
	code = fail_task(cli, r, id);
	cli->queue = queue;
	return code;
}

static int steer_each(struct cli *cli, const uint64_t *ids, unsigned count, steer_fn *steer,
		      const void *arg)
{
	int code = CLI_OK;

	for (unsigned i = 0; i < count && !failed_at_lock(); i++) {
		const int r = steer(cli, ids[i], arg);

		if (r == STEER_REPORTED)
			code = worse(code, cli->exit_code);
		else if (r < 0)
			code = worse(code, fail_steer(cli, r, ids[i]));
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

/* What cancel is asked to do. */
struct cancel {
	struct tq_task_filter filter;
	bool dependants;
	bool filters; /* in place of ids */
};

static const struct option_row cancel_rows[] = {
	{ KEY_DEPENDANTS, "dependants", NULL, "and all tasks that depend on them" },
	{ 'S', "state", "S[,S]", "instead of ids: all in these states, or \"unfinished\"" },
	{ 'K', "kind", "K", "the same: all of this kind" },
	{ 'L', "label", "TEXT", "the same: all with this label" },
	{ 0, NULL, NULL, NULL },
};

static bool take_cancel(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct cancel *cancel = ctx;

	if (key == KEY_DEPENDANTS)
		return cancel->dependants = true;
	cancel->filters |= key == 'S' || key == 'K' || key == 'L';
	switch (key) {
	case 'S':
		return option_states(cli, arg, &cancel->filter.states);
	case 'K':
		return option_name(cli, "--kind", arg, &cancel->filter.kind);
	case 'L':
		cancel->filter.label = arg;
		return true;
	default:
		return option_global(cli, NULL, key, arg);
	}
}

static int cancel_one(struct cli *cli, uint64_t id, const void *arg)
{
	const struct cancel *cancel = arg;
	const int r = cancel->dependants ? tq_cancel_dependants(cli->tq, id)
					 : tq_cancel(cli->tq, id);

	if (r >= 0 && cli->json)
		json_line(json_pack("{s:o,s:s}", "id", json_id(id), "cancel",
				    r ? "stopping" : "cancelled"));
	return r;
}

/*
 * All that match, a chunk at a time; *ret_count those that were cancelled.  One that has
 * ended or been changed by somebody else between our look and our step is not our failure.
 */
static int steer_matching(struct cli *cli, const struct tq_task_filter *filter, steer_fn *steer,
			  const void *arg, uint64_t *ret_count)
{
	enum {
		CHUNK = 64
	};
	struct tq_task_info infos[CHUNK] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	int n, code = CLI_OK;

	*ret_count = 0;
	while ((n = tq_task_list(cli->tq, filter, &cursor, infos, CHUNK)) > 0) {
		for (int i = 0; i < n; i++) {
			const int r = steer(cli, infos[i].id, arg);

			*ret_count += r >= 0;
			if (r < 0 && r != TQ_ESTATE && r != TQ_EGONE)
				code = worse(code, fail_steer(cli, r, infos[i].id));
		}
		infos[0].size = sizeof(infos[0]);
	}
	return n < 0 ? fail(cli, n, ABOUT_CONTENT, "%s", cli->verb->name) : code;
}

static int cancel_matching(struct cli *cli, struct cancel *cancel)
{
	const uint32_t unfinished = (1u << TQ_DONE) - (1u << TQ_BLOCKED);
	uint64_t count;
	int code;

	cancel->filter.size = sizeof(cancel->filter);
	cancel->filter.queue = cli->queue_given ? cli->queue : NULL;
	if (!cancel->filter.states)
		cancel->filter.states = unfinished;
	if (cancel->filter.states & ~unfinished)
		return usage(cli, "only tasks that have not ended can be cancelled");
	if (!attach(cli, 0) || (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	code = steer_matching(cli, &cancel->filter, cancel_one, cancel, &count);
	if (code != CLI_OK)
		return code;
	if (!cli->json)
		printf("%llu %s cancelled\n", (unsigned long long)count,
		       format_plural(count, "task", "tasks"));
	return count ? CLI_OK : CLI_NOTHING;
}

int verb_cancel(struct cli *cli, int argc, char **argv)
{
	struct cancel cancel = { .dependants = false };

	if (!options_parse(cli, cancel_rows, take_cancel, &cancel, argc, argv))
		return cli->exit_code;
	cancel.filters |= cli->queue_given;
	if (cancel.filters && cli->operand_count > 0)
		return usage(cli, "give either ids or --queue, --state, --kind, --label");
	if (cancel.filters)
		return cancel_matching(cli, &cancel);
	return steer_operands(cli, cancel_one, &cancel);
}

static int steer_one(struct cli *cli, uint64_t id, const void *arg)
{
	const enum tq_task_action *action = arg;

	return tq_task_steer(cli->tq, id, *action);
}

static int steer_simply(struct cli *cli, int argc, char **argv, enum tq_task_action action)
{
	if (!options_parse(cli, options_none, NULL, NULL, argc, argv))
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

struct choice {
	bool failed; /* all of them, in place of ids */
	bool dependants;
};

#define FAILED_ROW                                                                                 \
	{                                                                                          \
		KEY_FAILED, "failed", NULL, "all failed tasks, of the queue given by -q or of all" \
	}
static const struct option_row forget_rows[] = {
	FAILED_ROW,
	{ 0, NULL, NULL, NULL },
};

static const struct option_row retry_rows[] = {
	FAILED_ROW,
	{ KEY_DEPENDANTS, "dependants", NULL, "and all tasks that their ends have cancelled" },
	{ 0, NULL, NULL, NULL },
};

static bool take_choice(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct choice *choice = ctx;

	if (key == KEY_FAILED)
		return choice->failed = true;
	if (key == KEY_DEPENDANTS)
		return choice->dependants = true;
	return option_global(cli, NULL, key, arg);
}

static int steer_failed(struct cli *cli, enum tq_task_action action)
{
	const struct tq_task_filter filter = {
		.size = sizeof(filter),
		.states = 1u << TQ_FAILED,
		.queue = cli->queue_given ? cli->queue : NULL,
	};
	uint64_t steered;
	int code;

	if (!attach(cli, 0) || (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	code = steer_matching(cli, &filter, steer_one, &action, &steered);
	if (code == CLI_OK && steered == 0) {
		complain("no failed tasks");
		return CLI_NOTHING;
	}
	return code;
}

static int steer_chosen(struct cli *cli, const struct choice *choice, enum tq_task_action action)
{
	if (choice->failed && cli->operand_count > 0)
		return usage(cli, "give either ids or --failed");
	if (choice->failed)
		return steer_failed(cli, action);
	return steer_operands(cli, steer_one, &action);
}

int verb_retry(struct cli *cli, int argc, char **argv)
{
	struct choice choice = { .failed = false };

	if (!options_parse(cli, retry_rows, take_choice, &choice, argc, argv))
		return cli->exit_code;
	return steer_chosen(cli, &choice,
			    choice.dependants ? TQ_TASK_ACTION_RETRY_DEPENDANTS
					      : TQ_TASK_ACTION_RETRY);
}

int verb_forget(struct cli *cli, int argc, char **argv)
{
	struct choice choice = { .failed = false };

	if (!options_parse(cli, forget_rows, take_choice, &choice, argc, argv))
		return cli->exit_code;
	return steer_chosen(cli, &choice, TQ_TASK_ACTION_FORGET);
}

static const struct option_row update_rows[] = {
	{ 'p', "priority", "P", "bigger is more urgent; or low, normal, high, critical" },
	{ 'q', "queue", "QUEUE", "move them there" },
	{ KEY_DELAY, "delay", "D", "start not before, from now; 0 at once" },
	{ KEY_AT, "at", "WHEN", "start not before, by the wall clock" },
	{ KEY_DEADLINE, "deadline", "D", "finish by, from now; off: no deadline" },
	AFTER_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

static bool take_deadline(const struct cli *cli, const char *arg, uint64_t *ret_ns)
{
	if (strcmp(arg, "off") != 0)
		return option_duration_from(cli, "--deadline", arg, 1, ", or off", ret_ns);
	*ret_ns = TQ_UNLIMITED;
	return true;
}

/* What update is asked to do; fields may be 0. */
struct change {
	struct tq_task_update update;
	struct after_options after;
};

static bool take_update(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct change *change = ctx;
	struct tq_task_update *update = &change->update;

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
	case OPTION_AFTER:
	case OPTION_AFTER_ANY:
	case OPTION_AFTER_FAIL:
		return after_option(cli, &change->after, key, arg);
	default:
		return option_global(cli, NULL, key, arg);
	}
}

/* The error is then of the task that it is about. */
static int add_dependency(struct cli *cli, uint64_t id, const struct tq_dependency *on)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const struct tq_task_spec spec = { .after = on, .after_count = 1 };
	const int r = tq_task_after(cli->tq, id, on->id, on->kind);

	if (r < 0 && tq_info(cli->tq, id, &info) == 0 && after_blame(cli, r, &spec))
		return STEER_REPORTED;
	return r;
}

/* A task that could not go to the queue, said of that queue; other errors as they are. */
static int fail_move(struct cli *cli, int r, uint64_t id, const char *queue)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char text[TQ_ID_TEXT_MAX];

	if (r == TQ_EFULL) {
		cli->queue = queue;
		cli->exit_code = fail_task(cli, r, id);
		return STEER_REPORTED;
	}
	if (r != TQ_ESTATE || tq_info(cli->tq, id, &info) < 0 || info.state >= TQ_RUNNING ||
	    info.unique_scope != TQ_UNIQUE_COALESCE)
		return r;
	complain("update %s: it shares a coalesced key with another task of queue %s\n"
		 "it can be moved when that has ended; `taskq why` names who waits for whom",
		 tq_id_format(id, text), info.queue);
	cli->exit_code = CLI_NOTHING;
	return STEER_REPORTED;
}

/* Dependencies first: the task is not to start before they are there. */
static int update_one(struct cli *cli, uint64_t id, const void *arg)
{
	const struct change *change = arg;
	int r = 0;

	for (uint32_t i = 0; i < change->after.count && r == 0; i++)
		r = add_dependency(cli, id, &change->after.list[i]);
	if (r == 0 && change->update.fields)
		r = tq_task_update(cli->tq, id, &change->update);
	return r < 0 && change->update.queue ? fail_move(cli, r, id, change->update.queue) : r;
}

static int update_each(struct cli *cli, const uint64_t *ids, const struct change *change)
{
	const char *queue = change->update.queue;

	if (!attach(cli, 0) || (queue && !require_queue(cli, queue)))
		return cli->exit_code;
	return steer_each(cli, ids, (unsigned)cli->operand_count, update_one, change);
}

int verb_update(struct cli *cli, int argc, char **argv)
{
	struct change change = { .update = { .size = sizeof(change.update) } };
	uint64_t *ids;
	int code;

	if (!options_parse(cli, update_rows, take_update, &change, argc, argv))
		return cli->exit_code;
	if (!change.update.fields && !change.after.count)
		return usage(cli, "nothing to change: give --priority, --queue, --delay, --at, "
				  "--deadline or --after");
	if ((change.update.fields & TQ_UPDATE_DELAY) && (change.update.fields & TQ_UPDATE_AT))
		return usage(cli, "--at and --delay exclude each other");
	if (!operands_ok(cli, 1, INT32_MAX, "the id") || !operands_ids(cli, &ids))
		return cli->exit_code;
	code = update_each(cli, ids, &change);
	free(ids);
	return code;
}
