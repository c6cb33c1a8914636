/* SPDX-License-Identifier: MIT */
/* taskq log: a task's output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "errors.h"
#include "format.h"
#include "parse.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/no_output.h"
#include "tools/taskq/run/stream.h"

enum key {
	KEY_ATTEMPT = OPTION_OWN
};

struct log {
	uint64_t attempt; /* 0 whichever there is */
	bool follow;
};

static const struct option_row rows[] = {
	{ 'f', "follow", NULL, "go on until the task has ended, across its attempts" },
	{ KEY_ATTEMPT, "attempt", "N", "of this attempt, if its output is kept still" },
	{ 0, NULL, NULL, NULL },
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct log *log = ctx;

	if (key == KEY_ATTEMPT)
		return option_count(cli, "--attempt", arg, 1, UINT32_MAX, &log->attempt);
	if (key != 'f')
		return option_global(cli, NULL, key, arg);
	log->follow = true;
	return true;
}

/* The number of the attempt that has begun last, 0 none; and whether @attempt has. */
static bool has_begun(struct cli *cli, uint64_t id, uint64_t attempt, uint32_t *ret_last)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char text[TQ_ID_TEXT_MAX];
	const int r = tq_task_info(cli->tq, id, &info);

	*ret_last = info.attempt;
	if (r < 0) {
		cli->exit_code = fail_task(cli, r, id);
	} else if (attempt > info.attempt) {
		complain("%s: it has had %u %s", tq_task_id_format(id, text), info.attempt,
			 format_plural(info.attempt, "attempt", "attempts"));
		cli->exit_code = CLI_NOTHING;
	}
	return r == 0 && attempt <= info.attempt;
}

static int say_not_kept(uint64_t id, uint32_t attempt)
{
	char text[TQ_ID_TEXT_MAX];

	complain("%s: the output of attempt %u is not kept any more\n"
		 "`taskq submit -o FILE.%%a` gives each attempt a file",
		 tq_task_id_format(id, text), attempt);
	return CLI_NOTHING;
}

/* Of one attempt, or across them: what there is, or will be. */
static int copy(struct cli *cli, struct stream *stream, uint64_t attempt, uint32_t last)
{
	return attempt && attempt < last ? stream_copy_attempt(cli, stream, (uint32_t)attempt)
					 : stream_copy(cli, stream);
}

static int print_log(struct cli *cli, uint64_t id, const struct log *log)
{
	struct stream stream = { .id = id, .follow = log->follow };
	uint32_t last;
	int r;

	/* Waiting for more needs a place in the segment, looking does not. */
	if (!attach(cli, log->follow ? 0 : TQ_OPEN_READONLY) ||
	    !has_begun(cli, id, log->attempt, &last))
		return cli->exit_code;
	r = copy(cli, &stream, log->attempt, last);
	if (r == -EPIPE || r == -EIO)
		return CLI_OK; /* main() looks at standard output once more */
	stream_say_lost(&stream);
	if (r == -ESTALE)
		return say_not_kept(id, (uint32_t)log->attempt);
	if (r < 0)
		return fail_task(cli, r, id);
	if (!stream.offset && !stream.lost)
		no_output_say(cli, id, log->attempt ? (uint32_t)log->attempt : last);
	return stream.lost ? CLI_NOTHING : CLI_OK;
}

int verb_log(struct cli *cli, int argc, char **argv)
{
	struct log log = { 0 };
	uint64_t *ids;
	int code;

	if (!options_parse(cli, rows, take_option, &log, argc, argv) ||
	    !operands_ok(cli, 1, 1, "the id") || !operands_ids(cli, &ids))
		return cli->exit_code;
	code = print_log(cli, ids[0], &log);
	free(ids);
	return code;
}
