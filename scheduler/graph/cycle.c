/* SPDX-License-Identifier: MIT */
/* The search for waits, and dependencies, that would close a cycle. */
#include "scheduler/graph/cycle.h"

#include "scheduler/graph/behalf.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/key.h"
#include "scheduler/record/task_record.h"

#define NODES_MAX 128  /* tasks of one search */
#define STEPS_MAX 1024 /* slots and edges looked at, all in one hold: some 50 us */
#define NOT_FINAL ((1u << TQ_DONE) - 1)

struct search {
	struct tqi_tx *tx;
	uint32_t steps; /* left */
	uint32_t count;
	uint32_t tasks[NODES_MAX]; /* the one that is to wait, and whom that leads to */
	bool gets_on[NODES_MAX];
};

static bool go_on(struct search *s)
{
	if (s->steps == 0 || s->tx->corrupt)
		return false;
	s->steps--;
	return true;
}

static uint32_t place_of(const struct search *s, uint32_t task)
{
	uint32_t i = 0;

	while (i < s->count && s->tasks[i] != task)
		i++;
	return i;
}

static bool gets_on(const struct search *s, uint32_t task)
{
	uint32_t i = place_of(s, task);

	return i == s->count || s->gets_on[i];
}

static void add(struct search *s, uint32_t task)
{
	if (s->count == NODES_MAX || place_of(s, task) < s->count)
		return;
	s->tasks[s->count] = task;
	s->gets_on[s->count++] = false;
}

static bool is_open(const struct tqi_edge *edge)
{
	return edge->told == TQI_EDGE_OPEN;
}

static const struct tqi_extra *extra_of(struct search *s, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(s->tx, index);

	return task->flags & TQI_TASK_EXTRA ? tqi_task_extra(s->tx, task) : NULL;
}

/* Those whose end a group waits for. */
static void add_members(struct search *s, uint32_t group)
{
	const struct tqi_group *g = tqi_group_at(s->tx, group);
	uint32_t task = tqi_group_unfinished(s->tx, g);

	while (task && s->count < NODES_MAX && go_on(s)) {
		add(s, task);
		task = extra_of(s, task)->group_next;
	}
}

/* How many of those do not get on: the ones that were not found do. */
static uint32_t stuck_members(struct search *s, uint32_t group)
{
	uint32_t stuck = 0;

	for (uint32_t i = 0; i < s->count && go_on(s); i++) {
		const struct tqi_extra *extra = s->gets_on[i] ? NULL : extra_of(s, s->tasks[i]);

		stuck += extra && extra->group == group && !extra->counted;
	}
	return stuck;
}

static void add_slot(struct search *s, const struct tqi_waiter *slot)
{
	if (slot->interest == TQI_INTEREST_GROUP)
		add_members(s, slot->subject);
	for (uint32_t e = slot->edges; e && go_on(s);) {
		const struct tqi_edge *edge = tqi_edge_at(s->tx, e);

		if (is_open(edge))
			add(s, edge->task);
		e = edge->next_of_waiter;
	}
}

/* The slots on its behalf; 0 it does not run, or nobody waits. */
static uint32_t waits_of(struct search *s, const struct tqi_task *task)
{
	return task->state == TQ_RUNNING ? tqi_attempt_at(s->tx, task->attempt)->waits : 0;
}

/* The chain of its dependencies. */
static uint32_t after(struct search *s, uint32_t index)
{
	const struct tqi_extra *extra = extra_of(s, index);

	return extra ? extra->after : 0;
}

/* The group whose last end it waits for; 0 none. */
static uint32_t completes(struct search *s, uint32_t index)
{
	const struct tqi_extra *extra = extra_of(s, index);

	return extra ? extra->completes : 0;
}

/* Of a BLOCKED task. */
static void add_parents(struct search *s, uint32_t index)
{
	uint32_t leader = tqi_key_leader(s->tx, index);

	if (leader)
		add(s, leader);
	if (completes(s, index))
		add_members(s, completes(s, index));
	for (uint32_t e = after(s, index); e && go_on(s);) {
		const struct tqi_edge *edge = tqi_edge_at(s->tx, e);

		if (is_open(edge))
			add(s, edge->task);
		e = edge->next_of_waiter;
	}
}

