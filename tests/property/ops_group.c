/* SPDX-License-Identifier: MIT */
/* Operations on dependencies, groups and graphs. */
#include "scheduler/graph/group.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/after.h"
#include "scheduler/task/depend.h"
#include "scheduler/task/group_make.h"
#include "scheduler/task/submit.h"
#include "tests/property/submission.h"

#define FIRST_OWNER 20000 /* pids: workers have others */
#define GRAPHS_MAX 2	  /* being built at a time */
#define PAYLOAD_MAX 3000

/* Dependencies. */

struct link {
	uint64_t id, on;
	uint32_t kind;
};

static int after_core(struct world *w, void *arg)
{
	const struct link *l = arg;

	return tqi_after_add(&w->tx, l->id, l->on, l->kind);
}

/* Whether the two are there; `on` may have made room. */
static int expected_after(struct world *w, uint32_t task, const struct link *l)
{
	const struct tq_dependency after = { .id = l->on, .kind = l->kind };

	if (is_searched_whole(w) && model_find(w->m, l->on) &&
	    w->m->tasks[model_find(w->m, l->on)].sequence < w->m->tasks[task].sequence &&
	    model_blocks_for_ever(w->m, task, &after, 1, 0))
		return TQ_ECYCLE;
	return 0;
}

void op_after(struct world *w)
{
	uint32_t task = pick_task(w, chance(w, 2)   ? TQ_READY
				     : chance(w, 2) ? TQ_BLOCKED
						    : TQ_STATE_COUNT);
	uint32_t on = pick_task(w, TQ_STATE_COUNT);
	struct link l = { id_of(w, task), id_of(w, on), pick_after(w) };

	if (!task || !on || !w->link_every || !room_for_links(w))
		return;
	int r = perform(w, after_core, &l, false);

	note(w, "%u after %u, kind %u: %d", task, on, l.kind, r);
	if (r == NO_ROOM)
		return;
	bool cycle = r == TQ_ECYCLE && w->m->tasks[on].sequence < w->m->tasks[task].sequence;

	if (!cycle && expected_after(w, task, &l) && r == 0 &&
	    !model_state_is_final(w->m->tasks[on].state))
		fail(w, "a dependency closes a cycle");
	if (cycle) {
		const struct tq_dependency after = { .id = l.on, .kind = l.kind };

		w->cycles++;
		if (!model_blocks_for_ever(w->m, task, &after, 1, 0))
			fail(w, "a dependency closes no cycle");
		return;
	}
	w->links += r == 0;
	expect(w, r, model_after(w->m, task, l.on, l.kind), "dependency");
}

/* Groups. */

struct group_op {
	struct tqi_group_request request;
	struct tqi_ident owner;
	struct submission *completion; /* NULL none */
	uint64_t id, completion_id;
	uint32_t group;
	bool cancel;
};

static struct submission submission;

static int make_core(struct world *w, void *arg)
{
	struct group_op *g = arg;
	int r = tqi_group_make(&w->tx, &g->request, &g->id, &g->completion_id);

	if (r == 0 && g->completion)
		g->completion->id = g->completion_id;
	return r;
}

/* Without a key; at times a member of another group, and after others. */
static void choose_completion(struct world *w, struct group_op *g)
{
	g->completion = NULL;
	if (!chance(w, 2))
		return;
	memset(&submission.core, 0, sizeof(submission.core));
	submission_choose(w, &submission, PAYLOAD_MAX);
	submission.model.unique = 0;
	if (chance(w, 2))
		submission.model.spec.after_count = 0;
	submission.model.completes = true;
	submission_point(&submission);
	submission.core.spec = &submission.model.spec;
	g->completion = &submission;
}

static uint32_t groups_in_use(const struct world *w)
{
	uint32_t n = 0;

	for (uint32_t g = 1; g < w->m->group_slots; g++)
		n += w->m->groups[g].state != TQI_GROUP_FREE;
	return n;
}

static void choose_owner(struct world *w, struct group_op *g)
{
	g->owner = (struct tqi_ident){ .pid = FIRST_OWNER + ++w->owners, .tid = 1, .start = 1 };
	g->request.owner = &g->owner;
}

