/* SPDX-License-Identifier: MIT */
/* Dependencies, groups and graphs of core and model, side by side. */
#include "tests/property/compare_parts.h"

static const struct tqi_extra *extra_of(struct comparison *c, uint32_t task)
{
	const struct tqi_task *t = tqi_task_at(&c->tx, task);

	return t->state != TQ_FREE && (t->flags & TQI_TASK_EXTRA) ? tqi_task_extra(&c->tx, t)
								  : NULL;
}

/* The model's, one after the other in the order of a task's chain. */
static uint32_t next_taken(const struct model *m, uint32_t task, uint32_t behind)
{
	uint32_t next = 0;

	for (uint32_t d = 1; d < m->dependency_slots; d++) {
		const struct model_dependency *dep = &m->dependencies[d];

		if (dep->task == task && (!behind || dep->taken < m->dependencies[behind].taken) &&
		    (!next || dep->taken > m->dependencies[next].taken))
			next = d;
	}
	return next;
}

static bool compare_chain(struct comparison *c, uint32_t task, const struct tqi_extra *extra)
{
	uint32_t d = 0, count = 0, index = task;
	const char *record = "dependency of task";

	for (uint32_t e = extra->after; e && !c->tx.corrupt; count++) {
		const struct tqi_edge *edge = tqi_edge_at(&c->tx, e);

		d = next_taken(c->m, task, d);
		const struct model_dependency *m = &c->m->dependencies[d];

		if (!d || !same(c, record, index, "on", edge->task, m->on) ||
		    !SAME(edge, m, kind) || !SAME(edge, m, told) || !SAME(edge, m, quiet))
			return d ? false : differ(c, "task %u: too many dependencies", task);
		e = edge->next_of_waiter;
	}
	return same(c, "task", task, "more dependencies", 0, next_taken(c->m, task, d) && d) &&
	       same(c, "task", task, "after_count", extra->after_count, count);
}

static uint32_t next_dependant(const struct model *m, uint32_t on, uint32_t behind)
{
	uint32_t next = 0;

	for (uint32_t d = 1; d < m->dependency_slots; d++) {
		const struct model_dependency *dep = &m->dependencies[d];

		if (dep->task && dep->on == on && dep->told == TQI_EDGE_OPEN &&
		    (!behind || dep->order < m->dependencies[behind].order) &&
		    (!next || dep->order > m->dependencies[next].order))
			next = d;
	}
	return next;
}

/* The order in which they will be told. */
static bool compare_dependants(struct comparison *c, uint32_t on)
{
	uint32_t d = 0;

	for (uint32_t e = tqi_task_at(&c->tx, on)->edges; e && !c->tx.corrupt;) {
		const struct tqi_edge *edge = tqi_edge_at(&c->tx, e);

		e = edge->next;
		if (!edge->kind || edge->told != TQI_EDGE_OPEN)
			continue;
		d = next_dependant(c->m, on, d);
		if (!same(c, "dependant of task", on, "task", edge->waiter,
			  d ? c->m->dependencies[d].task : 0))
			return false;
	}
	return !d || same(c, "task", on, "more dependants", 0, next_dependant(c->m, on, d));
}

bool compare_after(struct comparison *c, uint32_t task)
{
	const struct model_task *m = &c->m->tasks[task];
	const struct tqi_extra *extra = extra_of(c, task);
	const char *record = "task";
	uint32_t index = task;

	if (!compare_dependants(c, task))
		return false;
	if (!extra)
		return same(c, record, task, "dependencies", 0, next_taken(c->m, task, 0) != 0);
	return compare_chain(c, task, extra) && SAME(extra, m, unmet) &&
	       (m->cause != TQ_CAUSE_DEPENDENCY || SAME(extra, m, culprit));
}

bool compare_member(struct comparison *c, uint32_t task)
{
	const struct model_task *m = &c->m->tasks[task];
	const struct tqi_extra *extra = extra_of(c, task);
	const char *record = "member";
	uint32_t index = task;

	if (!extra)
		return same(c, record, task, "group", 0, m->group);
	return SAME(extra, m, group) && SAME(extra, m, counted) && SAME(extra, m, pinned) &&
	       SAME(extra, m, shut) && SAME(extra, m, completes) &&
	       (!m->counted || !m->group || SAME(extra, m, group_order));
}

static bool compare_members(struct comparison *c, uint32_t group, const struct tqi_group *g)
{
	uint32_t task = model_member_first(c->m, group);

	for (uint32_t i = g->first; i && !c->tx.corrupt; i = extra_of(c, i)->group_next) {
		if (!same(c, "group", group, "member", i, task))
			return false;
		task = model_member_after(c->m, i);
	}
	return same(c, "group", group, "more members", 0, task);
}

