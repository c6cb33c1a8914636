/* SPDX-License-Identifier: MIT */
/* taskq map: a command for each line of the input. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "errors.h"
#include "parse.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/run/errors_pipe.h"
#include "tools/taskq/run/map.h"
#include "tools/taskq/run/private.h"

enum {
	WORKERS_MAX = 1024,
};

enum key {
	KEY_HALT = TASK_OPTION_END,
	KEY_DRY_RUN,
	KEY_JOBLOG,
	KEY_RESUME,
	KEY_NO_PROGRESS
};

static const struct option_row rows[] = {
	{ 'j', "jobs", "N", "start N private workers" },
	{ 'k', "keep-order", NULL, "print in the order of the input" },
	{ '0', "null", NULL, "lines end in NUL instead of line feed" },
	{ KEY_HALT, "halt", "N", "when N have failed cancel the rest; 1: at the first" },
	{ KEY_DRY_RUN, "dry-run", NULL, "print the commands, and run none" },
	{ KEY_JOBLOG, "joblog", "FILE", "write a line for each command that has ended" },
	{ KEY_RESUME, "resume", NULL, "go on with FILE: leave out the lines that are done" },
	{ KEY_NO_PROGRESS, "no-progress", NULL, "do not show on a terminal how far it has come" },
	TASK_OPTION_ROWS,
	OPTION_ROW_COMMAND,
	{ 0, NULL, NULL, NULL },
};

struct mapping {
	struct map map;
	struct task_options options;
	struct private_farm farm;
	struct watch watch;
	struct errors_pipe errors;
	uint64_t jobs; /* 0: not given */
	char delimiter;
	const char *joblog; /* NULL none */
	bool resume;
	bool dry_run;
	bool no_progress;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct mapping *mapping = ctx;

	switch (key) {
	case 'j':
		return option_count(cli, "--jobs", arg, 1, WORKERS_MAX, &mapping->jobs);
	case 'k':
		mapping->map.in_order = true;
		return true;
	case '0':
		mapping->delimiter = '\0';
		return true;
	case KEY_HALT:
		return option_count(cli, "--halt", arg, 1, INT64_MAX, &mapping->map.halt);
	case KEY_DRY_RUN:
		return mapping->dry_run = true;
	case KEY_JOBLOG:
		mapping->joblog = arg;
		return true;
	case KEY_RESUME:
		return mapping->resume = true;
	case KEY_NO_PROGRESS:
		return mapping->no_progress = true;
	default:
		return task_option(cli, &mapping->options, key, arg);
	}
}

static uint32_t cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

/* How many tasks the workers of the queue can have under way. */
static uint32_t workers_of(struct cli *cli)
{
	struct tq_queue_info queue = { .size = sizeof(queue) };

	return tq_queue_info(cli->tq, cli->queue, &queue) == 0 && queue.workers > 0 ? queue.workers
										    : cpus();
}

static bool start_private(struct mapping *mapping)
{
	struct cli *cli = mapping->map.cli;
	const uint32_t workers = mapping->jobs ? (uint32_t)mapping->jobs : cpus();

	if (mapping->farm.queue[0] == '\0' && !private_queue(cli, &mapping->farm))
		return false;
	mapping->options.spec.queue = mapping->farm.queue;
	return private_start(cli, &mapping->farm, workers, &mapping->watch);
}

/* The first task tells whether anybody serves the queue; if not, it moves. */
static bool settle_first(struct mapping *mapping)
{
	struct tq_task_info info = { .size = sizeof(info) };
	struct tq_task_update update = { .size = sizeof(update), .fields = TQ_UPDATE_QUEUE };
	struct map *map = &mapping->map;
	const uint64_t id = map->tasks[0].id;
	int r = tq_task_info(map->cli->tq, id, &info);

	if (r < 0 || !(info.flags & TQ_INFO_UNSERVED) || info.state >= TQ_RUNNING)
		return true;
	if (!private_queue(map->cli, &mapping->farm))
		return false;
	update.queue = mapping->farm.queue;
	r = tq_task_update(map->cli->tq, id, &update);
	if (r == TQ_ESTATE)
		return true; /* somebody has just taken it */
	if (r < 0)
		map->cli->exit_code = fail_task(map->cli, r, id);
	return r == 0 && start_private(mapping);
}

