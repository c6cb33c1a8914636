/* SPDX-License-Identifier: MIT */
/* A graph as a file. */
#include "tools/taskq/submit/graph_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/taskq/submit/graph_node.h"

const char *graph_file_name(const struct graph_file *file, uint32_t number)
{
	return file->names + file->name_at[number];
}

bool graph_file_bad(struct graph_file *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(file->error, sizeof(file->error), format, args);
	va_end(args);
	return false;
}

json_t *graph_file_node(const struct graph_file *file, uint32_t number)
{
	const size_t at = file->at[number];

	return json_loadb(file->text + at, file->bytes - at, JSON_DISABLE_EOF_CHECK, NULL);
}

/* FNV-1a, with its high bits mixed in. */
static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h ^ h >> 15;
}

/* Where a name is, or would be. */
static uint32_t *slot_of(const struct graph_file *file, const char *name)
{
	uint32_t at = hash(name) & file->slot_mask;

	while (file->slots[at] && strcmp(graph_file_name(file, file->slots[at] - 1), name) != 0)
		at = (at + 1) & file->slot_mask;
	return &file->slots[at];
}

bool graph_file_find(const struct graph_file *file, const char *name, uint32_t *ret_number)
{
	const uint32_t slot = *slot_of(file, name);

	if (slot)
		*ret_number = slot - 1;
	return slot;
}

/* Each has a name of its own. */
static bool number_nodes(struct graph_file *file)
{
	file->slot_mask = 1;
	while (file->slot_mask < 2 * file->count)
		file->slot_mask = 2 * file->slot_mask + 1;
	file->slots = calloc((size_t)file->slot_mask + 1, sizeof(*file->slots));
	if (!file->slots)
		return graph_file_bad(file, "out of memory");
	for (uint32_t i = 0; i < file->count; i++) {
		const char *name = graph_file_name(file, i);
		uint32_t *slot = slot_of(file, name);

		if (*slot)
			return graph_file_bad(file,
					      "nodes[%u] \"%s\": nodes[%u] has that name, too", i,
					      name, *slot - 1);
		*slot = i + 1;
	}
	return true;
}

static bool add_edges(struct graph_file *file, const struct graph_node *node)
{
	const uint64_t wanted = file->edge_count + node->after_count;
	uint32_t *edges = file->edges;

	if (wanted > file->edge_room) {
		edges = reallocarray(edges, 2 * wanted, sizeof(*edges));
		if (!edges)
			return graph_file_bad(file, "out of memory");
		file->edges = edges;
		file->edge_room = 2 * wanted;
	}
	for (uint32_t i = 0; i < node->after_count; i++)
		edges[file->edge_count++] = node->after[i].member;
	return true;
}

static bool check_node(struct graph_file *file, uint32_t number)
{
	struct graph_node node;
	bool ok = graph_node_read(&node, file, number);

	if (!ok)
		graph_file_bad(file, "nodes[%u] \"%s\": %s", number, graph_file_name(file, number),
			       node.line.error);
	ok = ok && add_edges(file, &node);
	graph_node_free(&node);
	file->first[number + 1] = file->edge_count;
	return ok;
}

static bool check_nodes(struct graph_file *file)
{
	bool ok = true;

	file->first = calloc((size_t)file->count + 1, sizeof(*file->first));
	if (!file->first)
		return graph_file_bad(file, "out of memory");
	for (uint32_t i = 0; ok && i < file->count; i++)
		ok = check_node(file, i);
	return ok;
}

/* What only the search needs. */
static void forget_edges(struct graph_file *file)
{
	free(file->edges);
	free(file->first);
	file->edges = NULL;
	file->first = NULL;
}

bool graph_file_read(struct graph_file *file, int fd, const struct task_options *defaults,
		     uint64_t bytes_max)
{
	*file = (struct graph_file){ .defaults = defaults, .bytes_max = bytes_max };
	if (!graph_text_read(file, fd) || !number_nodes(file) || !check_nodes(file))
		return false;
	if (!graph_file_find_cycle(file))
		return graph_file_bad(file, "out of memory");
	forget_edges(file);
	return !file->cycle;
}

void graph_file_free(struct graph_file *file)
{
	forget_edges(file);
	free(file->text);
	free(file->at);
	free(file->names);
	free(file->name_at);
	free(file->slots);
	free(file->cycle);
}

int graph_file_build(struct graph_file *file, struct tq_graph *graph, uint32_t *ret_number)
{
	int r = 0;

	for (uint32_t i = 0; i < file->count && r == 0; i++) {
		struct graph_node node;

		*ret_number = i;
		r = graph_node_read(&node, file, i) /* as before, so that it is there */
			    ? tq_graph_add(graph, &node.line.spec, node.after, node.after_count,
					   NULL)
			    : -ENOMEM;
		graph_node_free(&node);
	}
	return r;
}
