/* SPDX-License-Identifier: MIT */
/* Graphs: put together in private memory, and submitted as a whole. */
#include "client/submit/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/current_attempt.h"
#include "client/submit/group_api.h"
#include "client/submit/spec.h"
#include "scheduler/graph/group.h"
#include "scheduler/task/group_make.h"
#include "scheduler/task/look.h"
#include "scheduler/task/submit.h"

#define STEPS_HOLD 32 /* members and dependencies written in one hold */
#define ROOM_FIRST 16 /* members, or dependencies, that there is room for at first */

int tq_graph_new(struct tq *tq, const struct tq_group_opts *opts, struct tq_graph **ret_graph)
{
	if (!tq || !ret_graph)
		return -EINVAL;
	struct tq_group_opts o;
	int r = tqi_group_opts_in(opts, 0, &o);

	if (r < 0)
		return r;
	struct tq_graph *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	if (o.completion)
		r = tqi_spec_copy(o.completion, &g->completion);
	if (r < 0) {
		free(g);
		return r;
	}
	g->tq = tq;
	g->pid = tqi_pid_self(tq);
	g->failed = TQ_GRAPH_NONE;
	if (o.label)
		memcpy(g->label, o.label, strlen(o.label));
	g->opts = o;
	g->opts.label = g->label;
	g->opts.completion = g->completion;
	*ret_graph = g;
	return 0;
}

void tq_graph_drop(struct tq_graph *g)
{
	if (!g)
		return;
	for (uint32_t m = 0; m < g->count; m++)
		free(g->members[m]);
	free(g->members);
	free(g->completion);
	free(g->edges);
	free(g->first);
	free(g->order);
	free(g->cycle);
	free(g);
}

/* Room for `count` more, by doubling. */
static int reserve(void **array, size_t element, uint64_t used, uint64_t count, uint64_t *room)
{
	uint64_t wanted = *room ? *room : ROOM_FIRST;

	while (wanted < used + count)
		wanted *= 2;
	if (wanted == *room)
		return 0;
	void *p = reallocarray(*array, wanted, element);

	if (!p)
		return -ENOMEM;
	*array = p;
	*room = wanted;
	return 0;
}

static int check_after(const struct tq_graph_dependency *after, uint32_t count)
{
	if (count && !after)
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++)
		if (after[i].kind > TQ_AFTER_FAIL || after[i].member >= TQ_GRAPH_MEMBERS_MAX)
			return -EINVAL;
	return 0;
}

static void add_edges(struct tq_graph *g, uint32_t member, const struct tq_graph_dependency *after,
		      uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		g->edges[g->edge_count++] =
			(struct tqi_graph_edge){ member, after[i].member,
						 after[i].kind ? after[i].kind : TQ_AFTER_OK };
}

static int reserve_edges(struct tq_graph *g, uint32_t count)
{
	void *edges = g->edges;
	int r = reserve(&edges, sizeof(*g->edges), g->edge_count, count, &g->edge_room);

	g->edges = edges;
	return r;
}

static int reserve_member(struct tq_graph *g)
{
	void *members = g->members;
	uint64_t room = g->room;
	int r = reserve(&members, sizeof(*g->members), g->count, 1, &room);

	g->members = members;
	g->room = (uint32_t)room;
	return r;
}

int tq_graph_add(struct tq_graph *g, const struct tq_task_spec *spec,
		 const struct tq_graph_dependency *after, uint32_t count, uint32_t *ret_member)
{
	if (!g || !spec || (count && !after))
		return -EINVAL;
	struct tq_task_spec *copy;
	int r = g->submitted ? TQ_ESTATE : check_after(after, count);

	if (r == 0 && g->count == TQ_GRAPH_MEMBERS_MAX)
		r = TQ_EFULL;
	if (r == 0)
		r = reserve_edges(g, count);
	if (r == 0)
		r = reserve_member(g);
	if (r == 0)
		r = tqi_spec_copy(spec, &copy);
	if (r < 0)
		return r;
	if (copy->unique_key || copy->full_timeout_ns || copy->group) {
		free(copy);
		return -EINVAL;
	}
	add_edges(g, g->count, after, count);
	if (ret_member)
		*ret_member = g->count;
	g->members[g->count++] = copy;
	return 0;
}

