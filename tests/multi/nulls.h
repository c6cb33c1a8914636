/* SPDX-License-Identifier: MIT */
/* What the rule of NULL (<taskq/base.h>) is tried on: one of everything there is. */
#ifndef TESTS_MULTI_NULLS_H
#define TESTS_MULTI_NULLS_H

#include <stdbool.h>
#include <stdint.h>

#include "taskq/taskq.h"

struct null_scene {
	const char *name;
	struct tq *tq, *other;
	struct tq_worker *worker, *other_worker;
	struct tq_claim claim, next;
	struct tq_graph *graph, *ring, *other_graph; /* the ring has been refused as one */
	struct tq_run *run;
	uint64_t id, later, done, group, schedule, command;
	/* Where results go. */
	uint64_t number, cursor;
	int32_t priority;
	uint32_t attempt;
	char buf[TQ_CHECKPOINT_MAX];
	char *path;
	struct tq_exec *exec;
	struct tq_histogram histogram;
	struct tq_times times;
	struct tq_trace_entry entries[1];
	struct tq_segment_info segment;
	struct tq_lock_holder holder;
	struct tq_task_info info;
	struct tq_task_brief brief;
	struct tq_attempt_info attempts[TQ_HISTORY_MAX];
	struct tq_dependency_info edges[1];
	struct tq_why why;
	struct tq_schedule_info schedule_info;
	struct tq_group_info group_info;
	struct tq_group_cursor end;
	struct tq_queue_info queue;
	struct tq_kind_info kind;
	struct tq_limit_info limit;
	struct tq_server_info server;
	struct tq_server_limit_info server_limit;
	struct tq_worker_info worker_info;
	struct tq_command_info command_info;
	struct tq_command_answer answer;
	struct tq_command taken;
};

enum null_rule {
	REFUSED, /* -EINVAL, and nothing was changed */
	NOTHING, /* NULL, 0 or no result, and nothing was changed */
	TAKEN,	 /* it may be NULL */
};

/* One row that is asked for, by its number. */
struct null_asked {
	unsigned wanted;
	bool calls; /* or only its name is wanted */
	const char *function, *pointer; /* NULL: there are not so many rows */
	enum null_rule rule;
	int64_t result;
	unsigned seen; /* rows so far */
};

/* Whether it is to be called. */
bool null_row_is_next(struct null_asked *asked, const char *function, const char *pointer,
		      enum null_rule rule);

void null_rows(struct null_asked *asked, struct null_scene *s);

/* For rows that take more than a call. */
int null_handle(struct tq_run *run, void *arg);
int null_destroy_default(void);
int null_run_farm(struct null_scene *s);
void null_ignore(void *arg, const char *text);

#endif
