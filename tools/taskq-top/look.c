/* SPDX-License-Identifier: MIT */
/* From a look at the segment to cells. */
#include "top.h"

static bool shows_tasks(const struct top *top)
{
	return views[top->ui.view]->table == &tasks_table;
}

#define LATENCIES_NS 500000000ull /* more often than twice a second nobody can read them */

static bool shows(const struct top *top, enum subject subject)
{
	return views[top->ui.view]->subject == subject;
}

static uint32_t parts_of(const struct top *top)
{
	return (top->cli.json ? SAMPLE_HOLDER : 0u) |
	       (top->cli.json || shows(top, SUBJECT_LIMIT) ? SAMPLE_LIMITS : 0u) |
	       (shows(top, SUBJECT_GROUP) ? SAMPLE_GROUPS : 0u);
}

static void look_at_latencies(struct top *top)
{
	struct model *model = &top->model;

	if (top->source.tq && (top->cli.json || shows(top, SUBJECT_QUEUE)))
		latencies_update(&model->latencies, top->source.tq, &model->now,
				 top->batch ? 0 : LATENCIES_NS);
}

/* What is printed is printed once; who has scrolled up is not disturbed. */
static void look_at_trace(struct top *top)
{
	const struct table_state *state = &top->ui.tables[top->ui.view];
	struct recorder *recorder = &top->model.recorder;

	recorder_filter(recorder, state->filter);
	if (top->batch)
		recorder_clear(recorder);
	if (!state->is_paused && !(top->ui.is_frozen && recorder->cursor))
		recorder_read(recorder, top->source.tq, top->model.now.segment.traced,
			      &top->model.now.clocks);
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
		sample_take(&top->source, parts_of(top), &sample);
		model_update(&top->model, &sample);
		if (top->source.tq != before) {
			model_forget(&top->model);
			for (unsigned i = 0; i < VIEW_COUNT; i++)
				top->ui.tables[i].is_paused = false; /* at what is no more */
		}
		look_at_latencies(top);
	}
	table_update(table, &top->ui.tables[top->ui.view], &top->model);
	if (shows_tasks(top) && top->source.tq) {
		look_at_tasks(top, pass_ns);
		table_update(table, &top->ui.tables[top->ui.view], &top->model);
	}
	if (shows(top, SUBJECT_EVENT) && top->source.tq) {
		look_at_trace(top);
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
