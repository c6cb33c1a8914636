/* SPDX-License-Identifier: MIT */
/* The collecting half of `map`: tasks that have ended out of the window, their output
 * to standard output. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "errors.h"
#include "outcome.h"
#include "signals.h"
#include "tools/taskq/print/refusal.h"
#include "tools/taskq/run/map.h"
#include "tools/taskq/run/stream.h"
#include "tools/taskq/run/waiting.h"

/* While lines may still come, a look at the window's newest tasks at least so often:
 * they are not among those that the sleep began with. */
#define LOOK_NS 20000000ull

/* While tasks run that may write more than is kept for us, we look for it: soon while there
 * was some at the last look, and else less and less often. */
#define READ_FIRST_NS 1000000ull /* 1 ms */
#define READ_LAST_NS 50000000ull /* 50 ms */

struct collector {
	struct map *map;
	uint64_t *ids; /* of the tasks waited for; room for a window */
	unsigned count;
	uint64_t timeout_ns;
	uint64_t read_ns;    /* between two looks for output */
	uint64_t read_at_ns; /* the next one */
	bool is_full;	     /* output could not be kept: all is being cancelled */
	int code;
	uint64_t failed; /* while nothing was being cancelled */
	bool is_unread;	 /* nobody reads standard output any more */
};

void map_cancel(struct map *map, uint64_t id)
{
	const int r = tq_task_steer(map->cli->tq, id, TQ_TASK_ACTION_CANCEL);

	if (r < 0 && r != TQ_ESTATE && r != TQ_EGONE)
		fail_task(map->cli, r, id);
}

void map_stop(void *arg)
{
	struct map *map = arg;
	uint64_t *ids;
	unsigned count;

	mtx_lock(&map->lock);
	map->is_stopping = true;
	count = map->count;
	ids = calloc(count + 1u, sizeof(*ids));
	for (unsigned i = 0; ids && i < count; i++)
		ids[i] = map->tasks[i].id;
	cnd_broadcast(&map->changed);
	mtx_unlock(&map->lock);
	/* Newest first: none of those that wait gets a worker meanwhile. */
	for (unsigned i = count; ids && i-- > 0;)
		map_cancel(map, ids[i]);
	free(ids);
}

/* Waits for something in flight; false when nothing is and nothing will come. */
static bool look_at_window(struct collector *collector)
{
	struct map *map = collector->map;
	bool more_may_come;

	mtx_lock(&map->lock);
	signals_release();
	for (;;) {
		more_may_come = !map->at_end && (!map->is_stopping || map->is_submitting);
		if (map->count > 0 || !more_may_come)
			break;
		cnd_wait(&map->changed, &map->lock);
	}
	signals_hold();
	collector->count = map->count;
	for (unsigned i = 0; i < map->count; i++)
		collector->ids[i] = map->tasks[i].id;
	collector->timeout_ns = more_may_come && map->count < map->window &&
						collector->read_ns > LOOK_NS
					? LOOK_NS
					: collector->read_ns;
	mtx_unlock(&map->lock);
	return collector->count > 0;
}

/* The index of a task that has ended, or an error of tq_wait(). */
static int wait_for_one(struct collector *collector)
{
	const struct tq_wait_opts any = { .size = sizeof(any), .flags = TQ_WAIT_ANY };
	int r;

	if (collector->map->in_order)
		return wait_task(collector->map->cli->tq, collector->ids[0], collector->timeout_ns,
				 NULL);
	signals_sleep_begin();
	r = tq_wait(collector->map->cli->tq, collector->ids, collector->count,
		    collector->timeout_ns, &any, NULL);
	signals_sleep_end();
	return r;
}

/* Which of them somebody else has forgotten; the wait does not tell. */
static bool find_gone(const struct collector *collector, uint32_t *ret_index)
{
	for (unsigned i = 0; i < collector->count; i++) {
		struct tq_task_info info = { .size = sizeof(info) };

		if (tq_task_info(collector->map->cli->tq, collector->ids[i], &info) != TQ_EGONE)
			continue;
		*ret_index = i;
		return true;
	}
	return false;
}

static struct map_task take_out(struct map *map, unsigned index)
{
	struct map_task task;

	mtx_lock(&map->lock);
	task = map->tasks[index];
	map->count--;
	memmove(&map->tasks[index], &map->tasks[index + 1],
		(map->count - index) * sizeof(map->tasks[0]));
	cnd_broadcast(&map->changed);
	mtx_unlock(&map->lock);
	return task;
}

/* The feeder appends to the window, and only we take out of it: places stay. */
static struct spool **spool_of(struct map *map, unsigned index)
{
	struct spool **spool;

	mtx_lock(&map->lock);
	spool = &map->tasks[index].spool;
	mtx_unlock(&map->lock);
	return spool;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static bool is_running(struct map *map, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };

	if (tq_task_info(map->cli->tq, id, &info) < 0)
		return false;
	if (!map->refusal_told)
		map->refusal_told = refusal_say(&info);
	return info.state == TQ_RUNNING;
}

/* What running tasks have written comes here before their rings are full of it. */
static void read_running(struct collector *collector)
{
	struct cli *cli = collector->map->cli;
	bool some = false;

	for (unsigned i = 0; i < collector->count; i++) {
		const uint64_t id = collector->ids[i];
		int r = is_running(collector->map, id) ? 1 : 0;

		while (r > 0 && (r = spool_read(cli, id, spool_of(collector->map, i))) > 0)
			some = true;
		if (r < 0 && r != TQ_EGONE && r != -EINTR) {
			collector->code = worse(collector->code, fail_task(cli, r, id));
			collector->is_full = true;
			map_stop(collector->map);
			return;
		}
	}
	collector->read_ns = some ? READ_FIRST_NS : collector->read_ns * 2;
	if (collector->read_ns > READ_LAST_NS)
		collector->read_ns = READ_LAST_NS;
	collector->read_at_ns = now_ns() + collector->read_ns;
}

