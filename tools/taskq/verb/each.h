/* SPDX-License-Identifier: MIT */
/* Verbs that look at each task that is named. */
#ifndef TASKQ_TOOL_EACH_H
#define TASKQ_TOOL_EACH_H

#include "cli.h"

/* What is printed of one; gives the exit code for it. */
typedef int look_fn(struct cli *cli, void *ctx, uint64_t id, bool first);

/* The whole verb once its options are read: attached for reading only; exits with the
 * worst of the codes. */
int look_at_each(struct cli *cli, look_fn *look, void *ctx);

#endif
