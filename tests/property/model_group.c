/* SPDX-License-Identifier: MIT */
/* The model: groups and graphs. */
#include "tests/property/model_parts.h"

#include <errno.h>
#include <string.h>

/* Members, in their order: those whose end is counted by its number, then as they joined. */

static bool is_ahead(const struct model_task *a, const struct model_task *b)
{
	if (!a->counted != !b->counted)
		return a->counted;
	return a->counted ? a->group_order < b->group_order : a->joined < b->joined;
}

/* The first behind this one (0: of all), or of those that have not ended. */
static uint32_t next_member(const struct model *m, uint32_t group, uint32_t behind, bool unfinished)
{
	uint32_t next = 0;

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];

		if (t->group == group && !(unfinished && t->counted) &&
		    (!behind || is_ahead(&m->tasks[behind], t)) &&
		    (!next || is_ahead(t, &m->tasks[next])))
			next = i;
	}
	return next;
}

uint32_t model_member_first(const struct model *m, uint32_t group)
{
	return next_member(m, group, 0, false);
}

uint32_t model_member_after(const struct model *m, uint32_t task)
{
	return next_member(m, m->tasks[task].group, task, false);
}

static uint32_t newest_member(const struct model *m, uint32_t group)
{
	uint32_t newest = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].group == group &&
		    (!newest || is_ahead(&m->tasks[newest], &m->tasks[i])))
			newest = i;
	return newest;
}

bool model_is_hidden(const struct model *m, const struct model_task *t)
{
	return t->shut && m->groups[t->group].state == TQI_GROUP_BUILDING;
}

bool model_member_is_condemned(const struct model *m, const struct model_task *t)
{
	return t->group && !t->counted && m->groups[t->group].cancelled;
}

void model_member_join(struct model *m, uint32_t group, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	t->group = group;
	t->pinned = true;
	t->joined = ++m->order;
	m->groups[group].members++;
	m->groups[group].unfinished++;
}

void model_member_move(struct model *m, const struct model_task *t, uint32_t from, uint32_t to)
{
	struct model_group *g = &m->groups[t->group];

	if (!t->group || t->counted)
		return;
	if (from != TQ_FREE)
		g->states[t->shut ? TQ_FREE : from]--;
	if (to != TQ_FREE)
		g->states[t->shut ? TQ_FREE : to]++;
}

/* Whoever takes a walk's next one from its place moves it on. */
static void move_walk(struct model *m, uint32_t task)
{
	struct model_group *g = &m->groups[m->tasks[task].group];

	if (g->walk == task)
		g->walk = model_member_after(m, task);
}

void model_member_leave(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];
	struct model_group *g = &m->groups[t->group];

	if (!t->group)
		return;
	move_walk(m, task);
	t->group = 0;
	if (t->counted)
		return;
	g->members--;
	g->unfinished--;
}

static void put_to_work(struct model *m, uint32_t group, uint32_t what)
{
	struct model_group *g = &m->groups[group];

	if (!g->work)
		m->busy[m->busy_count++] = group;
	g->work = what;
	g->walk = next_member(m, group, 0, what != TQI_GROUP_RELEASING);
}

/* What becomes of a completion task is decided. */
static uint32_t take_completion(struct model *m, struct model_group *g)
{
	uint32_t completion = g->completion;

	g->completion = 0;
	m->tasks[completion].completes = 0;
	return completion;
}

static bool is_met(const struct model_group *g)
{
	if (g->condition == TQ_GROUP_OK)
		return g->states[TQ_DONE] == g->ends;
	return g->condition != TQ_GROUP_FAIL || g->states[TQ_DONE] < g->ends;
}

uint32_t model_group_waiters(const struct model *m, uint32_t group)
{
	uint32_t n = 0;

	for (uint32_t s = 1; s < m->waiter_slots; s++)
		n += m->waiters[s].state != TQI_WAITER_FREE &&
		     m->waiters[s].interest == TQI_INTEREST_GROUP && m->waiters[s].subject == group;
	return n;
}

/* D5: nothing is unfinished, and nobody can join. */
static void complete(struct model *m, uint32_t group)
{
	struct model_group *g = &m->groups[group];

	if (g->state != TQI_GROUP_SEALED || g->unfinished)
		return;
	bool waited = model_listed(m, TQI_INTEREST_GROUP, group, 0) ||
		      model_listed(m, TQI_INTEREST_GROUP, group, TQI_GROUP_LAST);

	g->state = TQI_GROUP_COMPLETE;
	g->ended_ns = m->now_ns;
	if (waited)
		model_wake_called(m, TQI_WAKE_POPS);
	if (g->completion && is_met(g))
		model_unblock(m, take_completion(m, g));
	put_to_work(m, group, TQI_GROUP_RELEASING);
}

