/* SPDX-License-Identifier: MIT */
/* The model: dependencies.  What the end of a task decides, decided one after the other. */
#include "tests/property/model_parts.h"

#include <errno.h>

uint64_t model_id(const struct model *m, uint32_t task)
{
	return tqi_id_make(task, m->tasks[task].generation);
}

bool model_after_is_met(uint32_t kind, uint32_t state)
{
	return kind == TQ_AFTER_ANY || (state == TQ_DONE) == (kind == TQ_AFTER_OK);
}

uint32_t model_find(const struct model *m, uint64_t id)
{
	uint32_t task = tqi_id_index(id);

	return task < m->task_slots && m->tasks[task].state != TQ_FREE &&
			       m->tasks[task].generation == tqi_id_generation(id) &&
			       !m->tasks[task].shut
		       ? task
		       : 0;
}

static bool is_repeated(const struct tq_dependency *after, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (after[k].id == after[i].id && after[k].kind == after[i].kind)
			return true;
	return false;
}

int model_after_check(const struct model *m, const struct model_submit *s)
{
	for (uint32_t i = 0; i < s->spec.after_count; i++)
		if (!model_find(m, s->after[i].id) && s->after[i].kind != TQ_AFTER_ANY)
			return TQ_EGONE;
	return 0;
}

bool model_has_after(const struct model *m, uint32_t task)
{
	for (uint32_t d = 1; d < m->dependency_slots; d++)
		if (m->dependencies[d].task == task)
			return true;
	return false;
}

uint32_t model_depend(struct model *m, uint32_t task, uint32_t on, uint32_t kind, uint32_t told)
{
	uint32_t d = 1;

	while (m->dependencies[d].task)
		d++;
	if (d >= m->dependency_slots)
		m->dependency_slots = d + 1;
	++m->order;
	m->dependencies[d] = (struct model_dependency){
		.task = task,
		.on = on,
		.kind = kind,
		.told = told,
		.quiet = m->tasks[task].tenant != m->tasks[on].tenant,
		.order = m->order,
		.taken = m->order,
	};
	m->tasks[task].extra = true;
	m->tasks[on].listed = 0;
	return d;
}

static uint32_t told_of(const struct model *m, uint32_t on, uint32_t kind)
{
	uint32_t state = m->tasks[on].state;

	if (!model_state_is_final(state))
		return TQI_EDGE_OPEN;
	return model_after_is_met(kind, state) ? TQI_EDGE_TOLD : TQI_EDGE_REFUSED;
}

void model_after_submit(struct model *m, uint32_t task, const struct model_submit *s,
			uint64_t *ret_culprit)
{
	*ret_culprit = 0;
	for (uint32_t i = 0; i < s->spec.after_count; i++) {
		uint32_t on = model_find(m, s->after[i].id), kind = s->after[i].kind;

		if (!on || is_repeated(s->after, i))
			continue;
		uint32_t told = told_of(m, on, kind);

		if (told == TQI_EDGE_REFUSED && *ret_culprit)
			told = TQI_EDGE_TOLD; /* one is enough */
		else if (told == TQI_EDGE_REFUSED)
			*ret_culprit = s->after[i].id;
		model_depend(m, task, on, kind, told);
		m->tasks[task].unmet += told == TQI_EDGE_OPEN;
	}
}

void model_refuse(struct model *m, uint32_t task, uint64_t culprit, bool dooms)
{
	struct model_task *t = &m->tasks[task];

	t->culprit = culprit;
	t->dooms |= dooms;
	model_finish(m, task, TQ_CANCELLED, TQ_CAUSE_DEPENDENCY, 0);
}

static bool depends(const struct model *m, uint32_t task, uint32_t on, uint32_t kind)
{
	for (uint32_t d = 1; d < m->dependency_slots; d++)
		if (m->dependencies[d].task == task && m->dependencies[d].on == on &&
		    m->dependencies[d].kind == kind)
			return true;
	return false;
}