int tq_graph_after(struct tq_graph *g, uint32_t member, const struct tq_graph_dependency *after,
		   uint32_t count)
{
	if (!g || (count && !after))
		return -EINVAL;
	int r = g->submitted ? TQ_ESTATE : check_after(after, count);

	if (r == 0 && member >= g->count)
		r = -EINVAL;
	if (r == 0)
		r = reserve_edges(g, count);
	if (r == 0)
		add_edges(g, member, after, count);
	return r;
}

uint32_t tq_graph_cycle(const struct tq_graph *g, uint32_t *members, uint32_t room)
{
	if (!g || (room && !members))
		return 0;
	for (uint32_t i = 0; i < g->cycle_count && i < room; i++)
		members[i] = g->cycle[i];
	return g->cycle_count;
}

uint32_t tq_graph_failed(const struct tq_graph *g)
{
	if (!g)
		return TQ_GRAPH_NONE;
	return g->failed;
}

/* Writing it into the segment. */
struct writing {
	struct tq_graph *graph;
	uint64_t group;
	uint64_t *ids; /* of members, by number */
	uint32_t at;   /* place in the order of the member under way */
	bool made;     /* it is there; these are its dependencies: */
	uint64_t edge;
	struct tqi_entry entry;
	bool prepared;
	struct tqi_ident owner;
	uint64_t completion;
};

static int begin_op(struct tqi_tx *tx, void *arg)
{
	struct writing *w = arg;
	const struct tqi_group_request request = { .owner = &w->owner,
						   .label = w->graph->opts.label,
						   .condition = w->graph->opts.condition,
						   .building = true };

	return tqi_group_make(tx, &request, &w->group, &w->completion);
}

/* Outside the lock. */
static int prepare(struct writing *w)
{
	struct tq_graph *g = w->graph;

	if (w->prepared || w->made || w->at == g->count)
		return 0;
	int r = tqi_entry_prepare(g->tq, g->members[g->order[w->at]], &w->entry);

	w->prepared = r == 0;
	return r;
}

static int write_member(struct tqi_tx *tx, struct writing *w)
{
	struct tq_graph *g = w->graph;
	uint32_t group, member = g->order[w->at];
	int r = tqi_graph_find(tx, w->group, &group);

	if (r < 0)
		return r;
	w->entry.submit.group = group;
	w->entry.submit.shut = true;
	w->entry.submit.attempt = tqi_behalf_here(g->tq, tx);
	tqi_entry_begin(tx, &w->entry);
	r = tqi_submit(tx, &w->entry.submit, &w->entry.id);
	if (r < 0)
		return r;
	w->ids[member] = w->entry.id;
	return 0;
}

static int write_edge(struct tqi_tx *tx, const struct writing *w)
{
	const struct tqi_graph_edge *e = &w->graph->edges[w->edge];

	return tqi_graph_depend(tx, tqi_id_index(w->ids[e->member]), tqi_id_index(w->ids[e->on]),
				e->kind);
}

/* The member under way, or the next of its dependencies, each a transaction. */
static int write_next(struct tqi_tx *tx, struct writing *w)
{
	struct tq_graph *g = w->graph;
	uint32_t member = g->order[w->at];
	int r = w->made ? write_edge(tx, w) : write_member(tx, w);

	if (r < 0 || tx->corrupt)
		return r;
	tqi_step(tx);
	if (w->made) {
		w->edge++;
	} else {
		w->made = true;
		w->prepared = false;
		w->edge = g->first[member];
	}
	if (w->edge == g->first[member + 1]) {
		w->made = false;
		w->at++;
	}
	return 0;
}

