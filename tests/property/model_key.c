/* SPDX-License-Identifier: MIT */
/* The model: unique keys, by looking at all tasks. */
#include "tests/property/model_parts.h"

#include <errno.h>

uint32_t model_holder(const struct model *m, uint32_t queue, uint32_t unique)
{
	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].holds && m->tasks[i].unique == unique && m->tasks[i].queue == queue)
			return i;
	return 0;
}

/* The one blocked task of the same key. */
uint32_t model_successor(const struct model *m, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];

	for (uint32_t i = 1; i < m->task_slots; i++)
		if (model_has_leader(&m->tasks[i]) && m->tasks[i].unique == t->unique &&
		    m->tasks[i].queue == t->queue)
			return i;
	return 0;
}

static bool is_over(const struct model *m, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];

	return model_state_waits(t->state) && model_is_over(m, t);
}

bool model_waits_for_over(const struct model *m, const struct model_submit *s)
{
	for (uint32_t i = 0; s->unique && i < s->spec.after_count; i++) {
		uint32_t on = model_find(m, s->after[i].id);
		const struct model_task *t = &m->tasks[on];

		if (on && t->forget && t->unique == s->unique && t->queue == s->queue &&
		    is_over(m, on))
			return true;
	}
	return false;
}

void model_meet(struct model *m, const struct model_submit *s, struct model_meeting *meeting)
{
	uint32_t h, successor;

	*meeting = (struct model_meeting){ 0 };
	while ((h = model_holder(m, s->queue, s->unique)) && is_over(m, h))
		model_end_over(m, h);
	if (!h)
		return;
	meeting->twin = h;
	if (m->tasks[h].scope != TQ_UNIQUE_COALESCE || s->scope != TQ_UNIQUE_COALESCE)
		return;
	meeting->refused = m->tasks[h].kind != s->kind;
	if (meeting->refused)
		return;
	successor = model_successor(m, h);
	if (successor && is_over(m, successor)) {
		model_end_over(m, successor);
		successor = 0;
	}
	meeting->replace = true;
	if (successor)
		meeting->twin = successor;
	else if (m->tasks[h].state == TQ_RUNNING)
		*meeting = (struct model_meeting){ .leader = h };
}

void model_replace(struct model *m, const struct model_submit *s, uint32_t task)
{
	m->tasks[task].payload = s->payload;
	m->tasks[task].label = s->label;
}

void model_key_started(struct model_task *t)
{
	if (t->scope == TQ_UNIQUE_QUEUED)
		t->holds = false;
}

void model_key_ended(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task], *s;

	if (!t->holds || t->scope == TQ_UNIQUE_KEPT)
		return;
	t->holds = false;
	uint32_t successor = t->scope == TQ_UNIQUE_COALESCE ? model_successor(m, task) : 0;

	if (!successor)
		return;
	s = &m->tasks[successor];
	s->holds = true;
	if (!s->unmet)
		model_go_on(m, successor);
}

int model_key_move(const struct model *m, uint32_t task, uint32_t queue)
{
	const struct model_task *t = &m->tasks[task];

	if (!t->unique)
		return 0;
	if (model_has_leader(t) ||
	    (t->holds && t->scope == TQ_UNIQUE_COALESCE && model_successor(m, task)))
		return TQ_ESTATE;
	return t->holds && model_holder(m, queue, t->unique) ? -EEXIST : 0;
}