static bool is_against(const struct model_group *g, uint32_t state)
{
	return g->condition == TQ_GROUP_OK ? state != TQ_DONE
					   : g->condition == TQ_GROUP_FAIL && state == TQ_DONE;
}

static void count_end(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];
	struct model_group *g = &m->groups[t->group];

	bool waited = model_listed(m, TQI_INTEREST_GROUP, t->group, 0);

	move_walk(m, task);
	t->counted = t->state;
	t->group_order = ++g->ends;
	g->unfinished--;
	if (is_against(g, t->state) && (g->condition == TQ_GROUP_FAIL || !g->culprit))
		g->culprit = model_id(m, task);
	if (waited)
		model_wake_called(m, TQI_WAKE_POPS);
	complete(m, t->group);
}

void model_member_ended(struct model *m, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];

	if (t->completes) /* it ends before its group does: it is no completion any more */
		take_completion(m, &m->groups[t->completes]);
	if (t->group && !t->counted)
		count_end(m, task);
}

/* As if it came in when its graph was published. */
void model_member_show(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];
	struct model_group *g = &m->groups[t->group];
	struct model_class *c = &m->classes[t->queue][t->kind];
	struct model_queue *q = &m->queues[t->queue];

	t->shut = false;
	g->states[TQ_FREE]--;
	g->states[TQ_BLOCKED]++;
	c->depth[TQ_FREE]--;
	c->depth[TQ_BLOCKED]++;
	c->submitted++;
	q->waiting -= t->wait_sequence >= q->purge_before;
	t->wait_sequence = g->sequence;
	q->waiting += t->wait_sequence >= q->purge_before;
	t->look_ns = model_deadline(t);
}

void model_member_open(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	model_member_show(m, task);
	if (t->culprit)
		model_refuse(m, task, t->culprit, t->dooms);
	else if (model_is_over(m, t))
		model_end_over(m, task);
	else
		model_unblock(m, task);
}

/* Groups. */

int model_group_check(const struct model *m, uint64_t id)
{
	uint32_t group = tqi_id_index(id);
	const struct model_group *g = &m->groups[group];

	if (tqi_id_generation(id) < g->generation)
		return TQ_EGONE;
	if (g->state == TQI_GROUP_FREE || g->state == TQI_GROUP_BUILDING)
		return -ENOENT;
	return g->state == TQI_GROUP_OPEN ? 0 : TQ_ESTATE;
}

/* One that has ended at once is none. */
static void link_completion(struct model *m, uint32_t group, uint32_t completion)
{
	struct model_group *g = &m->groups[group];

	if (!completion)
		return;
	g->completion_id = model_id(m, completion);
	if (model_state_is_final(m->tasks[completion].state))
		return;
	g->completion = completion;
	m->tasks[completion].completes = group;
}

uint32_t model_group_make(struct model *m, uint32_t slot, const struct model_group *like,
			  uint32_t completion)
{
	uint64_t generation = m->groups[slot].generation;

	if (slot >= m->group_slots)
		m->group_slots = slot + 1;
	m->groups[slot] = *like;
	m->groups[slot].generation = generation ? generation : 1;
	m->groups[slot].made_ns = m->now_ns;
	link_completion(m, slot, completion);
	return slot;
}

static void seal(struct model *m, uint32_t group)
{
	m->groups[group].state = TQI_GROUP_SEALED;
	complete(m, group);
}

int model_group_seal(struct model *m, uint32_t group)
{
	if (m->groups[group].state == TQI_GROUP_COMPLETE)
		return TQ_ESTATE;
	if (m->groups[group].state == TQI_GROUP_OPEN)
		seal(m, group);
	return 0;
}

int model_group_cancel(struct model *m, uint32_t group)
{
	struct model_group *g = &m->groups[group];

	if (g->state == TQI_GROUP_COMPLETE)
		return TQ_ESTATE;
	g->cancelled = true;
	put_to_work(m, group, TQI_GROUP_CANCELLING);
	if (g->state == TQI_GROUP_OPEN)
		seal(m, group);
	return 0;
}

