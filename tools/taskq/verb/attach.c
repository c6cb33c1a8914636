/* SPDX-License-Identifier: MIT */
/* Attaching the segment that the command line names. */
#include <errno.h>
#include <sys/resource.h>

#include "cli.h"
#include "errors.h"
#include "format.h"
#include "parse.h"
#include "signals.h"

/* Options were checked when they were read; what is bad here came from the environment. */
static bool names_ok(struct cli *cli)
{
	if (!segment_name_ok(cli->segment))
		refuse(cli, "TASKQ_SEGMENT", cli->segment, "not a segment", FORM_SEGMENT);
	else if (!name_ok(cli->queue))
		refuse(cli, "TASKQ_QUEUE", cli->queue, "not a queue", FORM_NAME);
	else
		return true;
	cli->exit_code = cli->transparent ? CLI_SELF : CLI_USAGE;
	return false;
}

/* What it needs, and what it may have. */
static int fail_too_large(const struct cli *cli, uint64_t max_bytes)
{
	char need[FORMAT_MAX], may[FORMAT_MAX];
	struct rlimit limit;
	const int code = fail(cli, -EFBIG, ABOUT_SEGMENT, "segment \"%s\"", cli->segment);

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0)
		complain_more("it may have %s; a segment takes %s",
			      format_size(limit.rlim_cur, may),
			      max_bytes ? format_size(max_bytes, need)
					: "1.0G, or half of a smaller file system");
	return code;
}

static int fail_to_open(const struct cli *cli, int r, const struct tq_open_opts *opts)
{
	const uint32_t open_flags = opts->flags;

	if (r == -EFBIG)
		return fail_too_large(cli, opts->max_bytes);
	if (r != -ENOENT || !(open_flags & TQ_OPEN_CREATE))
		return fail(cli, r, ABOUT_SEGMENT, "segment \"%s\"", cli->segment);
	complain("segment \"%s\": its directory does not exist\n"
		 "give a name, or a path in a directory on a tmpfs",
		 cli->segment);
	return cli->transparent ? CLI_SELF : CLI_ABSENT;
}

struct tq *attach_new(struct cli *cli, const struct tq_open_opts *opts)
{
	if (!names_ok(cli))
		return NULL;
	/* Who only looks takes no lock, and may be stopped whenever the user likes. */
	if (!(opts->flags & TQ_OPEN_READONLY))
		signals_hold();

	const int r = tq_open(cli->segment, opts, &cli->tq);

	if (r == 0)
		return cli->tq;
	cli->tq = NULL;
	cli->exit_code = fail_to_open(cli, r, opts);
	return NULL;
}

struct tq *attach(struct cli *cli, uint32_t open_flags)
{
	const struct tq_open_opts opts = {
		.size = sizeof(opts),
		.flags = open_flags | (cli->foreign ? TQ_OPEN_FOREIGN : 0),
	};

	return attach_new(cli, &opts);
}

bool require_queue(struct cli *cli, const char *queue)
{
	struct tq_queue_info info = { .size = sizeof(info) };
	const int r = tq_queue_info(cli->tq, queue, &info);

	if (r < 0)
		cli->exit_code = fail(cli, r, ABOUT_QUEUE, "queue \"%s\"", queue);
	return r >= 0;
}

void detach(struct cli *cli)
{
	cli->tq = tq_close(cli->tq);
}