static void add_links(struct search *s, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(s->tx, index);

	if (task->state == TQ_BLOCKED)
		add_parents(s, index);
	for (uint32_t w = waits_of(s, task); w && go_on(s);) {
		const struct tqi_waiter *slot = tqi_waiter_at(s->tx, w);

		add_slot(s, slot);
		w = slot->attempt_next;
	}
}

/* A wait for the next end; an open group may get more members, that end. */
static bool group_wait_ends(struct search *s, const struct tqi_waiter *slot)
{
	const struct tqi_group *g = tqi_group_at(s->tx, slot->subject);
	uint32_t stuck = stuck_members(s, slot->subject);

	return slot->told == TQI_GROUP_LAST ? stuck == 0
					    : g->state != TQI_GROUP_SEALED || stuck < g->unfinished;
}

static bool wait_ends(struct search *s, const struct tqi_waiter *slot)
{
	bool any = slot->subject & TQI_WAIT_ANY;

	if (slot->interest == TQI_INTEREST_GROUP)
		return group_wait_ends(s, slot);
	if (slot->interest != TQI_INTEREST_TASKS || (slot->subject & (NOT_FINAL | TQI_WAIT_ADDING)))
		return true;
	for (uint32_t e = slot->edges; e && go_on(s);) {
		const struct tqi_edge *edge = tqi_edge_at(s->tx, e);

		if ((!is_open(edge) || gets_on(s, edge->task)) == any)
			return any;
		e = edge->next_of_waiter;
	}
	return !any;
}

/* Whatever end its parents come to, each decides something. */
static bool parents_get_on(struct search *s, uint32_t index)
{
	uint32_t leader = tqi_key_leader(s->tx, index);

	if (leader && !gets_on(s, leader))
		return false;
	if (completes(s, index) && stuck_members(s, completes(s, index)))
		return false;
	for (uint32_t e = after(s, index); e && go_on(s);) {
		const struct tqi_edge *edge = tqi_edge_at(s->tx, e);

		if (is_open(edge) && !gets_on(s, edge->task))
			return false;
		e = edge->next_of_waiter;
	}
	return true;
}

static bool task_gets_on(struct search *s, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(s->tx, index);
	uint32_t w = waits_of(s, task);

	if (task->state == TQ_BLOCKED)
		return parents_get_on(s, index);
	if (!w)
		return true;
	while (w && go_on(s)) {
		const struct tqi_waiter *slot = tqi_waiter_at(s->tx, w);

		if (wait_ends(s, slot))
			return true;
		w = slot->attempt_next;
	}
	return false;
}

/* Once more as long as that finds one; those that were found last mostly depend on nobody. */
static void settle(struct search *s)
{
	bool found = true;

	while (found && s->steps > 0) {
		found = false;
		for (uint32_t i = s->count - 1; i > 0; i--)
			if (!s->gets_on[i] && task_gets_on(s, s->tasks[i]))
				s->gets_on[i] = found = true;
	}
}

/* All that this leads to. */
static void follow(struct search *s)
{
	for (uint32_t i = 1; i < s->count; i++)
		add_links(s, s->tasks[i]);
	settle(s);
}

void tqi_cycle_ready(struct tqi_tx *tx, uint32_t waiter)
{
	struct tqi_waiter *slot = tqi_waiter_at(tx, waiter);

	if (slot->subject & TQI_WAIT_ADDING)
		TQI_SET(tx, slot->subject, slot->subject & ~TQI_WAIT_ADDING);
}

bool tqi_cycle_closes(struct tqi_tx *tx, uint32_t waiter)
{
	const struct tqi_waiter *slot = tqi_waiter_at(tx, waiter);
	uint32_t a = tqi_behalf_of(tx, waiter);

	if (!a)
		return false;
	struct search s = { .tx = tx, .steps = STEPS_MAX };

	add(&s, tqi_attempt_at(tx, a)->task);
	add_slot(&s, slot);
	follow(&s);
	bool ends = wait_ends(&s, slot);

	return !ends && s.steps > 0;
}

bool tqi_cycle_blocks(struct tqi_tx *tx, uint32_t task)
{
	struct search s = { .tx = tx, .steps = STEPS_MAX };

	add(&s, task);
	add_parents(&s, task);
	follow(&s);
	bool ends = parents_get_on(&s, task);

	return !ends && s.steps > 0;
}
