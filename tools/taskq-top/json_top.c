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

void top_json(struct top *top)
{
	json_t *object = json_of_model(&top->model);

	if (views[top->ui.view]->table == &tasks_table)
		json_object_set_new(object, "tasks", json_of_tasks(top));
	json_line(object);
}
