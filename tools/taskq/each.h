/* SPDX-License-Identifier: MIT */
/* Verbs without options of their own that look at each task that is named. */
#ifndef TASKQ_TOOL_EACH_H
#define TASKQ_TOOL_EACH_H

#include "cli.h"

/* What is printed of one; gives the exit code for it. */
typedef int look_fn(struct cli *cli, uint64_t id, bool first);

/* The whole verb: attached for reading only; exits with the worst of the codes. */
int look_at_each(struct cli *cli, int argc, char **argv, look_fn *look);

#endif
