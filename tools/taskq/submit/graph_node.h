/* SPDX-License-Identifier: MIT */
/* One node of a graph's file: from a JSON object to a task and what it comes after. */
#ifndef TASKQ_TOOL_GRAPH_NODE_H
#define TASKQ_TOOL_GRAPH_NODE_H

#include "tools/taskq/submit/batch_line.h"
#include "tools/taskq/submit/graph_file.h"

struct graph_node {
	struct batch_line line; /* its .after are tasks outside of the graph */
	struct tq_graph_dependency *after;
	uint32_t after_count;
};

/* Reads node @number of a file whose names are known.  False: ->line.error says why it is none.
 * Free it in both cases, before the file. */
bool graph_node_read(struct graph_node *node, const struct graph_file *file, uint32_t number);
void graph_node_free(struct graph_node *node);

#endif
