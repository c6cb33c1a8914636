/* SPDX-License-Identifier: MIT */
/* What stands in the way: whoever reads it can act on a pid or a number, not on a code. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "advise.h"
#include "errors.h"
#include "format.h"

/* Of the verbs some can wait. */
static const char *let_work(const struct cli *cli)
{
	static const char *const waiting[] = { "submit", "run", "map" };

	for (unsigned i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		if (cli->verb && !strcmp(cli->verb->name, waiting[i]))
			return "let workers catch up, or wait for room: --full-timeout";
	return "let workers catch up, and try again";
}

static void advise_locked(const struct cli *cli)
{
	struct tq_lock_holder holder = { .size = sizeof(holder) };

	if (!cli->tq || tq_lock_blame(cli->tq, &holder) < 0)
		return;
	if (holder.tid == 0)
		complain_more("it has been let go meanwhile: try again");
	else if (holder.state == 'T' || holder.state == 't')
		complain_more("it is held by process %u, which is stopped (%c)\n"
			      "`kill -CONT %u` lets it go on, `kill -KILL %u` does no harm either",
			      holder.pid, (int)holder.state, holder.pid, holder.pid);
	else
		complain_more("it is held by process %u (thread %u), state %c\n"
			      "if that is stuck, `kill -KILL %u` does no harm",
			      holder.pid, holder.tid, holder.state ? (int)holder.state : '?',
			      holder.pid);
}

/* Whether it was the queue that is full. */
static bool advise_full_queue(const struct cli *cli)
{
	struct tq_queue_info queue = { .size = sizeof(queue) };
	const uint32_t *depth = queue.counters.depth;

	if (tq_queue_info(cli->tq, cli->queue, &queue) < 0 || queue.depth_max == 0)
		return false;

	const uint32_t waiting =
		depth[TQ_BLOCKED] + depth[TQ_DELAYED] + depth[TQ_READY] + queue.counters.held;

	if (waiting < queue.depth_max)
		return false;
	complain_more("queue \"%s\" holds %u waiting tasks, its limit is %llu\n%s", cli->queue,
		      waiting, (unsigned long long)queue.depth_max, let_work(cli));
	return true;
}

static void advise_full_records(const struct cli *cli, const struct tq_segment_info *info)
{
	complain_more("all %llu task records of segment \"%s\" are taken: by %llu unfinished %s\n"
		      "and %llu finished ones that are kept (`taskq forget` frees these)\n%s",
		      (unsigned long long)info->tasks_max, cli->segment,
		      (unsigned long long)info->tasks_unfinished,
		      format_plural(info->tasks_unfinished, "task", "tasks"),
		      (unsigned long long)(info->tasks_count - info->tasks_unfinished),
		      let_work(cli));
}

static void advise_full_memory(const struct cli *cli, const struct tq_segment_info *info)
{
	char used[FORMAT_MAX], max[FORMAT_MAX];

	complain_more("segment \"%s\" has %s of its %s memory in use, for %llu unfinished tasks\n"
		      "and %llu finished ones\n%s",
		      cli->segment, format_size(info->used_bytes, used),
		      format_size(info->max_bytes, max), (unsigned long long)info->tasks_unfinished,
		      (unsigned long long)(info->tasks_count - info->tasks_unfinished),
		      let_work(cli));
}

static void advise_full(const struct cli *cli)
{
	struct tq_segment_info info = { .size = sizeof(info) };

	if (!cli->tq || tq_segment_info(cli->tq, &info) < 0 || advise_full_queue(cli))
		return;
	if (info.tasks_count >= info.tasks_max)
		advise_full_records(cli, &info);
	else
		advise_full_memory(cli, &info);
}

static void advise_no_space(const struct cli *cli)
{
	char *directory = strdup(cli->segment[0] == '/' ? cli->segment : "/dev/shm/");
	char *slash = directory ? strrchr(directory, '/') : NULL;
	char found[FORMAT_MAX], all[FORMAT_MAX];
	struct statvfs fs;

	if (slash)
		slash[1] = '\0';
	if (slash && statvfs(directory, &fs) == 0)
		complain_more("%s has %s free of %s, a segment grows by 1M at a time", directory,
			      format_size((uint64_t)fs.f_bavail * fs.f_frsize, found),
			      format_size((uint64_t)fs.f_blocks * fs.f_frsize, all));
	free(directory);
}

/* A removed segment has no name any more. */
static void advise_shutdown(const struct cli *cli)
{
	struct tq_segment_info info = { .size = sizeof(info) };

	if (tq_segment_info(cli->tq, &info) == 0 && info.path[0] == '\0')
		complain_more("it has been destroyed");
	else
		complain_more("it is shutting down: `taskq shutdown --undo` opens it again");
}

void advise(const struct cli *cli, int r)
{
	if (r == TQ_ESHUTDOWN)
		advise_shutdown(cli);
	else if (r == TQ_ELOCKED)
		advise_locked(cli);
	else if (r == TQ_EFULL)
		advise_full(cli);
	else if (r == -ENOSPC)
		advise_no_space(cli);
}
