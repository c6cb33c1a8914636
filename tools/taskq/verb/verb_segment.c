/* SPDX-License-Identifier: MIT */
/* Verbs of the whole segment: create, destroy, info, shutdown. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "parse.h"
#include "signals.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/run/waiting.h"

enum key {
	KEY_MAX = OPTION_OWN,
	KEY_TASKS,
	KEY_RETENTION,
	KEY_MODE,
	KEY_TRACE,
	KEY_FORCE,
	KEY_CANCEL,
	KEY_UNDO,
	KEY_WAIT,
};

/* Limits of tq_open_opts.max_bytes. */
#define MAX_LEAST (4ull << 20)
#define MAX_MOST (256ull << 30)

static const struct option_row create_rows[] = {
	{ KEY_MAX, "max", "SIZE", "it may grow to this; default half its tmpfs, at most 1G" },
	{ KEY_TASKS, "tasks", "N", "task records it may hold; default 1 for each 256 bytes" },
	{ KEY_RETENTION, "retention", "D", "finished tasks stay so long; default 1h" },
	{ KEY_MODE, "mode", "OCTAL", "permissions; default 0600" },
	{ KEY_TRACE, "trace", "N",
	  "transitions that it keeps for `taskq trace`, or off; default 4096" },
	{ 0, NULL, NULL, NULL },
};

static bool take_mode(struct cli *cli, struct tq_open_opts *opts, const char *arg)
{
	char *end;
	const unsigned long mode = strtoul(arg, &end, 8);

	if (*arg < '0' || *arg > '7' || *end || mode > 0777 || (mode & 0600) != 0600)
		return refuse(cli, "--mode", arg, "not such a mode",
			      "octal permissions from 0600 to 0777");
	opts->mode = (uint32_t)mode;
	return true;
}

static bool take_trace(struct cli *cli, struct tq_open_opts *opts, const char *arg)
{
	uint64_t count;

	if (!strcmp(arg, "off")) {
		opts->trace_entries = TQ_OFF;
		return true;
	}
	if (!option_count_or(cli, "--trace", arg, TQ_TRACE_LEAST, TQ_TRACE_MOST, ", or off",
			     &count))
		return false;
	opts->trace_entries = (uint32_t)count;
	return true;
}

static bool take_create(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct tq_open_opts *opts = ctx;

	switch (key) {
	case KEY_MAX:
		return option_size(cli, "--max", arg, MAX_LEAST, MAX_MOST, &opts->max_bytes);
	case KEY_TASKS:
		return option_count(cli, "--tasks", arg, 1, (1u << 24) - 1, &opts->tasks_max);
	case KEY_RETENTION:
		return option_time_limit(cli, "--retention", arg, &opts->retention_ns);
	case KEY_MODE:
		return take_mode(cli, opts, arg);
	case KEY_TRACE:
		return take_trace(cli, opts, arg);
	default:
		return option_global(cli, NULL, key, arg);
	}
}

/* Whether only a queue was asked for, and the segment is there: it is attached then. */
static bool has_segment(struct cli *cli, const struct tq_open_opts *opts)
{
	const struct tq_open_opts there = {
		.size = sizeof(there),
		.flags = cli->foreign ? TQ_OPEN_FOREIGN : 0,
	};
	struct tq_queue_info info = { .size = sizeof(info) };

	if (!cli->queue_given || opts->max_bytes || opts->tasks_max || opts->retention_ns ||
	    opts->mode || opts->trace_entries || !segment_name_ok(cli->segment))
		return false;
	signals_hold();
	if (tq_open(cli->segment, &there, &cli->tq) < 0)
		return false;
	if (tq_queue_info(cli->tq, cli->queue, &info) == -ENOENT)
		return true;
	detach(cli);
	return false;
}

static int create_queue(struct cli *cli)
{
	const int r = tq_queue_set(cli->tq, cli->queue, NULL);

	return r < 0 ? fail(cli, r, ABOUT_QUEUE, "create queue \"%s\"", cli->queue) : CLI_OK;
}