void model_graph_depend(struct model *m, uint32_t member, uint32_t on, uint32_t kind)
{
	model_depend(m, member, on, kind, TQI_EDGE_OPEN);
	m->tasks[member].unmet++;
}

void model_graph_publish(struct model *m, uint32_t group, uint32_t completion)
{
	link_completion(m, group, completion);
	m->groups[group].sequence = m->sequence++;
	put_to_work(m, group, TQI_GROUP_OPENING);
	seal(m, group);
}

void model_graph_drop(struct model *m, uint32_t group)
{
	m->groups[group].owner = 0;
	put_to_work(m, group, TQI_GROUP_UNDOING);
}

void model_group_orphaned(struct model *m, uint32_t group)
{
	if (m->groups[group].state == TQI_GROUP_BUILDING)
		model_graph_drop(m, group);
	else if (m->groups[group].state == TQI_GROUP_OPEN)
		model_group_cancel(m, group);
}

static void free_group(struct model *m, uint32_t group)
{
	m->groups[group] = (struct model_group){ .generation = m->groups[group].generation + 1 };
}

static uint32_t oldest_behind(const struct model *m, uint64_t listed)
{
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < m->group_slots; i++)
		if (m->groups[i].listed > listed &&
		    (!oldest || m->groups[i].listed < m->groups[oldest].listed))
			oldest = i;
	return oldest;
}

static bool may_go(const struct model *m, uint32_t group, bool evict)
{
	return evict || m->now_ns - m->groups[group].ended_ns >= m->retention_ns;
}

/* Those that are waited for go to the end, as many as the core has sent there. */
static void pass_over(struct model *m, bool evict)
{
	uint32_t group = oldest_behind(m, 0);

	for (uint32_t i = 1; i < m->group_slots && group; i++) {
		if (!may_go(m, group, evict) || !model_group_waiters(m, group) ||
		    !model_has_done(m, MODEL_OVERTAKEN, group))
			return;
		m->groups[group].listed = ++m->order;
		group = oldest_behind(m, 0);
	}
}

/* That nobody waits for. */
static uint32_t oldest_group(const struct model *m, bool evict)
{
	uint32_t group = oldest_behind(m, 0);

	while (group && may_go(m, group, evict) && model_group_waiters(m, group))
		group = oldest_behind(m, m->groups[group].listed);
	return group && may_go(m, group, evict) ? group : 0;
}

/* Its members' records stay. */
static bool detach(struct model *m, uint32_t group)
{
	uint32_t task;

	while ((task = model_member_first(m, group))) {
		if (!model_has_done(m, MODEL_DETACHED, task))
			return false;
		model_member_leave(m, task);
	}
	return true;
}

/* The core has begun to free this one. */
static bool has_begun(struct model *m, uint32_t group)
{
	uint32_t first = model_member_first(m, group);

	return first ? model_has_done(m, MODEL_DETACHED, first)
		     : model_has_done(m, MODEL_DISSOLVED, group);
}

uint32_t model_group_retire(struct model *m, uint32_t count, bool evict)
{
	uint32_t n = 0, group;

	while (n < count && (group = oldest_group(m, evict)) && has_begun(m, group)) {
		n++;
		if (!detach(m, group))
			return n;
		free_group(m, group);
	}
	pass_over(m, evict);
	return n;
}

/* A shutdown. */

void model_close_groups(struct model *m)
{
	m->closing = m->group_slots - 1;
}

static bool close_one(struct model *m, uint32_t group)
{
	struct model_group *g = &m->groups[group];
	bool open = g->state == TQI_GROUP_OPEN;

	if (!(m->flags & TQI_ROOT_CANCEL)) {
		if (open)
			seal(m, group);
		return open;
	}
	if (g->cancelled || (!open && g->state != TQI_GROUP_SEALED))
		return false;
	model_group_cancel(m, group);
	return true;
}

void model_close_slice(struct model *m)
{
	while (m->closing && model_has_done(m, MODEL_CLOSED, m->closing))
		close_one(m, m->closing--);
	if (!m->closing)
		model_wake_empty(m);
}

/* Walks. */

static bool cancel_member(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (t->shut) {
		model_member_open(m, task);
		return true;
	}
	if (model_state_is_final(t->state) || t->cancel)
		return false;
	model_cancel(m, task, false);
	return true;
}

static bool release_member(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (!t->pinned)
		return false;
	t->pinned = false;
	if (model_state_is_final(t->state))
		model_settle(m, task);
	return true;
}

