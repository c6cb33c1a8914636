/* SPDX-License-Identifier: MIT */
/* taskq group: tasks that are counted together. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "group_text.h"
#include "json.h"
#include "outcome.h"
#include "parse.h"
#include "signals.h"
#include "text.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/task_options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/rows.h"

enum {
	CHUNK = 8
}; /* members in memory at a time */

enum key {
	KEY_WHEN = TASK_OPTION_END,
	KEY_TIMEOUT,
	KEY_EACH,
	KEY_MEMBERS
};

static const struct option_row rows[] = {
	{ KEY_WHEN, "when", "COND",
	  "new: start the command when all ended (any, default), all are done (ok), or one is "
	  "not (fail)" },
	{ KEY_TIMEOUT, "timeout", "D",
	  "wait: give up after this (exit 75), 0 only looks; new: time an attempt may take" },
	{ KEY_EACH, "each", NULL, "wait: print each member's end as it comes" },
	{ KEY_MEMBERS, "members", NULL, "show: also its members, those that have ended first" },
	{ 'L', "label", "TEXT", "new: for people, of the group and of its command" },
	{ 'p', "priority", "P", "new: the command's; or low, normal, high, critical" },
	{ 'o', "output", "FILE", "new: the command's output goes there" },
	{ TASK_OPTION_RETRIES, "retries", "N", "new: attempts after a failed one, 0 to 255" },
	{ TASK_OPTION_BACKOFF, "backoff", "D[:CAP]", "new: wait before such a retry" },
	{ TASK_OPTION_AT_MOST_ONCE, "at-most-once", NULL, "new: never start it again" },
	{ TASK_OPTION_LIMIT, "limit", "KEY[=N]",
	  "new: run only while `taskq limit` of KEY has room" },
	{ TASK_OPTION_GROUP, "group", "GROUP", "new: the command is a member of that group" },
	{ TASK_OPTION_KEEP, "keep", NULL, "new: keep its record until `taskq forget`" },
	{ TASK_OPTION_CWD, "cwd", "DIR", "new: run it there instead of here" },
	{ TASK_OPTION_ENV, "env", "NAME[=VALUE]", "new: add to its environment" },
	{ 0, NULL, NULL, NULL },
};

struct group_options {
	struct task_options task; /* of the completion task; its label is the group's, too */
	uint32_t condition;
	uint64_t timeout_ns;
	bool each, members;
	bool waits, makes; /* an option of wait alone, of new alone, was given */
	bool timed;	   /* timeout_ns was */
};

static bool take_condition(struct cli *cli, struct group_options *o, const char *arg)
{
	for (uint32_t c = TQ_GROUP_ANY; c <= TQ_GROUP_FAIL; c++)
		if (!strcmp(arg, tq_group_condition_name(c))) {
			o->condition = c;
			o->makes = true;
			return true;
		}
	return refuse(cli, "--when", arg, "not a condition", "any, ok or fail");
}

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct group_options *o = ctx;

	switch (key) {
	case KEY_WHEN:
		return take_condition(cli, o, arg);
	case KEY_TIMEOUT:
		o->timed = true;
		return option_duration(cli, "--timeout", arg, &o->timeout_ns);
	case KEY_EACH:
		o->waits = o->each = true;
		return true;
	case KEY_MEMBERS:
		o->members = true;
		return true;
	default:
		o->makes |= key < OPTION_JSON || key >= OPTION_OWN;
		return task_option(cli, &o->task, key, arg);
	}
}

static const char *id_text(uint64_t id, char buf[TQ_ID_TEXT_MAX])
{
	return tq_group_id_format(id, buf);
}

static int fail_group(struct cli *cli, int r, uint64_t id)
{
	char text[TQ_ID_TEXT_MAX];

	return fail(cli, r, ABOUT_GROUP, "group %s", id_text(id, text));
}

/* Not one word for the command: all behind "new". */
static int new_payload(struct cli *cli, struct group_options *o, void **ret_payload,
		       uint64_t *ret_bytes)
{
	const char **argv = calloc((size_t)cli->operand_count, sizeof(*argv));
	int r = argv ? 0 : -ENOMEM;

	for (int i = 1; argv && i < cli->operand_count; i++)
		argv[i - 1] = cli->operands[i];
	if (r == 0)
		r = task_options_command(cli, &o->task, argv, ret_payload, ret_bytes);
	free(argv);
	return r;
}

