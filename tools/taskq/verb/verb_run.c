/* SPDX-License-Identifier: MIT */
/* taskq run: a command as a task, in the foreground. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors.h"
#include "json.h"
#include "outcome.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/task_options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/run/errors_pipe.h"
#include "tools/taskq/run/private.h"
#include "tools/taskq/run/stream.h"
#include "tools/taskq/run/waiting.h"
#include "tools/taskq/run/watch.h"

static const struct option_row rows[] = {
	TASK_OPTION_ROWS,
	{ TASK_OPTION_DELAY, "delay", "D", "start not before, from now" },
	{ 'o', "output", "FILE",
	  "its output goes there instead of being kept; %i is its id, %a the attempt" },
	{ TASK_OPTION_APPEND, "append", NULL, "to FILE, instead of emptying it first" },
	{ TASK_OPTION_KEEP, "keep", NULL, "keep its record until `taskq forget`" },
	OPTION_ROW_COMMAND,
	{ 0, NULL, NULL, NULL },
};

struct run {
	struct cli *cli;
	struct task_options options;
	uint64_t id;
	struct private_farm farm;
	struct watch watch;
	struct errors_pipe errors;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct run *run = ctx;

	return task_option(cli, &run->options, key, arg);
}

/* In the watching thread, or when nobody reads the output any more. */
static void cancel_run(void *arg)
{
	struct run *run = arg;
	const int r = tq_task_steer(run->cli->tq, run->id, TQ_TASK_ACTION_CANCEL);

	if (r < 0 && r != TQ_ESTATE && r != TQ_EGONE)
		fail_task(run->cli, r, run->id);
}

/* A pipe or a file is the command's own, too; of a terminal, and of nothing, there is nothing
 * to hand on. */
static void offer_input(struct run *run)
{
	const int mode = fcntl(STDIN_FILENO, F_GETFL);
	struct stat st, null;

	if (mode < 0 || (mode & O_ACCMODE) == O_WRONLY || fstat(STDIN_FILENO, &st) < 0 ||
	    isatty(STDIN_FILENO) ||
	    (stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev && S_ISCHR(st.st_mode)))
		return;
	if (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode))
		run->options.exec_flags |= TQ_EXEC_READER_INPUT;
	else
		complain("run: standard input is neither a pipe nor a file\n"
			 "the command gets none");
}

static bool submit_command(struct run *run)
{
	struct cli *cli = run->cli;
	const char **argv = calloc((size_t)cli->operand_count + 1, sizeof(*argv));
	void *payload = NULL;
	uint64_t bytes;
	int r = -ENOMEM;

	cli->exit_code = CLI_SELF;
	run->options.is_read = true;
	run->options.spec.flags |= TQ_TASK_RESERVE; /* it has a worker, or brings one */
	for (int i = 0; argv && i < cli->operand_count; i++)
		argv[i] = cli->operands[i];
	if (argv)
		task_options_hint(cli, argv);
	if (argv)
		r = task_options_command(cli, &run->options, argv, &payload, &bytes);
	if (r == 0)
		r = task_options_submit(cli, &run->options, payload, bytes, &run->id);
	free(payload);
	free(argv);
	return r == 0;
}

/* Sees to it that somebody runs the task.  A private queue, so that the worker does
 * not begin with whatever else waits in the task's. */
static bool find_worker(struct run *run)
{
	struct tq_task_info info = { .size = sizeof(info) };
	struct tq_task_update update = { .size = sizeof(update), .fields = TQ_UPDATE_QUEUE };
	struct cli *cli = run->cli;
	int r = tq_task_info(cli->tq, run->id, &info);

	if (r < 0 || !(info.flags & TQ_INFO_UNSERVED) || info.state >= TQ_RUNNING)
		return true;
	if (info.flags & TQ_INFO_PAUSED) { /* a private worker would go behind its back */
		complain("queue \"%s\" is paused and has no workers\n"
			 "waiting: `taskq resume %s` and `taskq work -q %s`",
			 info.queue, info.queue, info.queue);
		return true;
	}
	if (!private_queue(cli, &run->farm))
		return false;
	update.queue = run->farm.queue;
	r = tq_task_update(cli->tq, run->id, &update);
	if (r == TQ_ESTATE)
		return true; /* somebody has just taken it */
	if (r < 0)
		cli->exit_code = fail_task(cli, r, run->id);
	return r == 0 && private_start(cli, &run->farm, 1, &run->watch);
}

static int exit_code(const struct run *run, const struct tq_task_info *info, int streamed,
		     bool is_cut)
{
	const int number = atomic_load(&run->watch.signal_number);

	if (streamed == -EPIPE)
		return CLI_SIGNALLED + SIGPIPE;
	if (number && info->state == TQ_CANCELLED)
		return CLI_SIGNALLED + number;
	return is_cut && outcome_code(info) == CLI_OK ? CLI_SELF : outcome_code(info);
}

/* Streams and waits; the task is submitted and has a worker. */
static int see_through(struct run *run)
{
	/* A farm of our own says itself what keeps it from starting commands. */
	struct stream stream = {
		.id = run->id, .follow = true, .whole = true, .refusal_told = run->farm.pid
	};
	struct tq_task_info info = { .size = sizeof(info) };
	struct cli *cli = run->cli;
	char outcome[OUTCOME_MAX];
	const int streamed = stream_copy(cli, &stream);
	int r;

	if (streamed < 0) {
		if (streamed != -EPIPE && streamed != -EIO) /* said when that is closed */
			fail_task(cli, streamed, run->id);
		cancel_run(run);
	}
	r = wait_task(cli->tq, run->id, TQ_FOREVER_NS, &info);
	if (r < 0)
		return fail_task(cli, r, run->id);
	errors_pipe_end(&run->errors);
	if (!outcome_is_plain(&info))
		complain("%s", outcome_format(&info, outcome));
	if (streamed < 0 && streamed != -EPIPE)
		return CLI_SELF;
	return exit_code(run, &info, streamed, streamed == 0 && stream_is_cut(&stream, &info));
}

static int run_command(struct run *run)
{
	struct cli *cli = run->cli;
	int r, code = CLI_SELF;

	if (!attach(cli, TQ_OPEN_CREATE))
		return cli->exit_code;
	watch_block(&run->watch);
	run->options.errors_fd = errors_pipe_open(&run->errors);
	if (!submit_command(run))
		return cli->exit_code;
	if (!find_worker(run)) {
		cancel_run(run);
	} else {
		signal(SIGPIPE, SIG_IGN); /* not before the fork: commands inherit it */
		r = errors_pipe_start(&run->errors);
		if (r == 0)
			r = watch_start(&run->watch, run->farm.pid, cancel_run, run);
		if (r < 0) {
			fail(cli, r, ABOUT_CONTENT, "run");
			cancel_run(run);
		} else {
			code = see_through(run);
		}
	}
	watch_end(&run->watch);
	private_end(&run->farm);
	return code;
}

int verb_run(struct cli *cli, int argc, char **argv)
{
	struct run run = { .cli = cli };
	int code;

	cli->transparent = true;
	task_options_init(&run.options);
	if (!options_parse(cli, rows, take_option, &run, argc, argv)) {
		code = cli->exit_code;
	} else if (cli->operand_count == 0) {
		code = usage(cli, "the command is missing");
	} else {
		task_options_finish(cli, &run.options);
		offer_input(&run); /* before a descriptor of ours can be the first one */
		code = run_command(&run);
	}
	task_options_free(&run.options);
	return code;
}
