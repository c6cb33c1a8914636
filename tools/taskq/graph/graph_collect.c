/* SPDX-License-Identifier: MIT */
/* Tasks and their dependencies, copied out of the segment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "outcome.h"
#include "text.h"
#include "tools/taskq/graph/graph_view.h"

enum {
	PAGE = 16,	    /* members in memory at a time */
	ROOM_FIRST = 64,    /* nodes, edges that there is room for at first */
	TEXT_COLUMNS = 60,
};

static uint32_t slot_of(const struct graph_view *view, uint64_t id)
{
	uint32_t slot = (uint32_t)((id * 0x9e3779b97f4a7c15ull) >> 32) & view->slot_mask;

	while (view->slots[slot] && view->nodes[view->slots[slot] - 1].id != id)
		slot = (slot + 1) & view->slot_mask;
	return slot;
}

/* All anew, with room for all nodes that there is memory for. */
static int index_nodes(struct graph_view *view)
{
	uint32_t size = 1;

	while (size < 2 * view->room)
		size *= 2;
	free(view->slots);
	view->slots = calloc(size, sizeof(*view->slots));
	view->slot_mask = size - 1;
	if (!view->slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < view->count; i++)
		view->slots[slot_of(view, view->nodes[i].id)] = i + 1;
	return 0;
}