static bool is_stopping(struct map *map)
{
	bool stopping;

	mtx_lock(&map->lock);
	stopping = map->is_stopping;
	mtx_unlock(&map->lock);
	return stopping;
}

static void write_log(struct collector *collector, const struct map_task *task,
		      const struct tq_task_info *info)
{
	struct map *map = collector->map;
	const int r = joblog_add(&map->joblog, task->number, task->line, info);

	if (r == 0)
		return;
	complain("map: the job log cannot be written: %s", strerror(-r));
	collector->code = worse(collector->code, CLI_NOTHING);
	fclose(map->joblog.file);
	map->joblog.file = NULL; /* said once */
}

/* What fails because all is being cancelled is no failure of its own. */
static void count_failure(struct collector *collector)
{
	struct map *map = collector->map;

	if (!map->halt || is_stopping(map) || ++collector->failed < map->halt)
		return;
	complain("map: %llu failed: the rest is cancelled", (unsigned long long)collector->failed);
	map_stop(map);
}

static void report(struct collector *collector, const struct map_task *task, struct stream *stream)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char id[TQ_ID_TEXT_MAX], outcome[OUTCOME_MAX];
	const int r = tq_task_info(collector->map->cli->tq, task->id, &info);

	if (r == 0 && !collector->is_unread && stream_is_cut(stream, &info))
		collector->code = worse(collector->code, CLI_NOTHING);
	if (r == 0 && collector->map->joblog.file)
		write_log(collector, task, &info);
	if (r == 0 && info.state == TQ_DONE)
		return;
	collector->map->progress.failed++;
	collector->code = worse(collector->code, CLI_NOTHING);
	if (r < 0)
		fail_task(collector->map->cli, r, task->id);
	else if (info.state != TQ_CANCELLED || !is_stopping(collector->map))
		complain("map: %s \"%s\": %s", tq_task_id_format(task->id, id), task->line,
			 outcome_format(&info, outcome));
	count_failure(collector);
}

/* Prints what a task has written; a reader that has gone away ends everything. */
static void print_output(struct collector *collector, const struct map_task *task,
			 struct stream *ret_stream)
{
	int r;

	*ret_stream = (struct stream){ .id = task->id };
	if (collector->is_unread)
		return;
	r = spool_print(collector->map->cli, task->id, task->spool, ret_stream);
	if (r == -EPIPE || r == -EIO) {
		collector->is_unread = true;
		collector->code = r == -EPIPE ? CLI_SIGNALLED + SIGPIPE : CLI_NOTHING;
		map_stop(collector->map);
	} else if (r < 0) {
		collector->code =
			worse(collector->code, fail_task(collector->map->cli, r, task->id));
	}
}

/* To a terminal, where the line of progress is, or to a reader, who may take his time. */
static void print_beside(struct collector *collector, const struct map_task *task,
			 struct stream *ret_stream)
{
	struct progress *progress = &collector->map->progress;
	const bool is_shared = isatty(STDOUT_FILENO);

	if (is_shared)
		progress_pause(progress);
	print_output(collector, task, ret_stream);
	if (is_shared && ret_stream->offset)
		progress->is_inside_line = ret_stream->inside_line;
	if (is_shared)
		progress_go_on(progress);
}

/* What is in flight, and whether there will be more, is the feeder's to say. */
static void show_progress(struct map *map)
{
	mtx_lock(&map->lock);
	const unsigned waiting = map->count;
	const bool more = !map->at_end;

	mtx_unlock(&map->lock);
	progress_draw(&map->progress, waiting, more);
}

static void finish(struct collector *collector, const struct map_task *task)
{
	struct cli *cli = collector->map->cli;
	struct stream stream;

	collector->map->progress.ended++;
	print_beside(collector, task, &stream);
	progress_pause(&collector->map->progress);
	report(collector, task, &stream);
	progress_go_on(&collector->map->progress);

	const int r = tq_task_steer(cli->tq, task->id, TQ_TASK_ACTION_FORGET);

	if (r < 0 && r != TQ_EGONE)
		fail_task(cli, r, task->id);
	spool_free(task->spool);
	free(task->line);
}

int map_collect(struct map *map)
{
	struct collector collector = { .map = map, .read_ns = READ_FIRST_NS };

	collector.ids = calloc(map->window, sizeof(*collector.ids));
	if (!collector.ids)
		return fail(map->cli, -ENOMEM, ABOUT_CONTENT, "map");
	while (look_at_window(&collector)) {
		show_progress(map);

		const int r = wait_for_one(&collector);
		uint32_t index = r < 0 ? 0 : (uint32_t)r;

		if (!collector.is_full && now_ns() >= collector.read_at_ns)
			read_running(&collector);
		if (r == -EINTR || r == -ETIMEDOUT)
			continue;
		if (r < 0 && (r != TQ_EGONE || !find_gone(&collector, &index))) {
			collector.code = fail(map->cli, r, ABOUT_CONTENT, "map");
			map_stop(map);
			break;
		}

		const struct map_task task = take_out(map, index);

		finish(&collector, &task);
	}
	progress_end(&map->progress);
	free(collector.ids);
	return collector.code;
}