static int print_new(struct cli *cli, uint64_t id)
{
	struct tq_group_info info = { .size = sizeof(info) };
	char text[TQ_ID_TEXT_MAX];

	if (!cli->json) {
		puts(id_text(id, text));
		return CLI_OK;
	}
	json_t *object = json_pack("{s:s}", "id", id_text(id, text));

	if (tq_group_info(cli->tq, id, &info) == 0 && info.completion)
		json_object_set_new(object, "completion", json_id(info.completion));
	json_line(object);
	return CLI_OK;
}

static int make(struct cli *cli, struct group_options *o)
{
	const bool completes = cli->operand_count > 1;
	struct tq_group_opts opts = { .size = sizeof(opts),
				      .label = o->task.spec.label,
				      .flags = TQ_GROUP_DETACHED };
	char text[TQ_ID_TEXT_MAX];
	void *payload = NULL;
	uint64_t id;

	if (o->condition && !completes)
		return usage(cli, "--when is for a command");
	if (completes && new_payload(cli, o, &payload, &o->task.spec.payload_bytes) < 0)
		return CLI_NOTHING;
	task_options_finish(cli, &o->task);
	o->task.spec.payload = payload;
	if (o->timed)
		o->task.spec.timeout_ns = o->timeout_ns;
	opts.completion = completes ? &o->task.spec : NULL;
	opts.condition = o->condition;
	const struct tq_open_opts open = { .size = sizeof(open), .flags = TQ_OPEN_CREATE };
	int r = attach_new(cli, &open) ? tq_group_new(cli->tq, &opts, &id) : 0;

	free(payload);
	if (!cli->tq)
		return cli->exit_code;
	if (o->task.spec.group && (r == TQ_ESTATE || r == TQ_EGONE || r == -ENOENT))
		return fail(cli, r, ABOUT_GROUP, "group new: --group %s",
			    id_text(o->task.spec.group, text));
	return r < 0 ? fail(cli, r, ABOUT_GROUP, "group new") : print_new(cli, id);
}

static bool group_operands(struct cli *cli, uint64_t *ids)
{
	for (int i = 1; i < cli->operand_count; i++)
		if (tq_group_id_parse(cli->operands[i], &ids[i - 1]) < 0) {
			refuse(cli, "GROUP", cli->operands[i], "not a group's id", FORM_GROUP);
			cli->exit_code = CLI_USAGE;
			return false;
		}
	return true;
}

/* What one verb does with each group that is named. */
typedef int group_fn(struct cli *cli, const struct group_options *o, uint64_t id);

static group_fn wait_one;

static int each_group(struct cli *cli, const struct group_options *o, uint32_t open_flags,
		      group_fn *first, group_fn *run)
{
	uint64_t *ids = calloc((size_t)cli->operand_count, sizeof(*ids));
	int code = CLI_OK, worst = CLI_OK;

	bool ok = ids && group_operands(cli, ids);

	cli->transparent = ok && run == wait_one;
	if (!ok || !attach(cli, open_flags)) {
		free(ids);
		return cli->exit_code;
	}
	for (int i = 1; first && i < cli->operand_count; i++)
		code = worse(code, first(cli, o, ids[i - 1]));
	for (int i = 1; code == CLI_OK && i < cli->operand_count && !failed_at_lock(); i++)
		worst = worse(worst, run(cli, o, ids[i - 1]));
	free(ids);
	return worse(code, worst);
}

static int seal_one(struct cli *cli, const struct group_options *o, uint64_t id)
{
	const int r = tq_group_seal(cli->tq, id);

	(void)o;
	return r < 0 ? fail_group(cli, r, id) : CLI_OK;
}

static int cancel_one(struct cli *cli, const struct group_options *o, uint64_t id)
{
	const int r = tq_group_cancel(cli->tq, id);

	(void)o;
	return r < 0 ? fail_group(cli, r, id) : CLI_OK;
}

/* Every member's end, until there are no more; 0, or the library's error. */
static int print_ends(struct cli *cli, uint64_t id, uint64_t deadline_ns)
{
	struct tq_group_cursor cursor = { .number = 0 };
	int r;

	for (;;) {
		struct tq_task_info info = { .size = sizeof(info) };
		const struct clocks clocks = clocks_read();
		char text[TQ_ID_TEXT_MAX], outcome[OUTCOME_MAX];

		signals_sleep_begin();
		r = tq_group_next(cli->tq, id, &cursor,
				  deadline_ns == TQ_FOREVER_NS	? TQ_FOREVER_NS
				  : deadline_ns > clocks.now_ns ? deadline_ns - clocks.now_ns
								: 0,
				  &info);
		signals_sleep_end();
		if (r == -EINTR)
			continue;
		if (r < 0)
			return r == -ENODATA ? 0 : r;
		if (cli->json)
			json_line(json_of_task(cli->tq, &info, &clocks));
		else
			printf("%s %s\n", tq_task_id_format(info.id, text),
			       outcome_format(&info, outcome));
		fflush(stdout);
	}
}

