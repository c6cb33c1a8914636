/* SPDX-License-Identifier: MIT */
/* A graph as a file: {"nodes":[{"name":...,"after":[...], fields of a batch's line}]}. */
#ifndef TASKQ_TOOL_GRAPH_FILE_H
#define TASKQ_TOOL_GRAPH_FILE_H

#include <jansson.h>

#include "task_options.h"

enum {
	GRAPH_ERROR_MAX = 640
};

struct graph_file {
	const struct task_options *defaults; /* for what a node does not say */
	json_t *root;
	const json_t *nodes;
	json_t *numbers; /* name to number */
	char error[GRAPH_ERROR_MAX];
};

/* Reads and checks all but cycles.  False: ->error says what is wrong where.  Free it in both
 * cases. */
bool graph_file_read(struct graph_file *file, int fd, const struct task_options *defaults);
void graph_file_free(struct graph_file *file);

/* How many nodes, and the name of one. */
uint32_t graph_file_count(const struct graph_file *file);
const char *graph_file_name(const struct graph_file *file, uint32_t number);

/* Adds all nodes, in their order.  0, or what tq_graph_add() said of node *ret_number. */
int graph_file_build(struct graph_file *file, struct tq_graph *graph, uint32_t *ret_number);

#endif
