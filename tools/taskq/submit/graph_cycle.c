/* SPDX-License-Identifier: MIT */
/*
 * Cycles in a graph's file.  The library finds them, too; but there each node is a whole task
 * already, which takes several times the memory.
 */
#include <stdlib.h>

#include "tools/taskq/submit/graph_file.h"

/* Along the edges, depth first. */
struct walk {
	struct graph_file *file;
	uint32_t *path;	 /* each waits for the next one */
	uint64_t *next;	 /* of each node: the edge to follow, once it has been met */
	uint32_t *place; /* of each node on the path, from 1; 0 not met; UINT32_MAX done with */
	uint32_t depth;
};

static void enter(struct walk *w, uint32_t node)
{
	w->path[w->depth++] = node;
	w->place[node] = w->depth;
	w->next[node] = w->file->first[node];
}

static bool note(struct walk *w, uint32_t again)
{
	struct graph_file *file = w->file;

	file->cycle_count = w->depth - w->place[again] + 1;
	file->cycle = calloc(file->cycle_count, sizeof(*file->cycle));
	for (uint32_t i = 0; file->cycle && i < file->cycle_count; i++)
		file->cycle[i] = w->path[w->depth - 1 - i];
	return file->cycle;
}

/* One step: along an edge, or back. */
static bool step(struct walk *w)
{
	const uint32_t node = w->path[w->depth - 1];

	if (w->next[node] == w->file->first[node + 1]) {
		w->place[node] = UINT32_MAX;
		w->depth--;
		return true;
	}
	const uint32_t on = w->file->edges[w->next[node]++];

	if (w->place[on] && w->place[on] != UINT32_MAX)
		return note(w, on);
	if (!w->place[on])
		enter(w, on);
	return true;
}

bool graph_file_find_cycle(struct graph_file *file)
{
	struct walk w = { .file = file,
			  .path = calloc(file->count, sizeof(*w.path)),
			  .next = calloc(file->count, sizeof(*w.next)),
			  .place = calloc(file->count, sizeof(*w.place)) };
	bool ok = w.path && w.next && w.place;

	for (uint32_t node = 0; ok && node < file->count && !file->cycle; node++) {
		if (!w.place[node])
			enter(&w, node);
		while (ok && w.depth && !file->cycle)
			ok = step(&w);
	}
	free(w.path);
	free(w.next);
	free(w.place);
	return ok;
}
