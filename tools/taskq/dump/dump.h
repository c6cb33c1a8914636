/* SPDX-License-Identifier: MIT */
/*
 * A queue on its way to another segment: what `taskq dump` writes, and `taskq load` reads.
 *
 * JSON, an object a line.  The first is {"record":"dump"}, the last {"record":"end"}; between
 * them settings ("queue", "kind", "limit"), schedules, groups, and tasks.  A task is a line of
 * `submit --batch`, without "record", and with two differences: "after" and its like name ids of
 * this dump, and "group" a group of it.  All that it names stands before it.
 */
#ifndef TASKQ_TOOL_DUMP_H
#define TASKQ_TOOL_DUMP_H

#include <jansson.h>

#include <taskq/taskq.h>

#include "cli.h"
#include "format.h"
#include "tools/taskq/dump/id_map.h"

#define DUMP_FORMAT 1 /* changes when an older `load` would misread it */

struct dump {
	struct cli *cli;
	struct clocks clocks;
	struct id_map tasks;  /* enum dump_fate of those that have been looked at */
	struct id_map groups; /* 1: it stands in the dump */
	uint64_t lines;
	uint64_t count;	   /* tasks */
	uint64_t running;  /* of them */
	uint64_t begun;	   /* of them: at most once, and held therefore */
	uint64_t saved;	   /* of them: with a checkpoint, which is left behind */
	uint64_t followed; /* not of them: others stream their output */
	uint64_t lost;	   /* dependencies on something that does not stand in the dump */
};

/* What has become of a task. */
enum dump_fate {
	DUMP_WRITTEN = 1,
	DUMP_REFUSED, /* one that it waits for has ended otherwise: its end is being told */
};

/* dump_settings.c; each 0, or the library's error. */
int dump_queues(struct dump *dump);
int dump_kinds(struct dump *dump);
int dump_limits(struct dump *dump);
int dump_schedules(struct dump *dump);
json_t *dump_schedule(struct dump *dump, const struct tq_schedule_info *info);

/* dump_tasks.c: with their groups, in order of submission; and the groups without any. */
int dump_tasks(struct dump *dump);

/* dump_task.c: a line; */
void dump_line(struct dump *dump, json_t *object);
/* a task that waits, or is to wait again. */
json_t *dump_task(struct dump *dump, const struct tq_task_info *info);
/* Whether none of those that it waits for has ended so that it never starts. */
bool dump_may_start(struct dump *dump, const struct tq_task_info *info);
/* Queues of `run` and `map`, whose tasks are of use to nobody else. */
bool dump_is_private(const char *queue);

/* dump_payload.c: what a handler of @kind gets, so that reading it gives the same bytes. */
void dump_payload(json_t *object, const char *kind, const void *payload, uint64_t bytes);

#endif
