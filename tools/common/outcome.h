/* SPDX-License-Identifier: MIT */
/* What a task's flags and its end mean to people. */
#ifndef TASKQ_TOOL_OUTCOME_H
#define TASKQ_TOOL_OUTCOME_H

#include <stdbool.h>

#include <taskq/taskq.h>

#include "format.h"

/* Exit code of `wait`, `run` and `submit --wait` for a finished task. */
int outcome_code(const struct tq_task_info *info);

/* Whether the exit code says it all: the command ended by itself. */
bool outcome_is_plain(const struct tq_task_info *info);

/* How long the task runs now, or its last attempt ran: no time in which it waited for
 * another one, or for its end.  0 unknown, or never. */
uint64_t outcome_run_ns(const struct tq_task_info *info, const struct clocks *clocks);

enum {
	OUTCOME_MAX = 512,
	CAUSE_MAX = 64
};

/* The cause, "exit:3", "dependency:17-3". */
char *outcome_cause(const struct tq_task_info *info, char buf[CAUSE_MAX]);

/* State, cause and error text: "failed, signal:KILL", "failed, error: no such host". */
char *outcome_format(const struct tq_task_info *info, char buf[OUTCOME_MAX]);

/* What `taskq log --attempt` has of an attempt that has ended: "kept", "tail" the beginning is
 * gone, "none" it has written nothing, "gone". */
const char *outcome_of_output(struct tq *tq, uint64_t id, uint32_t attempt);

struct outcome_flag {
	uint32_t bit;
	const char *name;
	const char *meaning; /* NULL: its reader says it */
	bool ends;	     /* of no interest once the task has ended */
};

extern const struct outcome_flag outcome_flags[]; /* ended by a NULL name */

#endif