/* Whether all that the next member needs can be had under the lock. */
static bool is_simple(const struct writing *w)
{
	const struct tq_graph *g = w->graph;
	const struct tq_task_spec *spec = g->members[g->order[w->at]];

	return tqi_submit_block_bytes(spec) <= TQI_COPY_MAX &&
	       tqi_names_find(&g->tq->names, TQI_QUEUES, spec->queue) &&
	       tqi_names_find(&g->tq->names, TQI_KINDS, spec->kind);
}

/* As much as one hold may do; the first member has been prepared. */
static int write_some(struct writing *w)
{
	struct tq *tq = w->graph->tq;
	bool simple = w->made || is_simple(w);
	uint32_t members = 0, steps = 0;
	struct tqi_tx tx;
	int r = tqi_hold_begin(tq, &tx);

	if (r < 0)
		return r;
	tqi_tend(&tx);
	while (r == 0 && !tx.corrupt && w->at < w->graph->count && steps++ < STEPS_HOLD) {
		bool begins = !w->made, ready = w->made || w->prepared;

		if (begins && members && !simple)
			break;
		if (!ready && (!is_simple(w) || prepare(w) < 0))
			break; /* prepared, or refused, outside the lock */
		members += begins;
		r = write_next(&tx, w);
	}
	r = tqi_hold_end(tq, &tx, r);
	if (r < 0 ? w->prepared : members && !simple)
		tqi_entry_end(&w->entry, r);
	return r;
}

static int write_all(struct writing *w)
{
	struct tq_graph *g = w->graph;
	int r = 0;

	while (r == 0 && w->at < g->count) {
		r = prepare(w);
		if (r == 0)
			r = write_some(w);
		if (tqi_is_lacking(r))
			r = tqi_make_up(g->tq, r);
	}
	if (w->prepared)
		tqi_entry_cancel(&w->entry);
	if (r < 0 && w->at < g->count)
		g->failed = g->order[w->at];
	return r;
}

static int publish_op(struct tqi_tx *tx, void *arg)
{
	struct writing *w = arg;
	bool completes = w->graph->completion;

	if (completes) {
		w->entry.submit.attempt = tqi_behalf_here(w->graph->tq, tx);
		tqi_entry_begin(tx, &w->entry);
	}
	return tqi_graph_publish(tx, w->group, completes ? &w->entry.submit : NULL, &w->completion);
}

static int publish(struct writing *w)
{
	struct tq_graph *g = w->graph;
	int r = g->completion ? tqi_entry_prepare(g->tq, g->completion, &w->entry) : 0;

	if (r < 0)
		return r;
	r = tqi_run(g->tq, publish_op, w);
	if (r < 0 && g->completion)
		tqi_entry_cancel(&w->entry);
	return r;
}

static int drop_op(struct tqi_tx *tx, void *arg)
{
	return tqi_graph_drop(tx, ((const struct writing *)arg)->group);
}

static int submit(struct writing *w)
{
	struct tq *tq = w->graph->tq;
	int r = tqi_run(tq, begin_op, w);

	if (r < 0)
		return r;
	r = write_all(w);
	if (r == 0)
		r = publish(w);
	if (r < 0)
		(void)tqi_run(tq, drop_op, w); /* else it goes with this process */
	tqi_sweep_out(tq);
	return r;
}

int tq_graph_submit(struct tq_graph *g, uint64_t *ret_ids, uint64_t *ret_group)
{
	if (!g)
		return -EINVAL;
	struct writing w = { .graph = g };

	if (g->submitted)
		return TQ_ESTATE;
	if (g->pid != tqi_pid_self(g->tq))
		return -ECHILD;
	g->failed = TQ_GRAPH_NONE;
	w.owner = tqi_ident_self(g->tq);
	w.ids = malloc(((size_t)g->count + 1) * sizeof(*w.ids));
	int r = w.ids ? tqi_graph_order(g) : -ENOMEM;

	if (r == 0)
		r = submit(&w);
	if (r == 0) {
		g->submitted = true;
		if (ret_ids)
			memcpy(ret_ids, w.ids, g->count * sizeof(*w.ids));
		if (ret_group)
			*ret_group = w.group;
	}
	free(w.ids);
	return r;
}
