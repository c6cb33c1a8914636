/* SPDX-License-Identifier: MIT */
/* What verbs do to tasks, each of those that are named, or that match a filter. */
#ifndef TASKQ_TOOL_STEER_H
#define TASKQ_TOOL_STEER_H

#include <limits.h>

#include "tools/taskq/options/filter_options.h"

/* A failure of which all has been said; cli->exit_code is for it. */
#define STEER_REPORTED INT_MIN

/* What is done to each of the tasks; 0 or more when it was. */
typedef int steer_fn(struct cli *cli, uint64_t id, const void *arg);

/* The tasks that are named, or those that match; @queue, if any, is to be there. */
int steer_chosen(struct cli *cli, struct filter_options *f, const char *queue, steer_fn *steer,
		 const void *arg);

#endif