int model_after(struct model *m, uint32_t task, uint64_t id, uint32_t kind)
{
	struct model_task *t = &m->tasks[task];
	uint32_t on = model_find(m, id);

	if (!model_state_waits(t->state) || t->first_started_ns || model_is_condemned(m, t))
		return TQ_ESTATE;
	if (!on)
		return kind == TQ_AFTER_ANY ? 0 : TQ_EGONE;
	if (m->tasks[on].sequence >= t->sequence)
		return TQ_ECYCLE;
	t->extra = true;
	if (depends(m, task, on, kind))
		return 0;
	uint32_t told = told_of(m, on, kind);

	model_depend(m, task, on, kind, told);
	if (told == TQI_EDGE_OPEN)
		model_block(m, task);
	else if (told == TQI_EDGE_REFUSED)
		model_refuse(m, task, id, false);
	return 0;
}

static void refuse_hidden(struct model_task *t, uint64_t culprit, bool dooms)
{
	t->unmet--;
	t->dooms |= dooms;
	t->culprit = culprit; /* it is cancelled when it is shown */
}

/* D2: an open one of a task that has ended. */
static void decide(struct model *m, struct model_dependency *d)
{
	const struct model_task *on = &m->tasks[d->on];
	struct model_task *t = &m->tasks[d->task];
	bool dooms = on->dooms;

	d->told = TQI_EDGE_TOLD;
	if (model_state_is_final(t->state))
		return;
	if ((!dooms && model_after_is_met(d->kind, on->state)) || (t->shut && t->culprit)) {
		model_unblock(m, d->task);
		return;
	}
	d->told = TQI_EDGE_REFUSED;
	if (model_is_hidden(m, t))
		refuse_hidden(t, model_id(m, d->on), dooms);
	else
		model_refuse(m, d->task, model_id(m, d->on), dooms);
}

static uint32_t next_open(const struct model *m, uint32_t task)
{
	uint32_t next = 0;

	for (uint32_t d = 1; d < m->dependency_slots; d++) {
		const struct model_dependency *dep = &m->dependencies[d];

		if (dep->task && dep->on == task && dep->told == TQI_EDGE_OPEN &&
		    (!next || dep->order > m->dependencies[next].order))
			next = d;
	}
	return next;
}

bool model_decide(struct model *m, uint32_t task)
{
	uint32_t i;

	while ((i = next_open(m, task))) {
		if (!model_has_done(m, MODEL_DECIDED, i))
			return false;
		decide(m, &m->dependencies[i]);
	}
	return true;
}

/* D3. */
bool model_must_release(const struct model *m, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];

	return model_has_after(m, task) &&
	       (t->forget || !(t->cause == TQ_CAUSE_DEPENDENCY || t->counted));
}

static uint32_t newest_of(const struct model *m, uint32_t task)
{
	uint32_t newest = 0;

	for (uint32_t d = 1; d < m->dependency_slots; d++)
		if (m->dependencies[d].task == task &&
		    (!newest || m->dependencies[d].taken > m->dependencies[newest].taken))
			newest = d;
	return newest;
}

bool model_discard(struct model *m, uint32_t task, uint32_t *count)
{
	uint32_t d;

	*count = 0;
	while ((d = newest_of(m, task))) {
		uint32_t on = m->dependencies[d].on;

		if (!model_has_done(m, MODEL_RELEASED, d))
			return false;
		if (m->tasks[task].unmet && m->dependencies[d].told == TQI_EDGE_OPEN)
			m->tasks[task].unmet--; /* of one that is undone */
		m->dependencies[d] = (struct model_dependency){ 0 };
		++*count;
		if (model_state_is_final(m->tasks[on].state))
			model_settle(m, on);
	}
	return true;
}

/* DP-4: one that was not decided for a task, and not what cancelled it, has a new life, too. */
static bool lives_again(const struct model *m, const struct model_dependency *d)
{
	return d->told == TQI_EDGE_TOLD && d->kind == TQ_AFTER_OK &&
	       !model_state_is_final(m->tasks[d->on].state) &&
	       model_id(m, d->on) != m->tasks[d->task].culprit;
}

/* D4: what it is to wait for in a new life. */
uint32_t model_reopen(struct model *m, uint32_t task)
{
	uint32_t unmet = 0;

	for (uint32_t i = 1; i < m->dependency_slots; i++) {
		struct model_dependency *d = &m->dependencies[i];

		if (d->task != task)
			continue;
		if (lives_again(m, d)) {
			d->told = TQI_EDGE_OPEN;
			d->order = ++m->order; /* it enters that task's list */
		}
		unmet += d->told == TQI_EDGE_OPEN;
		if (d->told == TQI_EDGE_REFUSED)
			d->told = TQI_EDGE_TOLD;
	}
	return unmet;
}