static int make_room(struct graph_view *view)
{
	const uint32_t room = view->room ? 2 * view->room : ROOM_FIRST;

	if (view->count < view->room)
		return 0;
	struct graph_view_node *nodes = reallocarray(view->nodes, room, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	view->nodes = nodes;
	view->room = room;
	return index_nodes(view);
}

static void fill(struct graph_view *view, struct graph_view_node *node,
		 const struct tq_task_info *info)
{
	const struct clocks clocks = clocks_read();
	char outcome[OUTCOME_MAX], attempt[32] = "", both[sizeof(outcome) + sizeof(attempt)];
	char *text = info->label[0] ? NULL : text_of_task(view->tq, info);

	if (info->attempt > 1)
		snprintf(attempt, sizeof(attempt), ", attempt %u", info->attempt);
	snprintf(both, sizeof(both), "%s%s", outcome_format(info, outcome), attempt);
	*node = (struct graph_view_node){
		.id = info->id,
		.sequence = info->sequence,
		.run_ns = outcome_run_ns(info, &clocks),
		.group = info->group,
		.completes = info->completes,
		.state = info->state,
		.text = text_safe_copy(text ? text : info->label, TEXT_COLUMNS),
		.outcome = text_safe_copy(both, 0),
	};
	free(text);
}

/* 1 it is there now, or was; 0 there are enough; -ENOMEM. */
static int add(struct graph_view *view, const struct tq_task_info *info)
{
	int r = make_room(view);

	if (r < 0)
		return r;
	const uint32_t slot = slot_of(view, info->id);

	if (view->slots[slot])
		return 1;
	if (view->count == view->max) {
		view->cut = true;
		return 0;
	}
	fill(view, &view->nodes[view->count], info);
	if (!view->nodes[view->count].text || !view->nodes[view->count].outcome)
		return -ENOMEM;
	view->slots[slot] = ++view->count;
	return 1;
}

typedef int others_fn(struct tq *tq, uint64_t id, struct tq_dependency_info *infos, uint32_t count);

/* All of them, freed by free(); how many, or an error. */
static int read_others(struct graph_view *view, others_fn *others, uint64_t id,
		       struct tq_dependency_info **ret_infos)
{
	struct tq_dependency_info *infos = NULL, *more;
	uint32_t room = ROOM_FIRST;
	int n;

	for (;; room *= 4) {
		more = reallocarray(infos, room, sizeof(*infos));
		n = more ? others(view->tq, id, more, room) : -ENOMEM;
		infos = more ? more : infos;
		if (n < (int)room)
			break;
	}
	*ret_infos = infos;
	return n;
}

static int add_by_id(struct graph_view *view, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const int r = tq_task_info(view->tq, id, &info);

	return r < 0 ? 1 /* gone meanwhile */ : add(view, &info);
}

typedef int member_fn(void *ctx, const struct tq_task_info *info);

/* Calls @take for each member of a group, as long as it is above 0.  0, or an error. */
static int each_member(struct graph_view *view, uint64_t group, member_fn *take, void *ctx)
{
	struct tq_task_info *infos = calloc(PAGE, sizeof(*infos));
	uint64_t cursor = 0;
	int n = 1, r = infos ? 1 : -ENOMEM;

	while (n > 0 && r > 0) {
		infos[0].size = sizeof(infos[0]);
		n = tq_group_members(view->tq, group, &cursor, infos, PAGE);
		for (int i = 0; i < n && r > 0; i++)
			r = take(ctx, &infos[i]);
	}
	free(infos);
	if (n == TQ_EGONE && cursor) { /* the rest of a complete one, meanwhile */
		view->cut = true;
		n = 0;
	}
	if (r < 0)
		return r;
	return n < 0 ? n : 0;
}

static int add_member(void *ctx, const struct tq_task_info *info)
{
	return add(ctx, info);
}

/* A completion task waits for the members of its group, as for dependencies; 1, or -ENOMEM. */
static int add_members(struct graph_view *view, uint64_t group)
{
	return group && each_member(view, group, add_member, view) == -ENOMEM ? -ENOMEM : 1;
}

/* From the first node, and those that come to be behind @from, on: nearest first. */
static int follow(struct graph_view *view, others_fn *others, uint32_t from)
{
	uint32_t at = 0;
	int r = 1;

	while (at < view->count && r > 0) {
		struct tq_dependency_info *infos;
		const int n = read_others(view, others, view->nodes[at].id, &infos);

		r = n == -ENOMEM ? n : 1;
		for (int i = 0; i < n && r > 0; i++)
			r = add_by_id(view, infos[i].id);
		free(infos);
		if (r > 0 && others == tq_task_dependencies)
			r = add_members(view, view->nodes[at].completes);
		at = at ? at + 1 : from;
	}
	return r < 0 ? r : 0;
}

static int by_sequence(const void *a, const void *b)
{
	const struct graph_view_node *x = a, *y = b;

	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static int add_edge(struct graph_view *view, uint32_t node, uint32_t on, uint32_t kind)
{
	if (view->edge_count == view->edge_room) {
		const uint32_t room = view->edge_room ? 2 * view->edge_room : ROOM_FIRST;
		struct graph_view_edge *edges = reallocarray(view->edges, room, sizeof(*edges));

		if (!edges)
			return -ENOMEM;
		view->edges = edges;
		view->edge_room = room;
	}
	view->edges[view->edge_count] =
		(struct graph_view_edge){ node, on, kind, view->edge_count };
	view->edge_count++;
	return 0;
}

static int add_dependency(struct graph_view *view, uint32_t node,
			  const struct tq_dependency_info *info)
{
	const uint32_t on = view->slots[slot_of(view, info->id)];

	if (!on) {
		view->nodes[node].elsewhere++;
		return 0;
	}
	if (view->nodes[on - 1].group == view->nodes[node].group)
		view->nodes[on - 1].followed = true;
	return add_edge(view, node, on - 1, info->kind);
}

static int add_dependencies(struct graph_view *view)
{
	int r = 0;

	for (uint32_t i = 0; i < view->count && r == 0; i++) {
		struct tq_dependency_info *infos;
		const int n = read_others(view, tq_task_dependencies, view->nodes[i].id, &infos);

		r = n == -ENOMEM ? n : 0;
		for (int j = n - 1; j >= 0 && r == 0; j--) /* they come newest first */
			r = add_dependency(view, i, &infos[j]);
		free(infos);
	}
	return r;
}

/* To those members that no other one comes after: the others end before them. */
static int link_completion(struct graph_view *view, uint32_t node)
{
	static const uint32_t kinds[] = { [TQ_GROUP_ANY] = TQ_AFTER_ANY,
					  [TQ_GROUP_OK] = TQ_AFTER_OK,
					  [TQ_GROUP_FAIL] = TQ_AFTER_FAIL };
	const uint64_t group = view->nodes[node].completes;
	struct tq_group_info info = { .size = sizeof(info) };
	int r = tq_group_info(view->tq, group, &info);

	if (r < 0)
		return 0; /* gone meanwhile */
	const uint32_t kind = info.condition <= TQ_GROUP_FAIL ? kinds[info.condition]
							      : TQ_AFTER_ANY;

	for (uint32_t i = 0; i < view->count && r == 0; i++)
		if (view->nodes[i].group == group && !view->nodes[i].followed)
			r = add_edge(view, node, i, kind);
	return r;
}

static int by_node(const void *a, const void *b)
{
	const struct graph_view_edge *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int link_completions(struct graph_view *view)
{
	const uint32_t before = view->edge_count;
	int r = 0;

	for (uint32_t i = 0; i < view->count && r == 0; i++)
		if (view->nodes[i].completes)
			r = link_completion(view, i);
	if (view->edge_count > before)
		qsort(view->edges, view->edge_count, sizeof(*view->edges), by_node);
	return r;
}

/*
 * What a task waits for was submitted before it, but for the members of a group that its
 * completion task waits for: only these make another round, and each comes before the next.
 */
static void set_layers(struct graph_view *view)
{
	bool changed = true;

	for (uint32_t round = 0; changed && round < view->count; round++) {
		changed = false;
		for (uint32_t e = 0; e < view->edge_count; e++) {
			const int32_t layer = view->nodes[view->edges[e].on].layer + 1;
			int32_t *own = &view->nodes[view->edges[e].node].layer;

			changed |= *own < layer;
			*own = *own < layer ? layer : *own;
		}
	}
}

static int collect_edges(struct graph_view *view)
{
	int r = 0;

	if (view->count == 0)
		return 0;
	qsort(view->nodes, view->count, sizeof(*view->nodes), by_sequence);
	r = index_nodes(view);
	if (r == 0)
		r = add_dependencies(view);
	if (r == 0)
		r = link_completions(view);
	set_layers(view);
	return r;
}

/* That of a group, which knows it also when its start has been decided. */
static int add_completion(struct graph_view *view, uint64_t group)
{
	struct tq_group_info info = { .size = sizeof(info) };
	int r = tq_group_info(view->tq, group, &info);

	if (r < 0 || !info.completion)
		return r;
	r = add_by_id(view, info.completion);
	if (r > 0 && view->count)
		view->nodes[0].completes = group;
	return r < 0 ? r : 0;
}

int graph_collect_group(struct graph_view *view, uint64_t group)
{
	int r = add_completion(view, group);

	if (r == 0)
		r = each_member(view, group, add_member, view);
	return r < 0 ? r : collect_edges(view);
}

/* Members of a group, to be gone through in the order of their submission. */
struct members {
	struct member {
		uint64_t sequence;
		uint64_t id;
	} * list;
	uint32_t count, room;
};

static int note_member(void *ctx, const struct tq_task_info *info)
{
	struct members *m = ctx;

	if (m->count == m->room) {
		const uint32_t room = m->room ? 2 * m->room : ROOM_FIRST;
		struct member *list = reallocarray(m->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		m->list = list;
		m->room = room;
	}
	m->list[m->count++] = (struct member){ info->sequence, info->id };
	return 1;
}

static int member_by_sequence(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* Whether it waits, or has waited, for the first node or one from @below on; -ENOMEM. */
static int is_below(struct graph_view *view, uint64_t id, uint32_t below)
{
	struct tq_dependency_info *infos;
	const int n = read_others(view, tq_task_dependencies, id, &infos);
	int r = n == -ENOMEM ? n : 0;

	for (int i = 0; i < n && r == 0; i++) {
		const uint32_t node = view->slots[slot_of(view, infos[i].id)];

		r = node == 1 || node > below;
	}
	free(infos);
	return r;
}

/* A task that has told its dependants knows them no more; they know it still, as members. */
static int follow_members(struct graph_view *view, uint64_t group, uint32_t below)
{
	struct members m = { .count = 0 };
	int r = each_member(view, group, note_member, &m);

	if (m.count)
		qsort(m.list, m.count, sizeof(*m.list), member_by_sequence);
	for (uint32_t i = 0; i < m.count && r >= 0; i++) {
		r = is_below(view, m.list[i].id, below);
		if (r > 0)
			r = add_by_id(view, m.list[i].id);
	}
	free(m.list);
	return r == TQ_EGONE || r == -ENOENT ? 0 : r;
}

/* Layers before it are negative. */
static void centre(struct graph_view *view)
{
	const int32_t layer = view->nodes[view->slots[slot_of(view, view->focus)] - 1].layer;

	for (uint32_t i = 0; i < view->count; i++)
		view->nodes[i].layer -= layer;
}

int graph_collect_task(struct graph_view *view, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const uint32_t max = view->max;
	int r = tq_task_info(view->tq, id, &info);

	view->focus = id;
	view->max = (max + 1) / 2; /* so that ancestors leave room for dependants */
	if (r == 0)
		r = add(view, &info);
	if (r >= 0)
		r = follow(view, tq_task_dependencies, 1);
	const uint32_t below = view->count;

	view->max = max;
	if (r >= 0)
		r = follow(view, tq_task_dependants, below);
	if (r >= 0 && info.group)
		r = follow_members(view, info.group, below);
	if (r >= 0)
		r = collect_edges(view);
	if (r >= 0)
		centre(view);
	return r;
}

void graph_view_free(struct graph_view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		free(view->nodes[i].text);
		free(view->nodes[i].outcome);
	}
	free(view->nodes);
	free(view->edges);
	free(view->slots);
}
