/* SPDX-License-Identifier: MIT */
/* The text of a graph's file: read, and taken apart into nodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format.h"
#include "json.h"
#include "tools/taskq/submit/graph_file.h"

enum {
	READ_FIRST = 64 << 10, /* bytes; doubled as often as needed */
};

/* Room for one more byte at least; false: the file is too long, or no memory. */
static bool make_room(struct graph_file *file, size_t *room)
{
	size_t wanted = *room ? 2 * *room : READ_FIRST;
	char size[FORMAT_MAX];
	char *text;

	if (file->bytes < *room)
		return true;
	if (file->bytes > file->bytes_max)
		return graph_file_bad(file, "longer than %s\n--graph-max SIZE takes a longer one",
				      format_size(file->bytes_max, size));
	if (wanted > file->bytes_max + 1)
		wanted = (size_t)file->bytes_max + 1;
	text = realloc(file->text, wanted);
	if (!text)
		return graph_file_bad(file, "out of memory");
	file->text = text;
	*room = wanted;
	return true;
}

static bool read_text(struct graph_file *file, int fd)
{
	size_t room = 0;
	ssize_t n = 1;

	while (n != 0) {
		if (!make_room(file, &room))
			return false;
		do
			n = read(fd, file->text + file->bytes, room - file->bytes);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return graph_file_bad(file, "%s", strerror(errno));
		file->bytes += (size_t)n;
	}
	return true;
}

static size_t skip_space(const struct graph_file *file, size_t at)
{
	while (at < file->bytes && strchr(" \t\r\n", file->text[at]) && file->text[at])
		at++;
	return at;
}

/* Whether @token is next; *@at goes behind it. */
static bool take(const struct graph_file *file, size_t *at, const char *token)
{
	const size_t bytes = strlen(token), from = skip_space(file, *at);

	if (file->bytes - from < bytes || memcmp(file->text + from, token, bytes) != 0)
		return false;
	*at = from + bytes;
	return true;
}

/* What is wrong with the file as a whole; for this all of it becomes JSON. */
static bool refuse(struct graph_file *file)
{
	json_error_t error;
	json_t *root = json_loadb(file->text, file->bytes, JSON_REJECT_DUPLICATES, &error);
	const json_t *nodes = json_object_get(root, "nodes"), *value;
	const char *name;

	if (!root)
		graph_file_bad(file, "line %d, column %d: %s", error.line, error.column,
			       json_error_reason(&error));
	else if (!json_is_object(root))
		graph_file_bad(file, "not an object such as {\"nodes\":[...]}");
	else if (!nodes && json_object_size(root) == 0)
		graph_file_bad(file, "the field \"nodes\" is missing");
	else if (nodes && !json_is_array(nodes))
		graph_file_bad(file, "\"nodes\" is not an array of objects");
	else if (nodes && json_array_size(nodes) == 0)
		graph_file_bad(file, "\"nodes\" is empty: a graph has at least one");
	else
		graph_file_bad(file, "\"nodes\" is not written as {\"nodes\":[...]}");
	json_object_foreach(root, name, value) if (strcmp(name, "nodes") != 0)
		graph_file_bad(file, "unknown field \"%s\" beside \"nodes\"", name);
	json_decref(root);
	return false;
}

/* In lines and columns of the whole file. */
static bool refuse_node(struct graph_file *file, size_t at, const json_error_t *error)
{
	int line = error->line, column = error->column;
	size_t begin = at;

	while (begin && file->text[begin - 1] != '\n')
		begin--;
	if (line == 1)
		column += (int)(at - begin);
	for (size_t i = 0; i < begin; i++)
		line += file->text[i] == '\n';
	return graph_file_bad(file, "line %d, column %d: %s", line, column,
			      json_error_reason(error));
}

static bool grow(struct graph_file *file)
{
	const uint32_t room = file->room ? 2 * file->room : 64;
	size_t *at, *name_at;

	if (file->count < file->room)
		return true;
	at = reallocarray(file->at, room, sizeof(*at));
	if (at)
		file->at = at;
	name_at = reallocarray(file->name_at, room, sizeof(*name_at));
	if (name_at)
		file->name_at = name_at;
	file->room = at && name_at ? room : file->room;
	return (at && name_at) || graph_file_bad(file, "out of memory");
}

static bool put_name(struct graph_file *file, const char *name)
{
	const size_t bytes = strlen(name) + 1, room = 2 * file->names_room + bytes;
	char *names = file->names;

	if (file->names_bytes + bytes > file->names_room) {
		names = realloc(names, room);
		if (!names)
			return graph_file_bad(file, "out of memory");
		file->names = names;
		file->names_room = room;
	}
	memcpy(names + file->names_bytes, name, bytes);
	file->name_at[file->count] = file->names_bytes;
	file->names_bytes += bytes;
	return true;
}

static bool note_node(struct graph_file *file, const json_t *node, size_t at)
{
	const char *name = json_string_value(json_object_get(node, "name"));
	const uint32_t i = file->count;

	if (i == TQ_GRAPH_MEMBERS_MAX)
		return graph_file_bad(file, "more than %u nodes", TQ_GRAPH_MEMBERS_MAX);
	if (!json_is_object(node))
		return graph_file_bad(file, "nodes[%u]: not an object", i);
	if (!json_object_get(node, "name"))
		return graph_file_bad(file, "nodes[%u]: \"name\" is missing", i);
	if (!name || !*name || strlen(name) > TQ_LABEL_MAX)
		return graph_file_bad(file, "nodes[%u]: \"name\" is not a string of 1 to %u bytes",
				      i, TQ_LABEL_MAX);
	if (!grow(file) || !put_name(file, name))
		return false;
	file->at[file->count++] = at;
	return true;
}

static bool take_node(struct graph_file *file, size_t *at)
{
	const size_t from = skip_space(file, *at);
	json_error_t error;
	json_t *node = json_loadb(file->text + from, file->bytes - from,
				  JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK,
				  &error);
	bool ok;

	if (!node)
		return refuse_node(file, from, &error);
	*at = from + (size_t)error.position;
	ok = note_node(file, node, from);
	json_decref(node);
	return ok;
}

bool graph_text_read(struct graph_file *file, int fd)
{
	size_t at = 0;

	if (!read_text(file, fd))
		return false;
	if (!take(file, &at, "{") || !take(file, &at, "\"nodes\"") || !take(file, &at, ":") ||
	    !take(file, &at, "[") || skip_space(file, at) == file->bytes || take(file, &at, "]"))
		return refuse(file);
	do
		if (!take_node(file, &at))
			return false;
	while (take(file, &at, ","));
	if (!take(file, &at, "]") || !take(file, &at, "}") || skip_space(file, at) != file->bytes)
		return refuse(file);
	return true;
}
