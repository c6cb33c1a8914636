/* SPDX-License-Identifier: MIT */
/* `submit --graph`: tasks that depend on each other, from a file, all or none. */
#ifndef TASKQ_TOOL_GRAPH_SUBMIT_H
#define TASKQ_TOOL_GRAPH_SUBMIT_H

#include "tools/taskq/options/task_options.h"

/* Whether these defaults have nothing that a graph's nodes may not have. */
bool graph_options_fit(const struct tq_task_spec *spec);

/* Attaches, and hands in the graph of file @path ("-": standard input), @defaults for what a
 * node does not say but for the label, which is the graph's; prints its id, or each node's in
 * JSON.  With @wait until all have ended.  A file of more than @bytes_max is refused.  The exit
 * code. */
int graph_submit(struct cli *cli, const char *path, const struct task_options *defaults, bool wait,
		 uint64_t bytes_max);

#endif
