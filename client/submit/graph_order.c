/* SPDX-License-Identifier: MIT */
/* The order in which the members of a graph are submitted; cycles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/submit/graph.h"

enum colour {
	WHITE, /* not met yet */
	GREY,  /* on the path */
	BLACK, /* in the order */
};

struct walk {
	struct tq_graph *graph;
	uint8_t *colours;
	uint32_t *path;	 /* each waits for the next one */
	uint64_t *edges; /* of each on the path: the next to follow */
	uint32_t depth;
	uint32_t done; /* members in the order */
};

static int check_edges(struct tq_graph *g)
{
	for (uint64_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].on >= g->count) {
			g->failed = g->edges[e].member;
			return -EINVAL;
		}
	return 0;
}

/* By counting: edges of one member stay in the order in which they came. */
static int sort_edges(struct tq_graph *g)
{
	struct tqi_graph_edge *sorted = malloc((g->edge_count + 1) * sizeof(*sorted));
	uint64_t *first = calloc((size_t)g->count + 2, sizeof(*first));

	if (!sorted || !first) {
		free(sorted);
		free(first);
		return -ENOMEM;
	}
	for (uint64_t e = 0; e < g->edge_count; e++)
		first[g->edges[e].member + 2]++;
	for (uint32_t m = 2; m < g->count + 2; m++)
		first[m] += first[m - 1];
	for (uint64_t e = 0; e < g->edge_count; e++)
		sorted[first[g->edges[e].member + 1]++] = g->edges[e];
	free(g->edges);
	free(g->first);
	g->edges = sorted;
	g->edge_room = g->edge_count + 1;
	g->first = first;
	return 0;
}

/* From the one that closes it, in the order in which they would run. */
static int note_cycle(struct walk *w, uint32_t again)
{
	struct tq_graph *g = w->graph;
	uint32_t from = w->depth;

	while (w->path[from - 1] != again)
		from--;
	g->cycle_count = w->depth - from + 1;
	g->cycle = malloc(g->cycle_count * sizeof(*g->cycle));
	if (!g->cycle) {
		g->cycle_count = 0;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->cycle_count; i++)
		g->cycle[i] = w->path[w->depth - 1 - i];
	return TQ_ECYCLE;
}

static void enter(struct walk *w, uint32_t member)
{
	w->colours[member] = GREY;
	w->path[w->depth] = member;
	w->edges[w->depth++] = w->graph->first[member];
}

/* One step: along the next edge, or back. */
static int step(struct walk *w)
{
	const struct tq_graph *g = w->graph;
	uint32_t member = w->path[w->depth - 1];
	uint64_t *edge = &w->edges[w->depth - 1];

	if (*edge == g->first[member + 1]) {
		w->colours[member] = BLACK;
		g->order[w->done++] = member;
		w->depth--;
		return 0;
	}
	uint32_t on = g->edges[(*edge)++].on;

	if (w->colours[on] == GREY)
		return note_cycle(w, on);
	if (w->colours[on] == WHITE)
		enter(w, on);
	return 0;
}

static int order(struct tq_graph *g)
{
	size_t n = g->count ? g->count : 1;
	struct walk w = { .graph = g,
			  .colours = calloc(n, sizeof(*w.colours)),
			  .path = malloc(n * sizeof(*w.path)),
			  .edges = malloc(n * sizeof(*w.edges)) };
	int r = w.colours && w.path && w.edges ? 0 : -ENOMEM;

	for (uint32_t m = 0; m < g->count && r == 0; m++) {
		if (w.colours[m] == WHITE)
			enter(&w, m);
		while (w.depth && r == 0)
			r = step(&w);
	}
	free(w.colours);
	free(w.path);
	free(w.edges);
	return r;
}

int tqi_graph_order(struct tq_graph *g)
{
	free(g->cycle);
	free(g->order);
	g->cycle = NULL;
	g->cycle_count = 0;
	g->order = malloc(((size_t)g->count + 1) * sizeof(*g->order));
	int r = g->order ? check_edges(g) : -ENOMEM;

	if (r == 0)
		r = sort_edges(g);
	return r < 0 ? r : order(g);
}