/* Hands in the first line before there are threads, so that the farm may be forked. */
static bool begin(struct mapping *mapping)
{
	struct map *map = &mapping->map;
	int r;

	if (mapping->jobs && !start_private(mapping))
		return false;
	r = map_feed_one(map);
	map->at_end = r <= 0;
	map->cli->exit_code = map->feed_code;
	return r > 0 && (mapping->jobs || settle_first(mapping));
}

static int feed_and_collect(struct mapping *mapping)
{
	struct map *map = &mapping->map;
	thrd_t feeder;
	sigset_t all, before;
	int code, r;

	map->refusal_told = mapping->farm.pid;
	signal(SIGPIPE, SIG_IGN); /* not before the fork: commands inherit it */
	r = errors_pipe_start(&mapping->errors);
	if (r == 0)
		r = watch_start(&mapping->watch, mapping->farm.pid, map_stop, map);
	if (r < 0)
		return fail(map->cli, r, ABOUT_CONTENT, "map");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = thrd_create(&feeder, map_feed, map);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != thrd_success) {
		complain("map: no thread can be started");
		map->at_end = true;
		map_stop(map);
	}
	code = map_collect(map);
	errors_pipe_end(&mapping->errors);
	/* The feeder may sit in a read for ever; it ends with the process. */
	return worse(code, map->feed_code);
}

static int outcome(struct mapping *mapping, int code)
{
	const int number = atomic_load(&mapping->watch.signal_number);

	if (number)
		return CLI_SIGNALLED + number;
	return atomic_load(&mapping->watch.child_is_lost) ? worse(code, CLI_NOTHING) : code;
}

static int run_map(struct mapping *mapping)
{
	struct map *map = &mapping->map;
	int code;

	if (mtx_init(&map->lock, mtx_plain) != thrd_success)
		return fail(map->cli, -ENOMEM, ABOUT_CONTENT, "map");
	reader_init(&map->reader, STDIN_FILENO, mapping->delimiter, MAP_ARG_BYTES);
	if (mapping->joblog && !joblog_open(map->cli, &map->joblog, mapping->joblog,
					    mapping->resume, !mapping->dry_run))
		return map->cli->exit_code;
	if (mapping->dry_run)
		return map_print(map);
	if (!attach(map->cli, TQ_OPEN_CREATE))
		return map->cli->exit_code;
	map->window = 64 + 4 * (mapping->jobs ? (uint32_t)mapping->jobs : workers_of(map->cli));
	map->tasks = calloc(map->window, sizeof(*map->tasks));
	if (!map->tasks || cnd_init(&map->changed) != thrd_success)
		return fail(map->cli, -ENOMEM, ABOUT_CONTENT, "map");
	watch_block(&mapping->watch);
	progress_init(&map->progress, !mapping->no_progress);
	mapping->options.errors_fd = errors_pipe_open(&mapping->errors);
	mapping->errors.progress = &map->progress;
	if (begin(mapping)) {
		code = outcome(mapping, feed_and_collect(mapping));
	} else {
		code = map->cli->exit_code;
		map->at_end = true;
		map_stop(map);
		code = worse(code, map->count ? map_collect(map) : CLI_OK);
	}
	watch_end(&mapping->watch);
	private_end(&mapping->farm);
	return code;
}

int verb_map(struct cli *cli, int argc, char **argv)
{
	/* Static, as the feeder may still sit in its read when we return. */
	static struct mapping mapping;

	mapping.map.cli = cli;
	mapping.delimiter = '\n';
	task_options_init(&mapping.options);
	if (!options_parse(cli, rows, take_option, &mapping, argc, argv))
		return cli->exit_code;
	if (cli->operand_count == 0)
		return usage(cli, "the command is missing");
	if (mapping.resume && !mapping.joblog)
		return usage(cli, "--resume goes on with a --joblog");
	task_options_finish(cli, &mapping.options);
	mapping.options.spec.flags |= TQ_TASK_KEEP | /* until its output is printed */
				      TQ_TASK_RESERVE;
	mapping.options.is_read = true;
	mapping.map.options = &mapping.options;
	mapping.map.argv = cli->operands;
	mapping.map.argc = cli->operand_count;
	return run_map(&mapping);
}
