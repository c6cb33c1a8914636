/* SPDX-License-Identifier: MIT */
/* A graph in the memory of its process. */
#ifndef TQI_CLIENT_SUBMIT_GRAPH_H
#define TQI_CLIENT_SUBMIT_GRAPH_H

#include <stdbool.h>

#include "taskq/taskq.h"

struct tqi_graph_edge {
	uint32_t member; /* that waits ... */
	uint32_t on;	 /* ... for this one */
	uint32_t kind;
};

struct tq_graph {
	struct tq *tq;
	struct tq_group_opts opts;
	struct tq_task_spec *completion; /* NULL none */
	char label[TQ_LABEL_MAX + 1];
	uint32_t pid; /* of its process */
	bool submitted;
	uint32_t failed;

	struct tq_task_spec **members; /* each one piece of memory */
	uint32_t count;
	uint32_t room;

	struct tqi_graph_edge *edges;
	uint64_t edge_count;
	uint64_t edge_room;
	uint64_t *first; /* of each member, once sorted: edges first[m] .. first[m + 1] - 1 */

	uint32_t *order; /* members, each behind those that it waits for */
	uint32_t *cycle;
	uint32_t cycle_count;
};

/*
 * Sort the edges by member, and the members by what they wait for.  TQ_ECYCLE: some are
 * in graph->cycle; -EINVAL an unknown one, in graph->failed who waits for it; -ENOMEM.
 */
int tqi_graph_order(struct tq_graph *graph);

#endif
