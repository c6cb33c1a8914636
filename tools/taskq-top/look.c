/* SPDX-License-Identifier: MIT */
/* From a look at the segment to cells. */
#include "top.h"

static bool shows_tasks(const struct top *top)
{
	return views[top->ui.view]->table == &tasks_table;
}

static bool shows_limits(const struct top *top)
{
	return top->cli.json || views[top->ui.view]->subject == SUBJECT_LIMIT;
}

/* What is frozen stays, but another order is found all the same. */
static void look_at_tasks(struct top *top, uint64_t pass_ns)
{
	const struct table_state *state = &top->ui.tables[top->ui.view];
	struct pass *pass = &top->model.pass;

	if (pass_set(pass, tasks_rank(state->sort), state->reverse, state->filter) &&
	    !(top->ui.is_frozen && pass->is_complete))
		(void)pass_step(pass, top->source.tq, pass_ns);
}

void top_look(struct top *top, uint64_t pass_ns)
{
	const struct tq *before = top->source.tq;
	const struct table_kind *table = views[top->ui.view]->table;
	struct sample sample = { 0 };

	if (!top->ui.is_frozen || !top->source.tq) {
		sample_take(&top->source, shows_limits(top), &sample);
		model_update(&top->model, &sample);
	}
	if (top->source.tq != before)
		pass_forget(&top->model.pass);
	table_update(table, &top->ui.tables[top->ui.view], &top->model);
	if (shows_tasks(top) && top->source.tq) {
		look_at_tasks(top, pass_ns);
		table_update(table, &top->ui.tables[top->ui.view], &top->model);
	}
	if (top->ui.detail.kind != DETAIL_NONE)
		detail_read(&top->ui.detail, &top->model, top->source.tq);
}

static void load_tasks(void *arg, uint32_t first, uint32_t count)
{
	struct top *top = arg;

	tasks_load(&top->model, top->source.tq, first, count);
}

void top_draw(struct top *top)
{
	frame_draw(&top->ui, &top->model, &top->cells, load_tasks, top);
}

void top_free(struct top *top)
{
	ui_free(&top->ui);
	model_free(&top->model);
	cells_free(&top->cells);
	source_close(&top->source);
}
