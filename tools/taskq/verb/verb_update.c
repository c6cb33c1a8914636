/* SPDX-License-Identifier: MIT */
/* `taskq update`: what has been said of tasks that wait. */
#include <errno.h>
#include <string.h>

#include "errors.h"
#include "parse.h"
#include "tools/taskq/options/after_options.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/task_options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/verb/steer.h"

enum key {
	KEY_DELAY = OPTION_OWN,
	KEY_AT,
	KEY_DEADLINE,
	KEY_MOVE,
	KEY_RELABEL,
	KEY_RETRIES,
	KEY_TIMEOUT,
	KEY_TIMEOUT_TOTAL,
	KEY_LIMIT,
	KEY_NO_LIMITS
};

static const struct option_row update_rows[] = {
	{ 'p', "priority", "P", "bigger is more urgent; or low, normal, high, critical" },
	{ KEY_MOVE, "move", "QUEUE", "move them to this queue" },
	{ KEY_DELAY, "delay", "D", "start not before, from now; 0 at once" },
	{ KEY_AT, "at", "WHEN", "start not before, by the wall clock" },
	{ KEY_DEADLINE, "deadline", "D", "finish by, from now; off: no deadline" },
	{ KEY_RELABEL, "relabel", "TEXT", "another label" },
	{ KEY_RETRIES, "retries", "N", "attempt them again so often after a failure" },
	{ KEY_TIMEOUT, "timeout", "D", "time-out for an attempt; off: none" },
	{ KEY_TIMEOUT_TOTAL, "timeout-total", "D", "time-out for all attempts; off: none" },
	{ KEY_LIMIT, "limit", "KEY[=N]", "limits in place of all that it has; up to four" },
	{ KEY_NO_LIMITS, "no-limits", NULL, "no limits any more" },
	AFTER_OPTION_ROWS,
	FILTER_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

static bool take_time(const struct cli *cli, const char *option, const char *arg, uint64_t *ret_ns)
{
	if (strcmp(arg, "off") != 0)
		return option_duration_from(cli, option, arg, 1, ", or off", ret_ns);
	*ret_ns = TQ_UNLIMITED;
	return true;
}

/* What update is asked to do; fields may be 0. */
struct change {
	struct tq_task_update update;
	struct limit_keys limits; /* what update.limits and .limit_weights point to */
	bool no_limits;
	struct after_options after;
	struct filter_options filter;
};

static bool take_retries(const struct cli *cli, const char *arg, uint32_t *ret_attempts)
{
	uint64_t retries;

	if (!option_count(cli, "--retries", arg, 0, TQ_ATTEMPTS_MAX - 1, &retries))
		return false;
	*ret_attempts = (uint32_t)retries + 1;
	return true;
}

static bool take_limit(struct cli *cli, struct change *change, int key, const char *arg)
{
	struct tq_task_update *update = &change->update;

	update->fields |= TQ_UPDATE_LIMITS;
	change->no_limits |= key == KEY_NO_LIMITS;
	if (key != KEY_NO_LIMITS && !task_option_limit(cli, arg, &change->limits))
		return false;
	update->limits = change->limits.keys;
	update->limit_weights = change->limits.weights;
	update->limit_count = change->limits.count;
	return true;
}

static bool take_setting(struct cli *cli, struct change *change, int key, const char *arg)
{
	struct tq_task_update *update = &change->update;

	switch (key) {
	case KEY_RELABEL:
		update->fields |= TQ_UPDATE_LABEL;
		update->label = arg;
		return strlen(arg) <= TQ_LABEL_MAX ||
		       refuse(cli, "--relabel", arg, "too long", "at most 127 bytes");
	case KEY_RETRIES:
		update->fields |= TQ_UPDATE_ATTEMPTS;
		return take_retries(cli, arg, &update->attempts_max);
	case KEY_TIMEOUT:
		update->fields |= TQ_UPDATE_TIMEOUT;
		return take_time(cli, "--timeout", arg, &update->timeout_ns);
	case KEY_TIMEOUT_TOTAL:
		update->fields |= TQ_UPDATE_TIMEOUT_TOTAL;
		return take_time(cli, "--timeout-total", arg, &update->timeout_total_ns);
	case KEY_LIMIT:
	case KEY_NO_LIMITS:
		return take_limit(cli, change, key, arg);
	default:
		return filter_option(cli, &change->filter, key, arg);
	}
}

static bool take_update(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct change *change = ctx;
	struct tq_task_update *update = &change->update;

	switch (key) {
	case 'p':
		update->fields |= TQ_UPDATE_PRIORITY;
		return option_priority(cli, arg, &update->priority);
	case KEY_MOVE:
		update->fields |= TQ_UPDATE_QUEUE;
		return option_name(cli, "--move", arg, &update->queue);
	case KEY_DELAY:
		update->fields |= TQ_UPDATE_DELAY;
		return option_duration(cli, "--delay", arg, &update->delay_ns);
	case KEY_AT:
		update->fields |= TQ_UPDATE_AT;
		return option_at(cli, arg, &update->at_ns);
	case KEY_DEADLINE:
		update->fields |= TQ_UPDATE_DEADLINE;
		return take_time(cli, "--deadline", arg, &update->deadline_ns);
	case OPTION_AFTER:
	case OPTION_AFTER_ANY:
	case OPTION_AFTER_FAIL:
		return after_option(cli, &change->after, key, arg);
	default:
		return take_setting(cli, change, key, arg);
	}
}

/* The error is then of the task that it is about. */
static int add_dependency(struct cli *cli, uint64_t id, const struct tq_dependency *on)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const struct tq_task_spec spec = { .after = on, .after_count = 1 };
	const int r = tq_task_after(cli->tq, id, on->id, on->kind);

	if (r < 0 && tq_task_info(cli->tq, id, &info) == 0 && after_blame(cli, r, &spec))
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
	if (r != TQ_ESTATE || tq_task_info(cli->tq, id, &info) < 0 || info.state >= TQ_RUNNING ||
	    info.unique_scope != TQ_UNIQUE_COALESCE)
		return r;
	complain("update %s: it shares a coalesced key with another task of queue %s\n"
		 "it can be moved when that has ended; `taskq why` names who waits for whom",
		 tq_task_id_format(id, text), info.queue);
	cli->exit_code = CLI_NOTHING;
	return STEER_REPORTED;
}

