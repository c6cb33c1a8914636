/* SPDX-License-Identifier: MIT */
/* taskq log: a task's output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "errors.h"
#include "format.h"
#include "no_output.h"
#include "options.h"
#include "parse.h"
#include "stream.h"
#include "verbs.h"

enum key {
	KEY_ATTEMPT = OPTION_OWN
};

struct log {
	uint64_t attempt; /* 0 whichever there is */
	bool follow;
};

static const struct option_row rows[] = {
	{ 'f', "follow", NULL, "go on until the task has ended, across its attempts" },
	{ KEY_ATTEMPT, "attempt", "N", "of this attempt, if its output is kept" },
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

/* Only the last attempt's output is kept with the task. */
static bool is_kept(struct cli *cli, uint64_t id, uint64_t attempt)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char text[TQ_ID_TEXT_MAX];
	const int r = tq_task_info(cli->tq, id, &info);

	if (r < 0) {
		cli->exit_code = fail_task(cli, r, id);
	} else if (attempt > info.attempt) {
		complain("%s: it has had %u %s", tq_task_id_format(id, text), info.attempt,
			 format_plural(info.attempt, "attempt", "attempts"));
		cli->exit_code = CLI_NOTHING;
	} else if (attempt < info.attempt) {
		complain("%s: the output of attempt %llu is not kept, only that of the last, %u\n"
			 "`taskq submit -o FILE.%%a` gives each attempt a file",
			 tq_task_id_format(id, text), (unsigned long long)attempt, info.attempt);
		cli->exit_code = CLI_NOTHING;
	}
	return r >= 0 && attempt == info.attempt;
}

static int print_log(struct cli *cli, uint64_t id, const struct log *log)
{
	struct stream stream = { .id = id, .follow = log->follow };
	int r;

	/* Waiting for more needs a place in the segment, looking does not. */
	if (!attach(cli, log->follow ? 0 : TQ_OPEN_READONLY) ||
	    (log->attempt && !is_kept(cli, id, log->attempt)))
		return cli->exit_code;
	r = stream_copy(cli, &stream);
	if (r == -EPIPE || r == -EIO)
		return CLI_OK; /* main() looks at standard output once more */
	stream_say_lost(&stream);
	if (r < 0)
		return fail_task(cli, r, id);
	if (!stream.offset && !stream.lost)
		no_output_say(cli, id);
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