static bool compare_group(struct comparison *c, uint32_t index)
{
	const struct tqi_group *g = tqi_group_at(&c->tx, index);
	const struct model_group *m = &c->m->groups[index];
	const char *record = "group";

	if (!SAME(g, m, state) || (m->generation && !SAME(g, m, generation)) ||
	    m->state == TQI_GROUP_FREE)
		return !c->text[0];
	for (uint32_t s = 0; s < TQ_STATE_COUNT; s++)
		if (!same(c, record, index, "states", g->states[s], m->states[s]))
			return false;
	return SAME(g, m, condition) && SAME(g, m, cancelled) && SAME(g, m, work) &&
	       SAME(g, m, made_ns) && SAME(g, m, ended_ns) && SAME(g, m, sequence) &&
	       SAME(g, m, completion_id) && SAME(g, m, completion) && SAME(g, m, members) &&
	       SAME(g, m, unfinished) && SAME(g, m, ends) && SAME(g, m, culprit) &&
	       (!m->work || m->work == TQI_GROUP_UNDOING || SAME(g, m, walk)) &&
	       (m->state > TQI_GROUP_OPEN ||
		same(c, record, index, "owner", g->owner.pid, m->owner)) &&
	       compare_members(c, index, g);
}

static bool compare_lists(struct comparison *c)
{
	const struct tqi_root *root = tqi_root(&c->tx);
	uint32_t place = 0, listed = 0;
	uint64_t order = 0;

	for (uint32_t g = root->group.busy; g && !c->tx.corrupt; place++) {
		if (place == c->m->busy_count)
			return differ(c, "group %u: is not busy", g);
		if (!same(c, "busy groups", place, "group", g, c->m->busy[place]))
			return false;
		g = tqi_group_at(&c->tx, g)->busy_next;
	}
	for (uint32_t g = 1; g < c->m->group_slots; g++)
		listed += c->m->groups[g].listed != 0;
	for (uint32_t g = root->group.ended.first; g && !c->tx.corrupt;) {
		if (c->m->groups[g].listed <= order)
			return differ(c, "group %u: place among the complete ones", g);
		order = c->m->groups[g].listed;
		g = tqi_group_at(&c->tx, g)->next;
		listed--;
	}
	return same(c, "root", 0, "busy groups", place, c->m->busy_count) &&
	       same(c, "root", 0, "complete groups that are missing", listed, 0) &&
	       same(c, "root", 0, "groups_closing", root->group.closing, c->m->closing);
}

bool compare_groups(struct comparison *c)
{
	for (uint32_t g = 1; g < c->m->group_slots; g++)
		if (!compare_group(c, g))
			return false;
	return compare_lists(c);
}

/* The edge of a dependency that the model has; NULL it is gone. */
static const struct tqi_edge *find_edge(struct comparison *c, const struct model_dependency *d)
{
	const struct tqi_extra *extra = extra_of(c, d->task);

	if (!extra || tqi_task_at(&c->tx, d->task)->generation != c->m->tasks[d->task].generation)
		return NULL;
	for (uint32_t e = extra->after; e && !c->tx.corrupt;) {
		const struct tqi_edge *edge = tqi_edge_at(&c->tx, e);

		if (edge->task == d->on && edge->kind == d->kind)
			return edge;
		e = edge->next_of_waiter;
	}
	return NULL;
}

bool compare_did_after(struct comparison *c, enum model_unit unit, uint32_t dependency)
{
	const struct tqi_edge *edge = find_edge(c, &c->m->dependencies[dependency]);

	return !edge || (unit == MODEL_DECIDED && edge->told != TQI_EDGE_OPEN);
}

static bool is_detached(struct comparison *c, uint32_t task)
{
	const struct tqi_extra *extra = extra_of(c, task);

	return !extra || extra->group != c->m->tasks[task].group ||
	       tqi_task_at(&c->tx, task)->generation != c->m->tasks[task].generation;
}

bool compare_did_group(struct comparison *c, enum model_unit unit, uint32_t index, uint32_t left)
{
	const struct tqi_root *root = tqi_root(&c->tx);

	if (unit == MODEL_DETACHED)
		return is_detached(c, index);
	if (unit == MODEL_CLOSED)
		return root->group.closing < index;
	if (unit == MODEL_TURNED)
		return root->group.busy != index;
	if (unit == MODEL_OVERTAKEN)
		return root->group.ended.first != index;
	const struct tqi_group *g = tqi_group_at(&c->tx, index);
	const struct model_group *m = &c->m->groups[index];

	if (unit == MODEL_DISSOLVED || g->generation != m->generation)
		return g->generation != m->generation;
	return g->work != m->work || g->walk != left;
}
