/* SPDX-License-Identifier: MIT */
/* Bare `taskq`: segment, queues and workers at a glance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "process.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/table.h"
#include "worker_text.h"

enum {
	CHUNK = 16
}; /* queues or workers in memory at a time */

/* Where the rows go: a table for people, an array for programs. */
struct status {
	struct cli *cli;
	struct clocks clocks;
	struct table table;
	json_t *array; /* NULL: print */
};

static void put_segment(const struct cli *cli, const struct tq_segment_info *info)
{
	char used[FORMAT_MAX], max[FORMAT_MAX], age[FORMAT_MAX];
	const uint64_t now_ns = clocks_read().unix_now_ns;

	printf("segment %s: %llu %s, %llu unfinished; memory %s of %s; up %s%s\n", cli->segment,
	       (unsigned long long)info->tasks_count,
	       format_plural(info->tasks_count, "task", "tasks"),
	       (unsigned long long)info->tasks_unfinished, format_size(info->used_bytes, used),
	       format_size(info->max_bytes, max),
	       format_duration(ns_between(info->created_unix_ns, now_ns), age),
	       info->shutting_down ? "; shutting down" : "");
	if (info->schedules)
		printf("%u %s, see `taskq schedule list`\n", info->schedules,
		       format_plural(info->schedules, "schedule", "schedules"));
}

static void put_queue(struct status *status, const struct tq_queue_info *info)
{
	struct table *table = &status->table;
	const uint32_t *depth = info->counters.depth;
	const char *state = info->flags & TQ_QUEUE_PAUSED		      ? "paused"
			    : info->flags & TQ_QUEUE_DRAINING		      ? "draining"
			    : info->flags & TQ_QUEUE_SERVED && !info->servers ? "no servers"
									      : "open";

	if (status->array) {
		json_array_append_new(status->array, json_of_queue(info));
		return;
	}
	table_cell(table, "%s", info->name);
	table_cell(table, "%s", state);
	table_cell(table, "%u", info->workers);
	table_cell(table, "%u", depth[TQ_READY]);
	table_cell(table, "%u", info->counters.held);
	table_cell(table, "%u", depth[TQ_DELAYED] + depth[TQ_BLOCKED]);
	table_cell(table, "%u", depth[TQ_RUNNING]);
	table_cell(table, "%llu", (unsigned long long)info->counters.done);
	table_cell(table, "%llu", (unsigned long long)info->counters.failed);
}

static int each_queue(struct status *status)
{
	struct tq_queue_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_queue_list(status->cli->tq, 0, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			if (!status->cli->queue_given || !strcmp(infos[i].name, status->cli->queue))
				put_queue(status, &infos[i]);
	} while (n > 0);
	return n;
}

static bool is_stopped(const struct tq_worker_info *info)
{
	struct process process;

	return !(info->flags & TQ_WORKER_IS_DYING) && process_read(info->pid, &process) &&
	       process_is_stopped(process.state);
}

static void put_worker_json(struct status *status, const struct tq_worker_info *info)
{
	json_t *object = json_of_worker(info, &status->clocks);

	if (is_stopped(info))
		json_object_set_new(object, "stopped", json_true());
	json_array_append_new(status->array, object);
}

static void put_worker(struct status *status, const struct tq_worker_info *info)
{
	struct table *table = &status->table;
	char id[TQ_ID_TEXT_MAX], age[FORMAT_MAX];

	if (status->array) {
		put_worker_json(status, info);
		return;
	}
	table_cell(table, "%u", info->number);
	table_cell(table, "%s", info->name);
	table_cell(table, "%u", info->pid);
	table_cell(table, "%s", is_stopped(info) ? "stopped" : worker_state_name(info));
	table_cell(table, "%s",
		   format_duration(ns_between(info->registered_ns, status->clocks.now_ns), age));
	table_cell(table, "%llu", (unsigned long long)info->tasks);
	table_cell(table, "%s", info->task ? tq_task_id_format(info->task, id) : "-");
	table_cell(table, "%s", info->queues);
}

static int each_worker(struct status *status)
{
	struct tq_worker_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_worker_list(status->cli->tq, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			put_worker(status, &infos[i]);
	} while (n > 0);
	return n;
}

static int print_status(struct status *status)
{
	static const char *const queue_headers[] = { "QUEUE",	"STATE", "WORKERS",
						     "READY",	"HELD",	 "WAITING",
						     "RUNNING", "DONE",	 "FAILED" };
	static const char *const worker_headers[] = { "WORKER", "NAME",	 "PID",	 "STATE",
						      "AGE",	"TASKS", "TASK", "QUEUES" };
	int r;

	for (unsigned i = 0; i < sizeof(queue_headers) / sizeof(queue_headers[0]); i++)
		table_column(&status->table, queue_headers[i], i >= 2);
	r = each_queue(status);
	table_end(&status->table, stdout);
	if (r < 0)
		return r;
	status->table = (struct table){ 0 };
	for (unsigned i = 0; i < sizeof(worker_headers) / sizeof(worker_headers[0]); i++)
		table_column(&status->table, worker_headers[i],
			     i == 0 || i == 2 || i == 4 || i == 5);
	r = each_worker(status);
	table_end(&status->table, stdout);
	return r;
}

static int print_status_json(struct status *status, const struct tq_segment_info *info)
{
	json_t *object = json_object();
	int r;

	json_object_set_new(object, "segment", json_of_segment(info));
	status->array = json_array();
	json_object_set_new(object, "queues", status->array);
	r = each_queue(status);
	if (r >= 0) {
		status->array = json_array();
		json_object_set_new(object, "workers", status->array);
		r = each_worker(status);
	}
	if (r < 0)
		json_decref(object);
	else
		json_line(object);
	return r;
}

int verb_status(struct cli *cli, int argc, char **argv)
{
	struct status status = { .cli = cli, .clocks = clocks_read() };
	struct tq_segment_info info = { .size = sizeof(info) };
	int r;

	if (!options_parse(cli, options_none, NULL, NULL, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL) || !attach(cli, TQ_OPEN_READONLY) ||
	    (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	r = tq_segment_info(cli->tq, &info);
	if (r == 0 && cli->json) {
		r = print_status_json(&status, &info);
	} else if (r == 0) {
		put_segment(cli, &info);
		r = print_status(&status);
	}
	return r < 0 ? fail(cli, r, ABOUT_CONTENT, "segment \"%s\"", cli->segment) : CLI_OK;
}
