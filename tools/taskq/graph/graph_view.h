/* SPDX-License-Identifier: MIT */
/* Tasks and their dependencies, copied out of the segment to be shown. */
#ifndef TASKQ_TOOL_GRAPH_VIEW_H
#define TASKQ_TOOL_GRAPH_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "cli.h"

struct graph_view_node {
	uint64_t id;
	uint64_t sequence;
	uint64_t run_ns; /* of its last attempt; 0 none */
	uint64_t group;	    /* that it is a member of; 0 none */
	uint64_t completes; /* the group whose completion task it is; 0 none, or not known */
	uint32_t state;
	bool followed;	    /* another member of its group comes after it */
	uint32_t elsewhere; /* dependencies on tasks that are not here */
	int32_t layer;	    /* one more than that of all that it comes after */
	char *text;	    /* its label, or command, or "" */
	char *outcome;	    /* state and cause */
};

struct graph_view_edge {
	uint32_t node; /* that waits ... */
	uint32_t on;   /* ... for this one */
	uint32_t kind; /* enum tq_after */
	uint32_t place; /* in the order in which they were found */
};

struct graph_view {
	struct tq *tq;
	struct graph_view_node *nodes; /* in the order of their submission */
	uint32_t count;
	uint32_t room;
	uint32_t max;		       /* nodes wanted at most ... */
	bool cut;		       /* ... and there were more */
	struct graph_view_edge *edges; /* by the node that waits */
	uint32_t edge_count;
	uint32_t edge_room;
	uint32_t *slots; /* of a hash table: node + 1, 0 free */
	uint32_t slot_mask;
	uint64_t focus; /* the task it is about; 0 none */
};

/* graph_collect.c: fill a view that has ->tq and ->max.  0, or the library's error, -ENOMEM. */
int graph_collect_group(struct graph_view *view, uint64_t group);
/* A task with all that it waits for, and all that waits for it, and so on. */
int graph_collect_task(struct graph_view *view, uint64_t id);
void graph_view_free(struct graph_view *view);

/* graph_draw.c: as Graphviz reads it. */
void graph_dot(const struct graph_view *view, FILE *out);
/* The picture that Graphviz makes of it; @format "svg" or "png".  The exit code. */
int graph_picture(struct cli *cli, const struct graph_view *view, const char *format,
		  const char *path);

#endif
