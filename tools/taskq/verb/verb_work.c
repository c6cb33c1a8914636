/* SPDX-License-Identifier: MIT */
/* taskq work: a farm in the foreground. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "parse.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/stealing.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/run/work_log.h"

enum {
	WORKERS_MAX = 1024
}; /* processes; more than one host has use for */

enum key {
	KEY_LEASE = OPTION_OWN,
	KEY_GRACE,
	KEY_UNTIL_EMPTY,
	KEY_MAX_TASKS,
	KEY_MAX_RSS,
	KEY_NAME
};

static const struct option_row rows[] = {
	{ 'j', "jobs", "N", "worker processes; default one a CPU" },
	{ 'q', "queue", "QUEUE[,QUEUE]", "serve these, the first one first; may be repeated" },
	{ KEY_LEASE, "lease", "D", "a worker silent this long loses its task; default 30s" },
	{ KEY_GRACE, "grace", "D", "from the request to stop to the kill; default 5s" },
	{ KEY_UNTIL_EMPTY, "until-empty", NULL, "end when nothing is left that could start" },
	{ KEY_MAX_TASKS, "max-tasks", "N", "replace a worker after N attempts" },
	{ KEY_MAX_RSS, "max-rss", "SIZE", "replace a worker that has grown to this" },
	{ KEY_NAME, "name", "NAME", "of the farm; default farm.PID" },
	{ 'v', "verbose", NULL, "log the end of each attempt, too" },
	{ 'Q', "quiet", NULL, "do not log to standard error" },
	{ 0, NULL, NULL, NULL },
};

struct work {
	struct tq_farm_opts opts;
	const char *queues[TQ_WORKER_QUEUES_MAX];
	char *lists[TQ_WORKER_QUEUES_MAX]; /* the storage of ->queues, one for each option */
	unsigned list_count;
	bool quiet;
	bool verbose;
};

/* One that is named twice has the place where it came first. */
static bool add_queue(struct cli *cli, struct work *work, const char *queue)
{
	for (uint32_t i = 0; i < work->opts.queue_count; i++)
		if (!strcmp(work->queues[i], queue))
			return true;
	if (!name_ok(queue))
		return refuse(cli, "--queue", queue, "not a queue", FORM_NAME);
	if (work->opts.queue_count == TQ_WORKER_QUEUES_MAX)
		return refuse(cli, "--queue", queue, "too many", "at most 16 queues");
	work->queues[work->opts.queue_count++] = queue;
	return true;
}

static bool take_queues(struct cli *cli, struct work *work, const char *arg)
{
	char *save = NULL, *list = NULL;

	if (work->list_count == TQ_WORKER_QUEUES_MAX)
		return refuse(cli, "--queue", arg, "too many", "at most 16 queues");
	if (arg[strspn(arg, ",")])
		list = work->lists[work->list_count++] = strdup(arg);
	if (!list)
		return refuse(cli, "--queue", arg, "empty", "queues, separated by commas");
	for (char *at = strtok_r(list, ",", &save); at; at = strtok_r(NULL, ",", &save))
		if (!add_queue(cli, work, at))
			return false;
	return true;
}

static bool take_jobs(struct cli *cli, struct work *work, const char *arg)
{
	uint64_t count;

	if (!option_count(cli, "--jobs", arg, 1, WORKERS_MAX, &count))
		return false;
	work->opts.workers = (uint32_t)count;
	return true;
}

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct work *work = ctx;
	struct tq_farm_opts *opts = &work->opts;

	switch (key) {
	case 'j':
		return take_jobs(cli, work, arg);
	case 'q':
		return take_queues(cli, work, arg);
	case KEY_LEASE:
		return option_time_limit(cli, "--lease", arg, &opts->lease_ns);
	case KEY_GRACE:
		return option_time_limit(cli, "--grace", arg, &opts->grace_ns);
	case KEY_UNTIL_EMPTY:
		opts->flags |= TQ_FARM_UNTIL_EMPTY;
		return true;
	case KEY_MAX_TASKS:
		return option_count(cli, "--max-tasks", arg, 1, INT64_MAX, &opts->max_tasks);
	case KEY_MAX_RSS:
		return option_size(cli, "--max-rss", arg, 1, INT64_MAX, &opts->max_rss_bytes);
	case KEY_NAME:
		return option_name(cli, "--name", arg, &opts->name);
	case 'v':
		work->verbose = true;
		return true;
	case 'Q':
		work->quiet = true;
		return true;
	default:
		return option_global(cli, NULL, key, arg);
	}
}

static int work_until_told(struct cli *cli, struct work *work)
{
	int r;

	if (!work->opts.queue_count)
		work->queues[work->opts.queue_count++] = cli->queue;
	if (!attach(cli, TQ_OPEN_CREATE))
		return cli->exit_code;
	r = tq_farm_run(cli->tq, &work->opts);
	if (r < 0)
		return fail(cli, r, ABOUT_QUEUE, "work%s%s", work->opts.name ? " --name " : "",
			    work->opts.name ? work->opts.name : "");
	if (r > 0)
		complain("%d running %s given back", r,
			 format_plural((uint64_t)r, "task was", "tasks were"));
	return r > 0 ? CLI_NOTHING : CLI_OK;
}

int verb_work(struct cli *cli, int argc, char **argv)
{
	struct work work = { .opts = { .size = sizeof(work.opts), .flags = TQ_FARM_REAP_ALL } };
	int code = CLI_USAGE;

	work.opts.queues = work.queues;
	if (options_parse(cli, rows, take_option, &work, argc, argv) &&
	    operands_ok(cli, 0, 0, NULL) && stealing_from_env(cli, &work.opts.stealing)) {
		work.opts.report = work.quiet ? NULL : work_log;
		work.opts.report_arg = cli;
		if (work.verbose || cli->json)
			work.opts.flags |= TQ_FARM_REPORT_ATTEMPTS;
		code = work_until_told(cli, &work);
	} else {
		code = cli->exit_code;
	}
	while (work.list_count)
		free(work.lists[--work.list_count]);
	return code;
}
