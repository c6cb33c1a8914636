/* SPDX-License-Identifier: MIT */
/* The tasks that are on the screen. */
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "text.h"

void tasks_forget(struct model *model)
{
	for (uint32_t i = 0; i < model->task_count; i++)
		free(model->tasks[i].command);
	free(model->tasks);
	model->tasks = NULL;
	model->task_count = 0;
}

static void read_task(struct tq *tq, uint64_t id, struct task_row *row)
{
	row->info = (struct tq_task_info){ .size = sizeof(row->info) };
	if (tq_task_info(tq, id, &row->info) == 0)
		row->command = text_of_task(tq, &row->info);
	else
		row->info.id = id;
}

void tasks_load(struct model *model, struct tq *tq, uint32_t first, uint32_t count)
{
	const struct pass *pass = &model->pass;
	const uint32_t left = first < pass->pick_count ? pass->pick_count - first : 0;
	const uint32_t n = count < left ? count : left;

	tasks_forget(model);
	model->tasks_first = first;
	if (n == 0 || !tq)
		return;
	model->tasks = calloc(n, sizeof(*model->tasks));
	if (!model->tasks)
		return;
	for (uint32_t i = 0; i < n; i++)
		read_task(tq, pass->picks[first + i].id, &model->tasks[i]);
	model->task_count = n;
}
