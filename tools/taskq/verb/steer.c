/* SPDX-License-Identifier: MIT */
/* Tasks that are named, or that match a filter, one after the other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "parse.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/verb/steer.h"

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

int steer_chosen(struct cli *cli, struct filter_options *f, const char *queue, steer_fn *steer,
		 const void *arg)
{
	const bool by_filter = filter_in_place_of_ids(cli, f);

	if (cli->exit_code)
		return cli->exit_code;
	return by_filter ? steer_filtered(cli, f, queue, steer, arg)
			 : steer_operands(cli, queue, steer, arg);
}