static int wait_end(struct cli *cli, uint64_t id, uint64_t deadline_ns, struct tq_group_info *info)
{
	int r;

	do {
		const uint64_t now_ns = clocks_read().now_ns;

		info->size = sizeof(*info);
		signals_sleep_begin();
		r = tq_group_wait(cli->tq, id,
				  deadline_ns == TQ_FOREVER_NS ? TQ_FOREVER_NS
				  : deadline_ns > now_ns       ? deadline_ns - now_ns
							       : 0,
				  info);
		signals_sleep_end();
	} while (r == -EINTR);
	return r;
}

/* Of several, one that never was would be told of when those before it are complete: now. */
static int find_one(struct cli *cli, const struct group_options *o, uint64_t id)
{
	struct tq_group_info info = { .size = sizeof(info) };
	const int r = tq_group_info(cli->tq, id, &info);

	(void)o;
	return r == -ENOENT ? fail_group(cli, r, id) : CLI_OK;
}

static int wait_one(struct cli *cli, const struct group_options *o, uint64_t id)
{
	const struct clocks clocks = clocks_read();
	const uint64_t deadline_ns = o->timeout_ns > TQ_FOREVER_NS - clocks.now_ns
					     ? TQ_FOREVER_NS
					     : clocks.now_ns + o->timeout_ns;
	struct tq_group_info info = { .size = sizeof(info) };
	char text[TQ_ID_TEXT_MAX];
	int r = o->each ? print_ends(cli, id, deadline_ns) : 0;

	if (r == 0 || r == -ETIMEDOUT)
		r = wait_end(cli, id, deadline_ns, &info);
	if (r < 0 && r != -ETIMEDOUT)
		return fail_group(cli, r, id);
	if (cli->json)
		json_line(json_of_group(&info, &clocks));
	if (r < 0) {
		complain("%s has %u unfinished %s%s", id_text(id, text), info.unfinished,
			 format_plural(info.unfinished, "member", "members"),
			 info.state == TQ_GROUP_OPEN ? ", and is not sealed" : "");
		return CLI_UNFINISHED;
	}
	return info.states[TQ_DONE] == info.members ? CLI_OK : CLI_NOTHING;
}

static void print_group(const struct tq_group_info *info, const struct clocks *clocks)
{
	char text[TQ_ID_TEXT_MAX], time[FORMAT_MAX], states[GROUP_STATES_MAX];

	printf("group %s", id_text(info->id, text));
	if (info->label[0]) {
		fputs(" ", stdout);
		text_put_quoted(stdout, info->label);
	}
	printf(": %s%s\n", tq_group_state_name(info->state),
	       info->flags & TQ_GROUP_INFO_CANCELLED ? ", cancelled" : "");
	printf("  members    %u: %s\n", info->members, group_states(info, states));
	if (info->completion)
		printf("  completion %s, when %s\n", tq_task_id_format(info->completion, text),
		       tq_group_condition_name(info->condition));
	if (info->culprit)
		printf("  against it %s\n", tq_task_id_format(info->culprit, text));
	if (info->owner_pid && info->state == TQ_GROUP_OPEN)
		printf("  owner      pid %u: cancelled if that dies before it seals it\n",
		       info->owner_pid);
	printf("  created    %s\n", format_local(clocks_unix_ns(clocks, info->created_ns), time));
	if (info->ended_ns)
		printf("  complete   %s\n",
		       format_local(clocks_unix_ns(clocks, info->ended_ns), time));
}

static int print_members(struct cli *cli, uint64_t id, const struct clocks *clocks)
{
	struct tq_task_info *infos = calloc(CHUNK, sizeof(*infos));
	uint64_t cursor = 0;
	int n = infos ? 1 : -ENOMEM;

	while (n > 0) {
		infos[0].size = sizeof(infos[0]);
		n = tq_group_members(cli->tq, id, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++) {
			char text[TQ_ID_TEXT_MAX], outcome[OUTCOME_MAX];

			if (cli->json) {
				json_line(json_of_task(cli->tq, &infos[i], clocks));
				continue;
			}
			printf("  %s %s", tq_task_id_format(infos[i].id, text),
			       outcome_format(&infos[i], outcome));
			if (infos[i].label[0]) {
				putchar(' ');
				text_put_quoted(stdout, infos[i].label);
			}
			putchar('\n');
		}
	}
	free(infos);
	return n;
}

