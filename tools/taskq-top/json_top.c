/* SPDX-License-Identifier: MIT */
/* taskq-top --json: a look, with tasks in their view. */
#include "json.h"
#include "json_model.h"
#include "top.h"

/* Only where they were asked for: there may be a million. */
static json_t *json_of_tasks(struct top *top)
{
	json_t *list = json_array();

	tasks_load(&top->model, top->source.tq, 0, top->model.pass.pick_count);
	for (uint32_t i = 0; i < top->model.task_count; i++)
		if (top->model.tasks[i].info.state != TQ_FREE)
			json_array_append_new(list, json_of_task(top->source.tq,
								 &top->model.tasks[i].info,
								 &top->model.now.clocks));
	return list;
}

/* These, too, only where they were asked for. */
static json_t *json_of_groups(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model->now.group_count; i++)
		json_array_append_new(list,
				      json_of_group(&model->now.groups[i], &model->now.clocks));
	return list;
}

static json_t *json_of_trace(const struct model *model)
{
	const struct recorder *recorder = &model->recorder;
	json_t *list = json_array();

	for (uint32_t i = 0; i < recorder->shown_count; i++) {
		const struct tq_trace_entry *entry = &recorder->entries[recorder->shown[i]];

		json_array_append_new(
			list, entry->event ? json_of_trace_entry(entry, &model->now.clocks)
					   : json_pack("{s:o}", "lost", json_u64(entry->number)));
	}
	return list;
}

void top_json(struct top *top)
{
	const struct model *model = &top->model;
	json_t *object = json_of_model(model);

	if (views[top->ui.view]->table == &tasks_table)
		json_object_set_new(object, "tasks", json_of_tasks(top));
	if (views[top->ui.view]->subject == SUBJECT_GROUP)
		json_object_set_new(object, "groups", json_of_groups(model));
	if (views[top->ui.view]->subject == SUBJECT_EVENT)
		json_object_set_new(object, "trace", json_of_trace(model));
	json_line(object);
}