/* True when it was made; in the model, too. */
static bool make(struct world *w, struct group_op *g)
{
	int closed = w->m->flags & TQI_ROOT_SHUTDOWN ? TQ_ESHUTDOWN : 0;
	int r = g->completion ? submission_do(w, g->completion, make_core, g)
			      : perform(w, make_core, g, false);

	note(w, "make %s, completion %d: %d, %u", g->request.building ? "graph" : "group",
	     g->completion != NULL, r, tqi_id_index(g->id));
	if (r != NO_ROOM && !g->completion)
		expect(w, r, closed, "a new group");
	if (r < 0)
		return false;
	uint32_t slot = tqi_id_index(g->id);
	const struct model_group like = {
		.state = g->request.building ? TQI_GROUP_BUILDING : TQI_GROUP_OPEN,
		.condition = g->request.condition ? g->request.condition : TQ_GROUP_ANY,
		.owner = g->request.owner ? g->owner.pid : 0,
	};

	if (slot >= MODEL_GROUPS || w->m->groups[slot].state != TQI_GROUP_FREE)
		fail(w, "group slot %u is in use", slot);
	model_group_make(w->m, slot, &like, tqi_id_index(g->completion_id));
	expect(w, (int64_t)tqi_id_generation(g->id), (int64_t)w->m->groups[slot].generation,
	       "generation of a group");
	return true;
}

void op_group_make(struct world *w)
{
	struct group_op g = { .id = 0 };

	if (!w->link_every || groups_in_use(w) + 2 >= MODEL_GROUPS)
		return;
	choose_completion(w, &g);
	g.request.condition = g.completion ? below(w, TQ_GROUP_FAIL + 1) : 0;
	g.request.completion = g.completion ? &g.completion->core : NULL;
	if (chance(w, 2))
		choose_owner(w, &g);
	w->groups += make(w, &g);
}

static int steer_core(struct world *w, void *arg)
{
	const struct group_op *g = arg;

	return g->cancel ? tqi_group_cancel(&w->tx, g->id) : tqi_group_seal(&w->tx, g->id);
}

void op_group_steer(struct world *w)
{
	uint32_t group = pick_group(w, chance(w, 2) ? TQI_GROUP_OPEN : TQI_GROUP_FREE);
	const struct model_group *m = &w->m->groups[group];
	bool stale = chance(w, 20);
	struct group_op g = { .id = tqi_id_make(group, m->generation - stale),
			      .cancel = chance(w, 3) };

	if (!group || tqi_id_generation(g.id) == 0)
		return;
	int r = perform(w, steer_core, &g, false);

	note(w, "%s group %u%s: %d", g.cancel ? "cancel" : "seal", group, stale ? " stale" : "", r);
	if (stale)
		expect(w, r, TQ_EGONE, "a stale group");
	else if (m->state == TQI_GROUP_BUILDING)
		expect(w, r, -ENOENT, "a graph that is being built");
	else
		expect(w, r,
		       g.cancel ? model_group_cancel(w->m, group) : model_group_seal(w->m, group),
		       "steering a group");
}

static int evict_core(struct world *w, void *arg)
{
	return (int)tqi_group_retire(&w->tx, *(uint32_t *)arg, true);
}

void op_group_evict(struct world *w)
{
	uint32_t count = 1 + below(w, 4);
	int r = perform(w, evict_core, &count, false);

	note(w, "evict %u groups: %d", count, r);
	expect(w, r, model_group_retire(w->m, count, true), "evict groups");
}

void op_owner_dies(struct world *w)
{
	uint32_t group = pick_group(w, chance(w, 2) ? TQI_GROUP_OPEN : TQI_GROUP_BUILDING);

	if (!group || !w->m->groups[group].owner)
		return;
	note(w, "the owner of group %u dies", group);
	w->m->groups[group].owner_dead = true;
}

/* Graphs. */

static void begin_graph(struct world *w)
{
	struct group_op g = { .request = { .building = true,
					   .condition = below(w, TQ_GROUP_FAIL + 1) } };

	if (groups_in_use(w) + 2 >= MODEL_GROUPS)
		return;
	choose_owner(w, &g);
	make(w, &g);
}

static int member_core(struct world *w, void *arg)
{
	struct submission *s = arg;
	uint64_t id = tqi_id_make(s->model.group, w->m->groups[s->model.group].generation);
	int r = tqi_graph_find(&w->tx, id, &s->core.group);

	s->core.shut = true;
	return r < 0 ? r : tqi_submit(&w->tx, &s->core, &s->id);
}