static bool visit(struct model *m, uint32_t work, uint32_t task)
{
	if (work == TQI_GROUP_CANCELLING)
		return cancel_member(m, task);
	if (work == TQI_GROUP_RELEASING)
		return release_member(m, task);
	if (!m->tasks[task].shut)
		return false;
	model_member_open(m, task);
	return true;
}

static void walk(struct model *m, struct model_group *g)
{
	const uint32_t work = g->work;

	while (g->work == work && g->walk) {
		uint32_t task = g->walk;

		if (!m->did(m->did_ctx, MODEL_PASSED, (uint32_t)(g - m->groups), task))
			return;
		g->walk = model_member_after(m, task);
		visit(m, work, task);
	}
}

/* Newest first, so that dependants go before what they depend on. */
static void undo(struct model *m, uint32_t group)
{
	uint32_t task, freed;

	while ((task = newest_member(m, group))) {
		if (!model_discard(m, task, &freed) || !model_has_done(m, MODEL_FREED, task))
			return;
		model_free(m, task);
	}
}

static void cancel_completion(struct model *m, struct model_group *g)
{
	uint32_t task = take_completion(m, g);

	if (g->culprit)
		model_refuse(m, task, g->culprit, false);
	else
		model_cancel_waiting(m, task);
}

static void rest(struct model *m, uint32_t group)
{
	struct model_group *g = &m->groups[group];
	uint32_t work = g->work;

	g->work = TQI_GROUP_IDLE;
	if (work == TQI_GROUP_RELEASING)
		g->listed = ++m->order;
	else if (work == TQI_GROUP_UNDOING)
		free_group(m, group);
	if (!m->busy_count)
		model_wake_empty(m);
}

/* The core has come to it, though it may have gone on with nothing of it. */
static bool had_its_turn(struct model *m, uint32_t group)
{
	const struct model_group *g = &m->groups[group];

	if (m->busy_count > 1)
		return model_has_done(m, MODEL_TURNED, group);
	if (g->work == TQI_GROUP_UNDOING)
		return newest_member(m, group) || model_has_done(m, MODEL_DISSOLVED, group);
	if (g->completion && g->work == TQI_GROUP_RELEASING)
		return model_has_done(m, MODEL_CANCELLED, g->completion);
	return g->walk || m->did(m->did_ctx, MODEL_PASSED, group, 0);
}

void model_group_slice(struct model *m)
{
	uint32_t group = m->busy[0];
	struct model_group *g = &m->groups[group];

	if (!had_its_turn(m, group))
		return;
	if (g->work == TQI_GROUP_UNDOING)
		undo(m, group);
	else if (g->work == TQI_GROUP_RELEASING && g->completion)
		cancel_completion(m, g);
	else
		walk(m, g);
	bool more = g->work == TQI_GROUP_UNDOING ? newest_member(m, group) : g->walk;

	memmove(m->busy, m->busy + 1, --m->busy_count * sizeof(m->busy[0]));
	if (more)
		m->busy[m->busy_count++] = group;
	else
		rest(m, group);
}

bool model_is_opening(const struct model *m)
{
	for (uint32_t i = 0; i < m->busy_count; i++)
		if (m->groups[m->busy[i]].work == TQI_GROUP_OPENING)
			return true;
	return false;
}

/* All walks begin anew, by slot; what is complete is released once more. */
void model_rebuild_groups(struct model *m)
{
	m->busy_count = 0;
	m->closing = m->flags & TQI_ROOT_SHUTDOWN ? m->group_slots - 1 : 0;
	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].group) {
			m->tasks[i].pinned = true;
			m->tasks[i].listed = 0;
		}
	for (uint32_t i = 1; i < m->group_slots; i++) {
		struct model_group *g = &m->groups[i];
		bool undoing = g->state == TQI_GROUP_BUILDING && !g->owner;

		g->listed = 0;
		g->work = TQI_GROUP_IDLE;
		g->walk = 0;
		if (undoing)
			put_to_work(m, i, TQI_GROUP_UNDOING);
		else if (g->state == TQI_GROUP_COMPLETE)
			put_to_work(m, i, TQI_GROUP_RELEASING);
		else if (g->cancelled)
			put_to_work(m, i, TQI_GROUP_CANCELLING);
		else if (g->state > TQI_GROUP_BUILDING && g->states[TQ_FREE])
			put_to_work(m, i, TQI_GROUP_OPENING);
	}
}
