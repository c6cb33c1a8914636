/* SPDX-License-Identifier: MIT */
/* One node of a graph's file. */
#include "tools/taskq/submit/graph_node.h"

#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "text.h"
#include "tools/taskq/options/similar.h"

/* Fields that only a node has, or that mean something else there than in a batch's line. */
static const struct {
	const char *name;
	uint32_t kind; /* of its dependencies; 0 other fields */
} own_fields[] = {
	{ "name", 0 },
	{ "after", TQ_AFTER_OK },
	{ "after_any", TQ_AFTER_ANY },
	{ "after_fail", TQ_AFTER_FAIL },
};
#define OWN_FIELDS (sizeof(own_fields) / sizeof(own_fields[0]))

/* Tasks of a graph are found by their name, and counted in its group. */
static bool fields_fit(struct graph_node *node, const json_t *object)
{
	static const char *const refused[] = { "unique", "unique_scope", "group" };

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (json_object_get(object, refused[i]))
			return batch_line_bad(&node->line, "\"%s\" is not for a node of a graph",
					      refused[i]);
	return true;
}

static bool add_member(struct graph_node *node, uint32_t member, uint32_t kind)
{
	struct tq_graph_dependency *after =
		reallocarray(node->after, node->after_count + 1, sizeof(*after));

	if (!after)
		return batch_line_bad(&node->line, "out of memory");
	after[node->after_count++] = (struct tq_graph_dependency){ member, kind };
	node->after = after;
	return true;
}

/* What may have been meant; NULL nothing. */
static const char *similar_name(const struct graph_file *file, const char *word)
{
	struct similar similar = similar_to(word);

	for (uint32_t i = 0; i < file->count; i++)
		similar_try(&similar, graph_file_name(file, i));
	return similar.found;
}

/* A name of the graph, or else the id of a task. */
static bool add_word(struct graph_node *node, const struct graph_file *file, const char *field,
		     const char *word, uint32_t kind)
{
	uint32_t number;
	uint64_t id;

	if (graph_file_find(file, word, &number))
		return add_member(node, number, kind);
	if (tq_task_id_parse(word, &id) < 0) {
		const char *like = similar_name(file, word);

		return batch_line_bad(&node->line, "%s: there is no node \"%.80s\"%s%.80s%s", field,
				      word, like ? " (did you mean \"" : "", like ? like : "",
				      like ? "\"?)" : "");
	}
	return after_add(&node->line.after, id, kind) ||
	       batch_line_bad(&node->line, "%s: more than %u tasks outside of the graph", field,
			      TQ_AFTER_MAX);
}

/* "ok", "any" or "fail"; 0 none of these. */
static uint32_t kind_of(const json_t *when)
{
	const char *text = json_string_value(when);

	for (uint32_t kind = TQ_AFTER_OK; text && kind <= TQ_AFTER_FAIL; kind++)
		if (!strcmp(text, after_short(kind)))
			return kind;
	return 0;
}

/* {"name":"b","when":"any"} */
static bool add_object(struct graph_node *node, const struct graph_file *file, const char *field,
		       const json_t *entry)
{
	const char *word = json_string_value(json_object_get(entry, "name"));
	const uint32_t kind = kind_of(json_object_get(entry, "when"));

	if (!word || json_object_size(entry) != 2)
		return batch_line_bad(
			&node->line,
			"%s: an entry is not such as {\"name\":\"b\",\"when\":\"any\"}", field);
	if (!kind)
		return batch_line_bad(&node->line,
				      "%s: \"when\" of \"%.80s\" is not ok, any or fail", field,
				      word);
	return add_word(node, file, field, word, kind);
}

static bool read_after(struct graph_node *node, const struct graph_file *file, const char *field,
		       const json_t *array, uint32_t kind)
{
	if (!json_is_array(array))
		return batch_line_bad(&node->line, "%s: not an array of names", field);
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *entry = json_array_get(array, i);
		const char *word = json_string_value(entry);

		if (word ? !add_word(node, file, field, word, kind)
			 : !add_object(node, file, field, entry))
			return false;
	}
	return true;
}

/* The fields of a batch's line, with the name as label where it has none. */
static bool read_line(struct graph_node *node, const struct graph_file *file, const json_t *object)
{
	json_t *line = json_copy((json_t *)(uintptr_t)object);

	for (size_t i = 0; line && i < OWN_FIELDS; i++)
		json_object_del(line, own_fields[i].name);
	if (line && !json_object_get(line, "label"))
		json_object_set(line, "label", json_object_get(object, "name"));
	return batch_line_take(&node->line, line, file->defaults);
}

static bool read_object(struct graph_node *node, const struct graph_file *file,
			const json_t *object)
{
	bool has_own = false;

	if (!fields_fit(node, object) || !read_line(node, file, object))
		return false;
	for (size_t i = 0; i < OWN_FIELDS; i++) {
		const json_t *array = json_object_get(object, own_fields[i].name);

		if (!own_fields[i].kind || !array)
			continue;
		has_own = true;
		if (!read_after(node, file, own_fields[i].name, array, own_fields[i].kind))
			return false;
	}
	if (has_own) {
		node->line.spec.after = node->line.after.list;
		node->line.spec.after_count = node->line.after.count;
	}
	return true;
}

bool graph_node_read(struct graph_node *node, const struct graph_file *file, uint32_t number)
{
	json_t *object = graph_file_node(file, number);
	bool ok;

	*node = (struct graph_node){ .after = NULL };
	ok = object ? read_object(node, file, object)
		    : batch_line_bad(&node->line, "out of memory");
	json_decref(object); /* what the line needs it holds itself */
	return ok;
}

void graph_node_free(struct graph_node *node)
{
	batch_line_free(&node->line);
	free(node->after);
}
