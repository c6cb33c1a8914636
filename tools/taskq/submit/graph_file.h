/* SPDX-License-Identifier: MIT */
/*
 * A graph as a file: {"nodes":[{"name":...,"after":[...], fields of a batch's line}]}.
 *
 * It may have millions of nodes.  So the text is kept, and each node is made JSON only while it
 * is looked at: beside the text that takes some 50 bytes a node.
 */
#ifndef TASKQ_TOOL_GRAPH_FILE_H
#define TASKQ_TOOL_GRAPH_FILE_H

#include <jansson.h>

#include "tools/taskq/options/task_options.h"

enum {
	GRAPH_ERROR_MAX = 640
};

#define GRAPH_BYTES_MAX (256ull << 20) /* of a file, unless more is asked for */

struct graph_file {
	const struct task_options *defaults; /* for what a node does not say */
	uint64_t bytes_max;
	char *text;
	size_t bytes;
	size_t *at; /* where each node begins in it */
	uint32_t count;
	uint32_t room;
	char *names; /* one behind another */
	size_t names_bytes, names_room;
	size_t *name_at; /* of each node, in them */
	uint32_t *slots; /* number + 1 of the node whose name's hash it is; 0 none */
	uint32_t slot_mask;
	uint32_t *edges; /* numbers of those that a node waits for, node by node ... */
	uint64_t edge_count, edge_room;
	uint64_t *first; /* ... and where each one's begin; one more at the end */
	uint32_t *cycle; /* each waits for the one before it, the first for the last; NULL none */
	uint32_t cycle_count;
	char error[GRAPH_ERROR_MAX];
};

/* Reads and checks all.  False: ->error says what is wrong where, or there is a ->cycle.  Free it
 * in both cases. */
bool graph_file_read(struct graph_file *file, int fd, const struct task_options *defaults,
		     uint64_t bytes_max);
void graph_file_free(struct graph_file *file);

/* The name of a node, and the node of a name; false there is none. */
const char *graph_file_name(const struct graph_file *file, uint32_t number);
bool graph_file_find(const struct graph_file *file, const char *name, uint32_t *ret_number);

/* One node as JSON; NULL out of memory. */
json_t *graph_file_node(const struct graph_file *file, uint32_t number);

/* Adds all nodes, in their order.  0, or what tq_graph_add() said of node *ret_number. */
int graph_file_build(struct graph_file *file, struct tq_graph *graph, uint32_t *ret_number);

/* graph_text.c: where the nodes are in the text.  False: ->error. */
bool graph_text_read(struct graph_file *file, int fd);
bool graph_file_bad(struct graph_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* graph_cycle.c: finds one, and is linear in nodes and edges; false: out of memory. */
bool graph_file_find_cycle(struct graph_file *file);

#endif
