/* SPDX-License-Identifier: MIT */
/* The model: tasks that workers have taken and not started. */
#include "tests/property/model_parts.h"

static uint32_t end_of_list(const struct model *m, uint32_t worker, bool first)
{
	uint32_t end = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].assigned == worker &&
		    (!end || (m->tasks[i].place < m->tasks[end].place) == first))
			end = i;
	return end;
}

uint32_t model_assigned_first(const struct model *m, uint32_t worker)
{
	return end_of_list(m, worker, true);
}

uint32_t model_assigned_last(const struct model *m, uint32_t worker)
{
	return end_of_list(m, worker, false);
}

uint32_t model_assigned_count(const struct model *m, uint32_t worker)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		n += m->tasks[i].assigned == worker;
	return n;
}

uint32_t model_assigned_all(const struct model *m)
{
	return m->task_slots - 1 - model_assigned_count(m, 0);
}

void model_go_back(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	t->assigned = 0;
	model_wake_for(m, t->queue, t->kind);
}

void model_assigned_return(struct model *m, uint32_t worker)
{
	for (uint32_t task; (task = model_assigned_last(m, worker)) != 0;)
		model_go_back(m, task);
}

uint32_t model_assigned_next(struct model *m, uint32_t worker)
{
	uint32_t task;

	while ((task = model_assigned_first(m, worker)) &&
	       !model_keeps_assigned(m, m->tasks[task].queue))
		model_go_back(m, task);
	return task;
}

static uint32_t room(const struct model *m, uint32_t worker, uint32_t batch)
{
	uint32_t held = model_attempt_count(m, worker) + model_assigned_count(m, worker);

	return held < batch ? batch - held : 0;
}

static void enter(struct model *m, uint32_t worker, uint32_t task, bool first)
{
	uint32_t end = first ? model_assigned_first(m, worker) : model_assigned_last(m, worker);
	int64_t place = end ? m->tasks[end].place : 0;

	m->tasks[task].assigned = worker;
	m->tasks[task].place = first ? place - 1 : place + 1;
}

void model_assign(struct model *m, uint32_t worker, uint32_t queue)
{
	const struct model_worker *w = &m->workers[worker];
	uint32_t batch = m->queues[queue].batch, last = 0;

	if (batch < 2 || m->queues[queue].fair || !model_keeps_assigned(m, queue) ||
	    model_assigned_count(m, worker))
		return;
	while (room(m, worker, batch)) {
		uint32_t task = model_best(m, w);
		const struct model_task *t = &m->tasks[task];

		if (!task || t->queue != queue || t->limits || model_is_over(m, t) ||
		    !model_has_done(m, MODEL_ASSIGNED, task))
			break;
		model_take_turn(m, w, task);
		enter(m, worker, task, false);
		last = task;
	}
	if (last)
		model_wake_for(m, queue, m->tasks[last].kind);
}

static bool may_steal(const struct model *m, uint32_t thief, const struct model_task *t)
{
	const struct model_queue *q = &m->queues[t->queue];
	uint32_t batch = q->batch ? q->batch : 1, free = room(m, thief, batch);

	return model_keeps_assigned(m, t->queue) && free &&
	       free * 1000 >= batch * m->workers[thief].steal_capacity &&
	       model_serves(&m->workers[thief], t->queue, t->kind);
}

/* The last one on the owner's list that may be stolen. */
static uint32_t last_of(const struct model *m, uint32_t thief, uint32_t owner)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].assigned == owner && may_steal(m, thief, &m->tasks[i]) &&
		    (!last || m->tasks[i].place > m->tasks[last].place))
			last = i;
	return last;
}

static uint32_t find_owner(const struct model *m, uint32_t thief)
{
	const struct model_worker *w = &m->workers[thief];
	uint32_t best = 0;

	if (!w->steal_max || model_assigned_count(m, thief) ||
	    m->now_ns - w->stole_ns < w->steal_interval_ns)
		return 0;
	for (uint32_t o = 1; o < m->worker_slots; o++)
		if (o != thief && last_of(m, thief, o) &&
		    (!best || model_assigned_count(m, o) > model_assigned_count(m, best)))
			best = o;
	return best;
}

bool model_can_steal(const struct model *m, uint32_t worker)
{
	return find_owner(m, worker) != 0;
}

uint32_t model_steal(struct model *m, uint32_t worker)
{
	struct model_worker *w = &m->workers[worker];
	uint32_t owner = find_owner(m, worker), task = 0, kind = 0, queue = 0;

	for (uint32_t i = 0; owner && i < w->steal_max && (task = last_of(m, worker, owner)); i++) {
		queue = m->tasks[task].queue;
		kind = m->tasks[task].kind;
		m->classes[queue][kind].stolen++;
		w->stolen++;
		enter(m, worker, task, true);
	}
	if (!queue)
		return 0;
	w->stole_ns = m->now_ns;
	if (model_assigned_first(m, owner) || model_assigned_count(m, worker) > 1)
		model_wake_for(m, queue, kind);
	return model_assigned_next(m, worker);
}