static void add_member(struct world *w, uint32_t group)
{
	memset(&submission.core, 0, sizeof(submission.core));
	submission_choose(w, &submission, PAYLOAD_MAX);
	submission.model.unique = 0;
	submission.model.spec.group = 0;
	submission.model.group = group;
	submission.model.shut = true;
	if (chance(w, 2))
		submission.model.spec.after_count = 0;
	submission_point(&submission);
	submission.core.spec = &submission.model.spec;
	submission_do(w, &submission, member_core, &submission);
}

/* One that has been added before the other, and is not waited for by it yet. */
static uint32_t pick_member(struct world *w, uint32_t group, uint32_t before)
{
	uint32_t members[MODEL_TASKS], n = 0;

	for (uint32_t i = 1; i < w->m->task_slots; i++)
		if (w->m->tasks[i].group == group &&
		    (!before || w->m->tasks[i].joined < w->m->tasks[before].joined))
			members[n++] = i;
	return n ? members[below(w, n)] : 0;
}

static bool depends(const struct world *w, uint32_t task, uint32_t on, uint32_t kind)
{
	for (uint32_t d = 1; d < w->m->dependency_slots; d++) {
		const struct model_dependency *dep = &w->m->dependencies[d];

		if (dep->task == task && dep->on == on && dep->kind == kind)
			return true;
	}
	return false;
}

static int depend_core(struct world *w, void *arg)
{
	const struct link *l = arg;

	return tqi_graph_depend(&w->tx, (uint32_t)l->id, (uint32_t)l->on, l->kind);
}

static void add_dependency(struct world *w, uint32_t group)
{
	uint32_t task = pick_member(w, group, 0), on = task ? pick_member(w, group, task) : 0;
	struct link l = { task, on, pick_after(w) };

	if (!on || depends(w, task, on, l.kind) || !room_for_links(w))
		return;
	int r = perform(w, depend_core, &l, false);

	note(w, "in graph %u, %u after %u, kind %u: %d", group, task, on, l.kind, r);
	if (r == NO_ROOM)
		return;
	expect(w, r, 0, "dependency in a graph");
	model_graph_depend(w->m, task, on, l.kind);
	w->links++;
}

static int publish_core(struct world *w, void *arg)
{
	struct group_op *g = arg;
	int r = tqi_graph_publish(&w->tx, g->id, g->completion ? &g->completion->core : NULL,
				  &g->completion_id);

	if (r == 0 && g->completion)
		g->completion->id = g->completion_id;
	return r;
}

static void publish(struct world *w, uint32_t group)
{
	struct group_op g = { .id = tqi_id_make(group, w->m->groups[group].generation) };
	int closed = w->m->flags & TQI_ROOT_SHUTDOWN ? TQ_ESHUTDOWN : 0;

	choose_completion(w, &g);
	submission.model.graph = group;
	int r = g.completion ? submission_do(w, g.completion, publish_core, &g)
			     : perform(w, publish_core, &g, false);

	note(w, "publish graph %u, completion %u: %d", group, tqi_id_index(g.completion_id), r);
	if (r != NO_ROOM && !g.completion)
		expect(w, r, closed, "publishing a graph");
	if (r < 0)
		return;
	model_graph_publish(w->m, group, tqi_id_index(g.completion_id));
	w->graphs++;
}

static int drop_core(struct world *w, void *arg)
{
	return tqi_graph_drop(&w->tx, ((const struct group_op *)arg)->id);
}

static void drop(struct world *w, uint32_t group)
{
	struct group_op g = { .id = tqi_id_make(group, w->m->groups[group].generation) };

	note(w, "drop graph %u", group);
	expect(w, perform(w, drop_core, &g, false), 0, "dropping a graph");
	model_graph_drop(w->m, group);
}

/* One step of building one. */
void op_graph(struct world *w)
{
	uint32_t group = pick_group(w, TQI_GROUP_BUILDING), building = 0;

	for (uint32_t g = 1; g < w->m->group_slots; g++)
		building += w->m->groups[g].state == TQI_GROUP_BUILDING;
	if (w->link_every && (!group || (building < GRAPHS_MAX && chance(w, 10))))
		begin_graph(w);
	if (!group || w->m->groups[group].work) /* given up */
		return;
	if (chance(w, 3))
		add_dependency(w, group);
	else if (chance(w, 10))
		publish(w, group);
	else if (chance(w, 40))
		drop(w, group);
	else
		add_member(w, group);
}
