/* SPDX-License-Identifier: MIT */
/* A farm of this process alone, on a queue of its own, for `run` and `map`. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"
#include "tools/taskq/run/private.h"

enum {
	QUEUES_MAX = 256,      /* private farms of one segment at a time */
	TAIL_LEAST = 64 << 10, /* of a command's output; the library's default */
	TAIL_MOST = 1 << 20,   /* the library's limit */
	TAILS_SHARE = 16,      /* part of the segment that all tails may take */
};

static bool is_idle(const struct tq_queue_info *queue)
{
	const uint32_t *depth = queue->counters.depth;

	return queue->workers == 0 && queue->flags == 0 && depth[TQ_BLOCKED] == 0 &&
	       depth[TQ_DELAYED] == 0 && depth[TQ_READY] == 0 && queue->counters.held == 0 &&
	       depth[TQ_RUNNING] == 0;
}

/* The segment's file, which is there to be locked and never read. */
static int open_file(struct cli *cli)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	int r = tq_segment_info(cli->tq, &info);

	if (r < 0)
		return r;
	r = open(info.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return r < 0 ? -errno : r;
}

/* One byte of the file stands for each queue.  The lock goes with the last process that
 * has the descriptor: the farm, when we are killed. */
static bool reserve(int fd, unsigned number)
{
	struct flock range = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = number,
		.l_len = 1,
	};

	return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

/* Makes queue @number, or finds it without anything in it.  1, 0 it is in use, or an error. */
static int take_queue(struct cli *cli, unsigned number, char name[TQ_NAME_MAX + 1])
{
	struct tq_queue_info queue = { .size = sizeof(queue) };
	int r;

	snprintf(name, TQ_NAME_MAX + 1, "private-%u", number);
	r = tq_queue_info(cli->tq, name, &queue);
	if (r == 0)
		return is_idle(&queue);
	if (r == -ENOENT)
		r = tq_queue_set(cli->tq, name, NULL);
	return r < 0 ? r : 1;
}

/* Names are used again: there are few places for queues. */
bool private_queue(struct cli *cli, struct private_farm *farm)
{
	int r = 0;

	farm->pid = 0;
	farm->fd = open_file(cli);
	if (farm->fd < 0)
		r = farm->fd;
	for (unsigned i = 1; r == 0 && i <= QUEUES_MAX; i++)
		if (reserve(farm->fd, i))
			r = take_queue(cli, i, farm->queue);
	if (r > 0)
		return true;
	cli->exit_code = fail(cli, r ? r : TQ_EFULL, ABOUT_QUEUE, "a private queue");
	farm->queue[0] = '\0';
	return false;
}

/* Our parent was killed: nobody else will ever want these tasks. */
static void clear_up(struct cli *cli, const struct private_farm *farm, pid_t parent)
{
	if (getppid() != parent && tq_queue_steer(cli->tq, farm->queue, TQ_QUEUE_PURGE) < 0)
		complain("queue \"%s\" could not be purged", farm->queue);
}

/* As much of each output as the segment can well hold: who runs a command here reads it. */
static uint64_t tail_bytes(struct cli *cli, uint32_t workers)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	uint64_t bytes = TAIL_MOST;

	if (tq_segment_info(cli->tq, &info) < 0)
		return TAIL_LEAST;
	while (bytes > TAIL_LEAST && bytes * workers > info.max_bytes / TAILS_SHARE)
		bytes /= 2;
	return bytes;
}

/* The farm tells what it does, so also that it was asked to stop.  Asked by our parent's
 * death there is nobody to finish anything for: the second request is not to wait. */
static void on_farm_line(void *arg, const char *text)
{
	const pid_t *parent = arg;

	(void)text;
	if (getppid() != *parent)
		tq_farm_stop();
}

static void on_farm_event(void *arg, const struct tq_farm_event *event)
{
	if (event->type == TQ_FARM_SAYS)
		on_farm_line(arg, event->text);
	else
		complain("%s", event->text);
}

static _Noreturn void be_farm(struct cli *cli, struct private_farm *farm, uint32_t workers,
			      const struct watch *watch, pid_t parent)
{
	const char *queues[] = { farm->queue };
	const struct tq_farm_opts opts = {
		.size = sizeof(opts),
		.queues = queues,
		.queue_count = 1,
		.workers = workers,
		.output_tail_bytes = tail_bytes(cli, workers),
		.report = on_farm_event,
		.report_arg = &parent,
	};
	int r;

	/* Terminal signals are the parent's: it cancels tasks one by one. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(CLI_NOTHING);
	watch_child_restore(watch);
	r = tq_farm_run(cli->tq, &opts);
	if (r < 0)
		fail(cli, r, ABOUT_QUEUE, "private workers");
	clear_up(cli, farm, parent);
	_exit(r < 0 ? CLI_NOTHING : CLI_OK);
}

bool private_start(struct cli *cli, struct private_farm *farm, uint32_t workers,
		   const struct watch *watch)
{
	const pid_t parent = getpid();

	fflush(NULL); /* or the child would print it again */
	farm->pid = fork();
	if (farm->pid == 0)
		be_farm(cli, farm, workers, watch, parent);
	if (farm->pid > 0)
		return true;
	cli->exit_code = fail(cli, -errno, ABOUT_QUEUE, "private workers");
	farm->pid = 0;
	return false;
}

void private_end(struct private_farm *farm)
{
	if (farm->pid <= 0)
		return;
	kill(farm->pid, SIGTERM);
	while (waitpid(farm->pid, NULL, 0) < 0 && errno == EINTR)
		;
	farm->pid = 0;
}
