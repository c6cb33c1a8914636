/* SPDX-License-Identifier: MIT */
/* Dependencies as options. */
#include "tools/taskq/options/after_options.h"

#include <errno.h>
#include <string.h>

#include "errors.h"
#include "parse.h"

static const char *option_of(uint32_t kind)
{
	switch (kind) {
	case TQ_AFTER_ANY:
		return "--after-any";
	case TQ_AFTER_FAIL:
		return "--after-fail";
	default:
		return "--after";
	}
}

bool after_add(struct after_options *after, uint64_t id, uint32_t kind)
{
	if (after->count == TQ_AFTER_MAX)
		return false;
	after->list[after->count++] = (struct tq_dependency){ .id = id, .kind = kind };
	return true;
}

struct reading {
	struct cli *cli;
	struct after_options *after;
	uint32_t kind;
};

static bool add_word(void *ctx, const char *word)
{
	const struct reading *r = ctx;
	uint64_t id;

	if (tq_task_id_parse(word, &id) < 0)
		return refuse(r->cli, option_of(r->kind), word, "not a task id", FORM_ID);
	if (after_add(r->after, id, r->kind))
		return true;
	r->cli->exit_code = usage(r->cli,
				  "more than %u dependencies; submit it with --hold, and add the "
				  "others by `taskq update %s`",
				  TQ_AFTER_MAX, option_of(r->kind));
	return false;
}

static uint32_t kind_of(int key)
{
	switch (key) {
	case OPTION_AFTER_ANY:
		return TQ_AFTER_ANY;
	case OPTION_AFTER_FAIL:
		return TQ_AFTER_FAIL;
	default:
		return TQ_AFTER_OK;
	}
}

bool after_option(struct cli *cli, struct after_options *after, int key, const char *arg)
{
	struct reading reading = { cli, after, kind_of(key) };

	return words_each(arg, add_word, &reading);
}

static const struct tq_dependency *culprit_of(struct tq *tq, int r, const struct tq_task_spec *spec)
{
	struct tq_task_info info = { .size = sizeof(info) };

	if (r != -ENOENT && r != TQ_EGONE)
		return NULL;
	for (uint32_t i = 0; i < spec->after_count; i++) {
		const struct tq_dependency *on = &spec->after[i];

		if (tq_task_info(tq, on->id, &info) == r &&
		    (r != TQ_EGONE || on->kind != TQ_AFTER_ANY))
			return on;
	}
	return NULL;
}

uint64_t after_culprit(struct tq *tq, int r, const struct tq_task_spec *spec)
{
	const struct tq_dependency *on = culprit_of(tq, r, spec);

	return on ? on->id : 0;
}

bool after_blame(struct cli *cli, int r, const struct tq_task_spec *spec)
{
	const struct tq_dependency *on = culprit_of(cli->tq, r, spec);
	char text[TQ_ID_TEXT_MAX];

	if (on)
		cli->exit_code = fail(cli, r, ABOUT_TASK, "%s: %s %s", cli->verb->name,
				      option_of(on->kind), tq_task_id_format(on->id, text));
	return on != NULL;
}
