/* SPDX-License-Identifier: MIT */
/* A graph as a file. */
#include "graph_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph_node.h"
#include "json.h"

uint32_t graph_file_count(const struct graph_file *file)
{
	return (uint32_t)json_array_size(file->nodes);
}

const char *graph_file_name(const struct graph_file *file, uint32_t number)
{
	return json_string_value(json_object_get(json_array_get(file->nodes, number), "name"));
}

static bool bad(struct graph_file *file, const char *format, ...) PRINTF_LIKE(2, 3);
static bool bad(struct graph_file *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(file->error, sizeof(file->error), format, args);
	va_end(args);
	return false;
}

static bool load(struct graph_file *file, int fd)
{
	const json_t *value;
	json_error_t error;
	const char *name;

	file->root = json_loadfd(fd, JSON_REJECT_DUPLICATES, &error);
	if (!file->root)
		return bad(file, "line %d, column %d: %s", error.line, error.column,
			   json_error_reason(&error));
	if (!json_is_object(file->root))
		return bad(file, "not an object such as {\"nodes\":[...]}");
	json_object_foreach(file->root, name, value) if (strcmp(name, "nodes") != 0) return bad(
		file, "unknown field \"%s\" beside \"nodes\"", name);
	file->nodes = json_object_get(file->root, "nodes");
	if (!file->nodes)
		return bad(file, "the field \"nodes\" is missing");
	if (!json_is_array(file->nodes))
		return bad(file, "\"nodes\" is not an array of objects");
	if (json_array_size(file->nodes) == 0)
		return bad(file, "\"nodes\" is empty: a graph has at least one");
	return json_array_size(file->nodes) <= TQ_GRAPH_MEMBERS_MAX ||
	       bad(file, "more than %u nodes", TQ_GRAPH_MEMBERS_MAX);
}

/* Each has a name of its own. */
static bool number_nodes(struct graph_file *file)
{
	file->numbers = json_object();
	for (uint32_t i = 0; i < graph_file_count(file); i++) {
		const json_t *node = json_array_get(file->nodes, i);
		const char *name = graph_file_name(file, i);
		const json_t *other = name ? json_object_get(file->numbers, name) : NULL;

		if (!json_is_object(node))
			return bad(file, "nodes[%u]: not an object", i);
		if (!json_object_get(node, "name"))
			return bad(file, "nodes[%u]: \"name\" is missing", i);
		if (!name || !*name || strlen(name) > TQ_LABEL_MAX)
			return bad(file, "nodes[%u]: \"name\" is not a string of 1 to %u bytes", i,
				   TQ_LABEL_MAX);
		if (other)
			return bad(file, "nodes[%u] \"%s\": nodes[%lld] has that name, too", i,
				   name, (long long)json_integer_value(other));
		if (json_object_set_new(file->numbers, name, json_integer(i)) < 0)
			return bad(file, "nodes[%u] \"%s\": out of memory", i, name);
	}
	return true;
}

static bool check_nodes(struct graph_file *file)
{
	for (uint32_t i = 0; i < graph_file_count(file); i++) {
		struct graph_node node;
		const bool ok = graph_node_read(&node, file, i);

		if (!ok)
			bad(file, "nodes[%u] \"%s\": %s", i, graph_file_name(file, i),
			    node.line.error);
		graph_node_free(&node);
		if (!ok)
			return false;
	}
	return true;
}

bool graph_file_read(struct graph_file *file, int fd, const struct task_options *defaults)
{
	*file = (struct graph_file){ .defaults = defaults };
	return load(file, fd) && number_nodes(file) && check_nodes(file);
}

void graph_file_free(struct graph_file *file)
{
	json_decref(file->numbers);
	json_decref(file->root);
}

int graph_file_build(struct graph_file *file, struct tq_graph *graph, uint32_t *ret_number)
{
	int r = 0;

	for (uint32_t i = 0; i < graph_file_count(file) && r == 0; i++) {
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
