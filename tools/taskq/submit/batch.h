/* SPDX-License-Identifier: MIT */
/* `submit --batch`: one task a line, in JSON. */
#ifndef TASKQ_TOOL_BATCH_H
#define TASKQ_TOOL_BATCH_H

#include "tools/taskq/options/task_options.h"

/* Called with the ids of some tasks just handed in, in their order. */
typedef void batch_ids_fn(void *arg, const uint64_t *ids, unsigned count, bool twin);

/* Attaches, and hands in the tasks of @path ("-": standard input), @defaults for what a line does
 * not say.  A file is read through first, so that a bad line in it changes nothing; of
 * a stream, what stands before the bad line is handed in.  The exit code. */
int batch_submit(struct cli *cli, const char *path, const struct task_options *defaults,
		 batch_ids_fn *take, void *arg);

#endif