int verb_create(struct cli *cli, int argc, char **argv)
{
	struct tq_open_opts opts = {
		.size = sizeof(opts),
		.flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
	};
	int code;

	if (!options_parse(cli, create_rows, take_create, &opts, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	if (cli->foreign || opts.mode & 077)
		opts.flags |= TQ_OPEN_FOREIGN; /* asked for by the mode itself */
	if (has_segment(cli, &opts)) {
		code = create_queue(cli);
		if (code == CLI_OK)
			complain("segment \"%s\" exists already; queue \"%s\" is new in it",
				 cli->segment, cli->queue);
		return code;
	}
	if (!attach_new(cli, &opts))
		return cli->exit_code;
	return cli->queue_given ? create_queue(cli) : CLI_OK;
}

static const struct option_row destroy_rows[] = {
	{ KEY_FORCE, "force", NULL,
	  "although it has unfinished tasks, workers or schedules, or is damaged" },
	{ 0, NULL, NULL, NULL },
};

static bool take_force(struct cli *cli, void *ctx, int key, const char *arg)
{
	uint32_t *flags = ctx;

	if (key != KEY_FORCE)
		return option_global(cli, NULL, key, arg);
	*flags |= TQ_DESTROY_FORCE;
	return true;
}

/* What would be lost, in numbers. */
static void advise_busy(struct cli *cli)
{
	const struct tq_open_opts opts = { .size = sizeof(opts), .flags = TQ_OPEN_READONLY };
	struct tq_segment_info info = { .size = sizeof(info) };

	if (tq_open(cli->segment, &opts, &cli->tq) < 0 || tq_segment_info(cli->tq, &info) < 0)
		return;
	complain_more("it has %llu unfinished %s, %u %s, %u %s",
		      (unsigned long long)info.tasks_unfinished,
		      format_plural(info.tasks_unfinished, "task", "tasks"), info.workers,
		      format_plural(info.workers, "worker or master", "workers and masters"),
		      info.schedules, format_plural(info.schedules, "schedule", "schedules"));
	if (info.schedules)
		complain_more("`taskq schedule list` shows these");
}

int verb_destroy(struct cli *cli, int argc, char **argv)
{
	uint32_t flags = 0;
	int r, code;

	if (!options_parse(cli, destroy_rows, take_force, &flags, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	if (!segment_name_ok(cli->segment)) {
		refuse(cli, "TASKQ_SEGMENT", cli->segment, "not a segment", FORM_SEGMENT);
		return CLI_USAGE;
	}
	r = tq_destroy(cli->segment, flags);
	if (r >= 0)
		return CLI_OK;
	if (r == TQ_ELOCKED) /* who has the lock is seen without it */
		attach(cli, TQ_OPEN_READONLY);
	code = fail(cli, r, ABOUT_REMOVAL, "segment \"%s\"", cli->segment);
	if (r == -EBUSY)
		advise_busy(cli);
	return code;
}

static void print_info(const struct tq_segment_info *info)
{
	char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];

	printf("path        %s\n", info->path[0] ? info->path : "(removed)");
	printf("owner       uid %u, mode %04o\n", info->owner_uid, info->mode);
	printf("created     %s\n", format_local(info->created_unix_ns, a));
	printf("state       %s\n", info->shutting_down ? "shutting down" : "open");
	printf("memory      %s used of %s reserved, may grow to %s\n",
	       format_size(info->used_bytes, a), format_size(info->reserved_bytes, b),
	       format_size(info->max_bytes, c));
	printf("tasks       %llu %s of at most %llu, %llu unfinished\n",
	       (unsigned long long)info->tasks_count,
	       format_plural(info->tasks_count, "record", "records"),
	       (unsigned long long)info->tasks_max, (unsigned long long)info->tasks_unfinished);
	printf("retention   %s\n", info->retention_ns == TQ_UNLIMITED
					   ? "without limit"
					   : format_duration(info->retention_ns, a));
	printf("attached    %u %s, %u %s\n", info->workers,
	       format_plural(info->workers, "worker or master", "workers and masters"),
	       info->sleepers, format_plural(info->sleepers, "sleeper", "sleepers"));
	printf("history     %llu %s, %llu rolled back after a death, %llu %s "
	       "reclaimed from dead workers\n",
	       (unsigned long long)info->transactions,
	       format_plural(info->transactions, "transaction", "transactions"),
	       (unsigned long long)info->rollbacks, (unsigned long long)info->reclaimed,
	       format_plural(info->reclaimed, "attempt", "attempts"));
	if (info->trace_entries)
		printf("trace       %llu %s (ring of %u)\n", (unsigned long long)info->traced,
		       format_plural(info->traced, "transition", "transitions"),
		       info->trace_entries);
	if (info->schedules)
		printf("schedules   %u\n", info->schedules);
	if (info->commands_open)
		printf("commands    %u not answered yet\n", info->commands_open);
	if (info->lock_holder)
		printf("lock        held by thread %u\n", info->lock_holder);
}

int verb_info(struct cli *cli, int argc, char **argv)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	int r;

	if (!options_parse(cli, options_none, NULL, NULL, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL) || !attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	r = tq_segment_info(cli->tq, &info);
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "segment \"%s\"", cli->segment);
	if (cli->json)
		json_line(json_of_segment(&info));
	else
		print_info(&info);
	return CLI_OK;
}

static const struct option_row shutdown_rows[] = {
	{ KEY_CANCEL, "cancel", NULL, "cancel what waits and runs, instead of finishing it" },
	{ KEY_UNDO, "undo", NULL, "take tasks again" },
	{ KEY_WAIT, "wait", NULL, "return when all tasks have ended and all workers left" },
	{ 0, NULL, NULL, NULL },
};

struct shutdown {
	uint32_t flags;
	bool wait;
};

static bool take_shutdown(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct shutdown *shutdown = ctx;

	switch (key) {
	case KEY_CANCEL:
		shutdown->flags |= TQ_SHUTDOWN_CANCEL;
		return true;
	case KEY_UNDO:
		shutdown->flags |= TQ_SHUTDOWN_UNDO;
		return true;
	case KEY_WAIT:
		shutdown->wait = true;
		return true;
	default:
		return option_global(cli, NULL, key, arg);
	}
}

/* Waits for some unfinished task; false when there is none. */
static bool wait_for_task(struct cli *cli)
{
	const struct tq_task_filter unfinished = {
		.size = sizeof(unfinished),
		.states = 1u << TQ_BLOCKED | 1u << TQ_DELAYED | 1u << TQ_READY | 1u << TQ_RUNNING,
	};
	struct tq_task_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;

	if (tq_task_list(cli->tq, &unfinished, &cursor, &info, 1) <= 0)
		return false;
	const int r = wait_task(cli->tq, info.id, TQ_FOREVER_NS, NULL);

	return r != TQ_ESHUTDOWN && r != TQ_EREMOVED;
}

/* Workers leave one by one, and nothing can be waited for but their number. */
static int wait_for_workers(struct cli *cli)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct tq_segment_info info = { .size = sizeof(info) };
	int r;

	while ((r = tq_segment_info(cli->tq, &info)) == 0 && info.workers > 0) {
		signals_point();
		nanosleep(&pause, NULL);
		info.size = sizeof(info);
	}
	return r;
}

static int wait_for_end(struct cli *cli)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	int r = tq_segment_info(cli->tq, &info);

	if (r == 0 && info.tasks_unfinished && info.workers == 0)
		complain("%llu %s unfinished and no worker is there\n"
			 "start one (`taskq work`), or cancel what is left: `taskq shutdown "
			 "--cancel`",
			 (unsigned long long)info.tasks_unfinished,
			 format_plural(info.tasks_unfinished, "task is", "tasks are"));
	while (wait_for_task(cli))
		;
	r = wait_for_workers(cli);
	return r < 0 ? fail(cli, r, ABOUT_CONTENT, "shutdown --wait") : CLI_OK;
}

/* It would wait for its own task: the library knows who is inside which. */
static bool is_inside_task(struct cli *cli)
{
	const char *text = getenv("TASKQ_ID");
	uint64_t id;

	return text && tq_task_id_parse(text, &id) == 0 &&
	       tq_wait(cli->tq, &id, 1, 1, NULL, NULL) == -EDEADLK;
}

int verb_shutdown(struct cli *cli, int argc, char **argv)
{
	struct shutdown shutdown = { 0 };
	int r;

	if (!options_parse(cli, shutdown_rows, take_shutdown, &shutdown, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	if (shutdown.flags & TQ_SHUTDOWN_UNDO &&
	    (shutdown.wait || shutdown.flags != TQ_SHUTDOWN_UNDO))
		return usage(cli, "--undo stands alone");
	if (!attach(cli, 0))
		return cli->exit_code;
	if (shutdown.wait && is_inside_task(cli)) {
		complain("shutdown --wait: it is called inside a task of this segment, which would "
			 "wait for itself\nleave out --wait, or call it from outside");
		return CLI_NOTHING;
	}
	r = tq_shutdown(cli->tq, shutdown.flags);
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "shutdown");
	return shutdown.wait ? wait_for_end(cli) : CLI_OK;
}