static int fail_label(struct cli *cli, uint64_t id)
{
	char text[TQ_ID_TEXT_MAX];

	complain("update %s: its payload has more than 4096 bytes, so its label stays\n"
		 "give the label when it is submitted",
		 tq_task_id_format(id, text));
	cli->exit_code = CLI_USAGE;
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
	if (r == -E2BIG && (change->update.fields & TQ_UPDATE_LABEL))
		return fail_label(cli, id);
	return r < 0 && change->update.queue ? fail_move(cli, r, id, change->update.queue) : r;
}

int verb_update(struct cli *cli, int argc, char **argv)
{
	struct change change = { .update = { .size = sizeof(change.update) } };

	if (!options_parse(cli, update_rows, take_update, &change, argc, argv))
		return cli->exit_code;
	if (!change.update.fields && !change.after.count)
		return usage(cli, "nothing to change: give --priority, --move, --delay, --at, "
				  "--deadline, --relabel, --retries, --timeout, --timeout-total, "
				  "--limit, --no-limits or --after");
	if ((change.update.fields & TQ_UPDATE_DELAY) && (change.update.fields & TQ_UPDATE_AT))
		return usage(cli, "--at and --delay exclude each other");
	if (change.no_limits && change.update.limit_count)
		return usage(cli, "--limit and --no-limits exclude each other");
	return steer_chosen(cli, &change.filter, change.update.queue, update_one, &change);
}
