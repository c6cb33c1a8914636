/* SPDX-License-Identifier: MIT */
/* A task's line of a dump. */
#include <stdlib.h>
#include <string.h>

#include "tools/taskq/dump/load.h"

/* Fields that mean something else in a batch's line: ids of this dump. */
static const struct {
	const char *name;
	uint32_t kind; /* of dependencies; 0 the group */
} own_fields[] = {
	{ "group", 0 },
	{ "after", TQ_AFTER_OK },
	{ "after_any", TQ_AFTER_ANY },
	{ "after_fail", TQ_AFTER_FAIL },
};
#define OWN_FIELDS (sizeof(own_fields) / sizeof(own_fields[0]))

static bool read_group(struct load *load, struct load_line *line, const json_t *value)
{
	const char *text = json_string_value(value);
	uint64_t id, number;

	if (!value)
		return true;
	if (!text || tq_group_id_parse(text, &id) < 0)
		return load_bad(load, "\"group\" is not a group's id");
	if (!id_map_get(&load->group_numbers, id, &number))
		return load_bad(load, "\"group\": %s does not stand before it", text);
	line->group = load->groups[number];
	return true;
}

/* The id that a task of the dump has here. */
static bool find(struct load *load, const char *text, uint64_t *ret_id)
{
	uint64_t old;

	if (!text || tq_task_id_parse(text, &old) < 0)
		return load_bad(load, "an entry of \"after\" is not a task's id");
	if (!id_map_get(&load->tasks, old, ret_id))
		return load_bad(load, "\"after\": %s does not stand before it", text);
	if (*ret_id || load->pass == LOAD_CHECK)
		return true;
	return load_flush(load) && id_map_get(&load->tasks, old, ret_id);
}

static bool add(struct load *load, struct load_line *line, uint64_t id, uint32_t kind)
{
	struct tq_dependency *more;

	if (line->line.after.count < TQ_AFTER_MAX)
		return after_add(&line->line.after, id, kind);
	more = reallocarray(line->more, line->more_count + 1, sizeof(*more));
	if (!more)
		return load_bad(load, "out of memory");
	more[line->more_count++] = (struct tq_dependency){ .id = id, .kind = kind };
	line->more = more;
	return true;
}

static bool read_after(struct load *load, struct load_line *line, const json_t *array,
		       uint32_t kind)
{
	uint64_t id;

	if (array && (!json_is_array(array) || json_array_size(array) > TQ_DEPENDENCIES_MAX))
		return load_bad(load, "\"after\" is not an array of at most %u ids",
				TQ_DEPENDENCIES_MAX);
	for (size_t i = 0; i < json_array_size(array); i++)
		if (!find(load, json_string_value(json_array_get(array, i)), &id) ||
		    !add(load, line, id, kind))
			return false;
	return true;
}

static bool read_id(struct load *load, struct load_line *line, const json_t *value)
{
	const char *text = json_string_value(value);
	uint64_t other;

	if (!value)
		return true;
	if (!text || tq_task_id_parse(text, &line->old) < 0)
		return load_bad(load, "\"id\" is not a task's id");
	if (load->pass == LOAD_CHECK && id_map_get(&load->tasks, line->old, &other))
		return load_bad(load, "\"id\": %s is another task, too", text);
	return true;
}

/* What a batch's line has, too. */
static bool read_rest(struct load *load, struct load_line *line, const json_t *object)
{
	json_t *rest = json_copy((json_t *)(uintptr_t)object);

	for (size_t i = 0; rest && i < OWN_FIELDS; i++)
		json_object_del(rest, own_fields[i].name);
	return batch_line_take(&line->line, rest, &load->defaults) ||
	       load_bad(load, "%s", line->line.error);
}

bool load_line_read(struct load *load, struct load_line *line, const json_t *object)
{
	bool ok;

	*line = (struct load_line){ .old = 0 };
	ok = read_rest(load, line, object) && read_id(load, line, json_object_get(object, "id")) &&
	     read_group(load, line, json_object_get(object, "group"));
	if (ok && load->gate)
		ok = after_add(&line->line.after, load->gate, TQ_AFTER_ANY);
	for (size_t i = 1; ok && i < OWN_FIELDS; i++)
		ok = read_after(load, line, json_object_get(object, own_fields[i].name),
				own_fields[i].kind);
	line->line.spec.after = line->line.after.list;
	line->line.spec.after_count = line->line.after.count;
	return ok;
}

void load_line_free(struct load_line *line)
{
	batch_line_free(&line->line);
	free(line->more);
	line->more = NULL;
}