static int show_one(struct cli *cli, const struct group_options *o, uint64_t id)
{
	const struct clocks clocks = clocks_read();
	struct tq_group_info info = { .size = sizeof(info) };
	int r = tq_group_info(cli->tq, id, &info);

	if (r < 0)
		return fail_group(cli, r, id);
	if (cli->json)
		json_line(json_of_group(&info, &clocks));
	else
		print_group(&info, &clocks);
	if (o->members)
		r = print_members(cli, id, &clocks);
	return r < 0 ? fail_group(cli, r, id) : CLI_OK;
}

static bool put_row(struct cli *cli, struct table *table, const void *row)
{
	const struct tq_group_info *info = row;
	const struct clocks clocks = clocks_read();
	char text[TQ_ID_TEXT_MAX], age[FORMAT_MAX];

	if (cli->json) {
		json_line(json_of_group(info, &clocks));
		return true;
	}
	char *label = text_safe_copy(info->label, 0);

	table_cell(table, "%s", id_text(info->id, text));
	table_cell(table, "%s%s", tq_group_state_name(info->state),
		   info->flags & TQ_GROUP_INFO_CANCELLED ? ",cancelled" : "");
	table_cell(table, "%u", info->members);
	table_cell(table, "%u", info->unfinished);
	table_cell(table, "%u", info->states[TQ_DONE]);
	table_cell(table, "%u", info->states[TQ_FAILED]);
	table_cell(table, "%u", info->states[TQ_CANCELLED]);
	table_cell(table, "%u", info->states[TQ_EXPIRED]);
	table_cell(table, "%s", info->completion ? tq_task_id_format(info->completion, text) : "-");
	table_cell(table, "%s", format_duration(ns_between(info->created_ns, clocks.now_ns), age));
	table_cell(table, "%s", label ? label : "");
	free(label);
	return true;
}

static int page(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_group_list(tq, cursor, infos, count);
}

static int list(struct cli *cli)
{
	static const char *const headers[] = { "GROUP",	     "STATE",  "MEMBERS",   "UNFINISHED",
					       "DONE",	     "FAILED", "CANCELLED", "EXPIRED",
					       "COMPLETION", "AGE",    "LABEL" };
	struct table table = { .columns = 0 };

	if (!operands_ok(cli, 1, 1, "what to do") || !attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i], i > 1 && i < 8);
	return rows_print(cli, &table, sizeof(struct tq_group_info), page, put_row, "group list");
}

/* Options that another of its verbs has; true when there are none. */
static bool options_fit(struct cli *cli, const struct group_options *o, const char *what)
{
	if (o->makes && strcmp(what, "new") != 0)
		cli->exit_code = usage(cli, "only new makes a task: it alone has such options");
	else if (o->waits && strcmp(what, "wait") != 0)
		cli->exit_code = usage(cli, "only wait knows --each");
	else if (o->timed && strcmp(what, "wait") != 0 && strcmp(what, "new") != 0)
		cli->exit_code = usage(cli, "only wait and new know --timeout");
	else if (o->members && strcmp(what, "show") != 0)
		cli->exit_code = usage(cli, "only show knows --members");
	else
		return true;
	return false;
}

static int run(struct cli *cli, struct group_options *o)
{
	static const struct {
		const char *name;
		uint32_t open_flags;
		group_fn *first; /* of all, before the others; none goes on after an error */
		group_fn *run;
	} verbs[] = { { "seal", 0, NULL, seal_one },
		      { "cancel", 0, NULL, cancel_one },
		      { "wait", 0, find_one, wait_one },
		      { "show", TQ_OPEN_READONLY, NULL, show_one } };
	const char *what = cli->operands[0];

	if (!options_fit(cli, o, what))
		return cli->exit_code;
	if (!strcmp(what, "new"))
		return make(cli, o);
	if (!strcmp(what, "list"))
		return list(cli);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(what, verbs[i].name))
			return operands_ok(cli, 2, INT32_MAX, "the group's id")
				       ? each_group(cli, o, verbs[i].open_flags, verbs[i].first,
						    verbs[i].run)
				       : cli->exit_code;
	return usage(cli, "\"%s\" is not to be had: say new, seal, wait, show, cancel or list",
		     what);
}

int verb_group(struct cli *cli, int argc, char **argv)
{
	struct group_options o = { .timeout_ns = TQ_FOREVER_NS };
	int code;

	task_options_init(&o.task);
	if (!options_parse(cli, rows, take_option, &o, argc, argv) ||
	    !operands_ok(cli, 1, INT32_MAX, "what to do (new, seal, wait, show, cancel or list)"))
		code = cli->exit_code;
	else
		code = run(cli, &o);
	task_options_free(&o.task);
	return code;
}
