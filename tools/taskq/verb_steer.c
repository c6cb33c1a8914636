/* SPDX-License-Identifier: MIT */
/* Verbs that change tasks: cancel, retry, hold, unhold, forget, update. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "after_options.h"
#include "errors.h"
#include "filter_options.h"
#include "json.h"
#include "options.h"
#include "parse.h"
#include "verbs.h"

enum key {
	KEY_FAILED = OPTION_OWN,
	KEY_DEPENDANTS,
	KEY_DELAY,
	KEY_AT,
	KEY_DEADLINE,
	KEY_MOVE,
	KEY_RELABEL,
	KEY_RETRIES,
	KEY_TIMEOUT,
	KEY_TIMEOUT_TOTAL
};

/* A failure of which all has been said; cli->exit_code is for it. */
#define STEER_REPORTED INT_MIN

/* What is done to each of the tasks; 0 or more when it was. */
typedef int steer_fn(struct cli *cli, uint64_t id, const void *arg);

#define UNFINISHED ((1u << TQ_DONE) - (1u << TQ_BLOCKED))
#define WAITING (UNFINISHED & ~(1u << TQ_RUNNING))
#define ENDED ((1u << TQ_STATE_COUNT) - (1u << TQ_DONE))

/* What a verb asks of the state, for those who did not know; what it has done to a task; the
 * states of those that are meant when nobody says which, and of flags, must and must not. */
static const struct rule {
	const char *verb;
	const char *text;
	const char *done;
	uint32_t states;
	uint32_t spared; /* of these: those that are meant only where -S names them */
	uint32_t flags, no_flags;
} rules[] = {
	{ "cancel", "only tasks that have not ended can be cancelled", "cancelled", UNFINISHED, 0,
	  0, 0 },
	{ "retry", "only tasks that have ended can be retried", "retried", ENDED, 1u << TQ_DONE, 0,
	  0 },
	{ "hold", "only tasks that wait can be held", "held", WAITING, 0, 0, TQ_INFO_HELD },
	{ "unhold", "only tasks that wait can be held and let go", "let go", WAITING, 0,
	  TQ_INFO_HELD, 0 },
	{ "forget", "only tasks that have ended can be forgotten; `taskq cancel` ends one",
	  "forgotten", ENDED, 0, 0, 0 },
	{ "update",
	  "only tasks that wait can be changed, and get dependencies only before their\n"
	  "first start",
	  "changed", WAITING, 0, 0, 0 },
};

static const struct rule *rule_of(const struct cli *cli)
{
	const struct rule *rule = rules;

	while (strcmp(rule->verb, cli->verb->name) != 0)
		rule++;
	return rule;
}

static int fail_state(const struct cli *cli, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const struct rule *rule = rule_of(cli);
	char text[TQ_ID_TEXT_MAX];

	if (tq_task_info(cli->tq, id, &info) < 0)
		return fail_task(cli, TQ_ESTATE, id);
	complain("%s %s: it is %s\n%s", rule->verb, tq_task_id_format(id, text),
		 tq_task_state_name(info.state), rule->text);
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
	if (r == TQ_EFULL && tq_task_info(cli->tq, id, &info) == 0)
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

/* With a queue that must be there, or NULL. */
static bool attach_with(struct cli *cli, const char *queue)
{
	return attach(cli, 0) && (!queue || require_queue(cli, queue));
}

static int steer_operands(struct cli *cli, const char *queue, steer_fn *steer, const void *arg)
{
	uint64_t *ids;
	int code;

	if (!operands_ids(cli, &ids))
		return cli->exit_code;
	if (attach_with(cli, queue))
		code = steer_each(cli, ids, (unsigned)cli->operand_count, steer, arg);
	else
		code = cli->exit_code;
	free(ids);
	return code;
}

/* False: nothing is wrong with it, and it is passed over. */
static bool is_meant(const struct rule *rule, const struct tq_task_info *info)
{
	return (info->flags & rule->flags) == rule->flags && !(info->flags & rule->no_flags);
}

/*
 * All that match, a chunk at a time; *ret_count those that were changed.  One that has
 * ended or been changed by somebody else between our look and our step is not our failure.
 */
static int steer_matching(struct cli *cli, const struct filter_options *f, steer_fn *steer,
			  const void *arg, uint64_t *ret_count)
{
	enum {
		CHUNK = 64
	};
	const struct rule *rule = rule_of(cli);
	struct tq_task_info infos[CHUNK];
	uint64_t cursor = 0;
	int n, code = CLI_OK;
	bool at_end;

	*ret_count = 0;
	do {
		n = filter_list(cli, f, &cursor, infos, CHUNK, &at_end);
		for (int i = 0; i < n && !failed_at_lock(); i++) {
			const int r = is_meant(rule, &infos[i]) ? steer(cli, infos[i].id, arg)
								: TQ_ESTATE;

			*ret_count += r >= 0;
			if (r == STEER_REPORTED)
				code = worse(code, cli->exit_code);
			else if (r < 0 && r != TQ_ESTATE && r != TQ_EGONE)
				code = worse(code, fail_steer(cli, r, infos[i].id));
		}
	} while (!at_end && !failed_at_lock());
	return n < 0 ? fail(cli, n, ABOUT_CONTENT, "%s", cli->verb->name) : code;
}

static int steer_filtered(struct cli *cli, struct filter_options *f, const char *queue,
			  steer_fn *steer, const void *arg)
{
	const struct rule *rule = rule_of(cli);
	uint64_t count;
	int code;

	if (!f->filter.states)
		f->filter.states = rule->states & ~rule->spared;
	if (f->filter.states & ~rule->states)
		return usage(cli, "%s", rule->text);
	if (!attach_with(cli, queue) || !filter_begin(cli, f))
		return cli->exit_code;
	code = steer_matching(cli, f, steer, arg, &count);
	if (!cli->json)
		printf("%llu %s %s\n", (unsigned long long)count,
		       format_plural(count, "task", "tasks"), rule->done);
	return code == CLI_OK && count == 0 ? CLI_NOTHING : code;
}

/* The tasks that are named, or those that match; @queue, if any, is to be there. */
static int steer_chosen(struct cli *cli, struct filter_options *f, const char *queue,
			steer_fn *steer, const void *arg)
{
	const bool by_filter = filter_in_place_of_ids(cli, f);

	if (cli->exit_code)
		return cli->exit_code;
	return by_filter ? steer_filtered(cli, f, queue, steer, arg)
			 : steer_operands(cli, queue, steer, arg);
}

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
				  "--deadline, --relabel, --retries, --timeout, --timeout-total "
				  "or --after");
	if ((change.update.fields & TQ_UPDATE_DELAY) && (change.update.fields & TQ_UPDATE_AT))
		return usage(cli, "--at and --delay exclude each other");
	return steer_chosen(cli, &change.filter, change.update.queue, update_one, &change);
}
