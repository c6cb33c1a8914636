/* SPDX-License-Identifier: MIT */
/* Groups of a dump. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payload.h"
#include "tools/taskq/dump/load.h"

static bool make(struct load *load, struct load_group *group, const struct tq_task_spec *completion,
		 uint32_t condition)
{
	const struct tq_group_opts opts = { .size = sizeof(opts),
					    .label = group->label,
					    .completion = completion,
					    .condition = condition,
					    .flags = TQ_GROUP_DETACHED };
	const int r = tq_group_new(load->cli->tq, &opts, &group->id);

	return r == 0 || load_failed(load, r, ABOUT_GROUP, "a group");
}

/* Not before its first member, by which it is known again: @id is the group of one that is there
 * from an earlier run, or 0. */
bool load_group_need(struct load *load, struct load_group *group, uint64_t id)
{
	if (!group->id)
		group->id = id;
	return group->id || make(load, group, NULL, 0);
}

/* A condition of that name; TQ_GROUP_ANY when there is none. */
static uint32_t condition_of(const json_t *when)
{
	const char *text = json_string_value(when);
	uint32_t condition = TQ_GROUP_FAIL;

	while (text && condition > TQ_GROUP_ANY && strcmp(text, tq_group_condition_name(condition)))
		condition--;
	return condition;
}

static bool note_completion(struct load *load, const struct load_group *group,
			    struct load_line *line)
{
	struct tq_group_info info = { .size = sizeof(info) };
	const int r = tq_group_info(load->cli->tq, group->id, &info);

	return r < 0 ? load_failed(load, r, ABOUT_GROUP, "a group")
		     : load_note(load, line, info.completion);
}

static bool make_completing(struct load *load, struct load_group *group, const json_t *object)
{
	struct tq_task_info info;
	struct load_line line;
	bool ok = load_line_read(load, &line, json_object_get(object, "completion"));
	const int there = ok ? load_next(load, &line.line.spec, &info) : -1;

	if (there > 0) {
		group->id = info.completes;
		ok = load_note(load, &line, info.id);
	} else if (there == 0) {
		ok = make(load, group, &line.line.spec,
			  condition_of(json_object_get(object, "when"))) &&
		     note_completion(load, group, &line);
	}
	load_line_free(&line);
	return ok && there >= 0;
}

/* For members that had failed before the dump: one that is cancelled in the end. */
static bool stand_in(struct load *load, struct load_group *group)
{
	static const char *const argv[] = { "true", NULL };
	const struct tq_exec exec = { .size = sizeof(exec), .argv = argv };
	struct load_line line = { .line.spec = { .size = sizeof(line.line.spec),
						 .queue = load->cli->queue,
						 .kind = "exec",
						 .label = "failed before the dump",
						 .flags = TQ_TASK_HOLD | TQ_TASK_FORGET } };
	const struct tq_dependency gate = { .id = load->gate, .kind = TQ_AFTER_ANY };
	struct tq_task_spec *spec = &line.line.spec;
	struct tq_task_info info;
	int there, r = command_encode(&exec, &line.line.payload, &spec->payload_bytes);
	bool ok = r == 0;

	spec->payload = line.line.payload;
	spec->after = &gate;
	spec->after_count = 1;
	there = ok ? load_next(load, spec, &info) : -1;
	if (there >= 0)
		ok = load_group_need(load, group, there ? info.group : 0);
	spec->group = group->id;
	if (there > 0)
		group->stand_in = info.id;
	else if (there == 0)
		ok = ok && load_submit(load, &line, &group->stand_in);
	load_line_free(&line);
	return r < 0 ? load_failed(load, r, ABOUT_TASK, "a task") : ok && there >= 0;
}

static struct load_group *add(struct load *load, uint64_t id)
{
	struct load_group *group = calloc(1, sizeof(*group));
	struct load_group **groups =
		reallocarray(load->groups, load->group_count + 1, sizeof(*groups));

	if (groups)
		load->groups = groups;
	if (!group || !groups || !id_map_set(&load->group_numbers, id, load->group_count)) {
		free(group);
		return NULL;
	}
	load->groups[load->group_count++] = group;
	return group;
}

static bool check(struct load *load, const json_t *object, uint64_t *ret_id)
{
	const json_t *completion = json_object_get(object, "completion");
	const char *text = json_string_value(json_object_get(object, "id"));
	const char *label = json_string_value(json_object_get(object, "label"));
	uint64_t other;

	if (!text || tq_group_id_parse(text, ret_id) < 0)
		return load_bad(load, "\"id\" is not a group's id");
	if (load->pass == LOAD_CHECK && id_map_get(&load->group_numbers, *ret_id, &other))
		return load_bad(load, "\"id\": %s is another group, too", text);
	if (label && strlen(label) > TQ_LABEL_MAX)
		return load_bad(load, "\"label\" is longer than %u bytes", TQ_LABEL_MAX);
	if (load->pass != LOAD_CHECK || !completion)
		return true;
	if (!json_is_object(completion) || json_object_get(completion, "group"))
		return load_bad(load, "\"completion\" is not a task outside of groups");
	return load_task(load, completion);
}

bool load_group(struct load *load, const json_t *object)
{
	const char *label = json_string_value(json_object_get(object, "label"));
	struct load_group *group;
	uint64_t id;

	if (load->pass != LOAD_CHECK && load->pass != LOAD_TASKS)
		return true;
	if (!check(load, object, &id))
		return false;
	group = add(load, id);
	if (!group)
		return load_bad(load, "out of memory");
	snprintf(group->label, sizeof(group->label), "%s", label ? label : "");
	group->sealed = json_is_true(json_object_get(object, "sealed"));
	if (load->pass == LOAD_CHECK)
		return true;
	if (!load_flush(load))
		return false;
	if (json_object_get(object, "completion") && !make_completing(load, group, object))
		return false;
	return !json_is_true(json_object_get(object, "failed")) || stand_in(load, group);
}

static int finish(struct load *load, const struct load_group *group)
{
	int r = 0;

	if (group->stand_in)
		r = tq_task_steer(load->cli->tq, group->stand_in, TQ_TASK_ACTION_CANCEL);
	if (r == TQ_ESTATE) /* by an earlier run */
		r = 0;
	return r == 0 && group->sealed ? tq_group_seal(load->cli->tq, group->id) : r;
}

bool load_groups_finish(struct load *load)
{
	for (uint32_t i = 0; i < load->group_count; i++) {
		if (!load_group_need(load, load->groups[i], 0))
			return false;
		const int r = finish(load, load->groups[i]);

		if (r < 0)
			return load_failed(load, r, ABOUT_GROUP, "a group");
	}
	return true;
}
