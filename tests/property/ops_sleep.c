/* SPDX-License-Identifier: MIT */
/* Those who sleep. */
#include <errno.h>

#include "scheduler/graph/behalf.h"
#include "scheduler/graph/cycle.h"
#include "scheduler/graph/edge.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/wake/called.h"
#include "scheduler/worker/sleep.h"
#include "scheduler/worker/keepers.h"
#include "tests/property/world.h"

#define WAIT_EDGES_MAX 12
#define DOMAINS 3      /* what stops together: processes, by the number of what they wait for */
#define SURE_EDGES 128 /* so few are looked at before the search ends */

struct sleep {
	uint32_t interest;
	uint32_t subject;
	uint32_t behalf; /* task; 0 nobody's */
	bool any;	 /* one of the tasks will do */
	uint32_t told;	 /* ends of a group that it has seen, or TQI_GROUP_LAST */
	bool refused;
	int32_t priority;
	uint32_t waiter;
	uint32_t tasks[WAIT_EDGES_MAX];
	uint32_t count;
};

static int sleep_core(struct world *w, void *arg)
{
	struct sleep *s = arg;
	const struct tqi_ident self = { .pid = 1 + s->subject % DOMAINS, .tid = 1, .start = 1 };
	bool full;

	if (s->interest == TQI_INTEREST_WORK && model_has_work(w->m, s->subject))
		return TQ_EGONE; /* a graph has opened since: it would look under the same lock */
	for (uint32_t i = 0; i < s->count; i++)
		if (tqi_task_at(&w->tx, s->tasks[i])->state == TQ_FREE)
			return TQ_EGONE; /* evicted, to make room for this */
	s->waiter = tqi_sleep_enter(&w->tx, &self, s->interest,
				    s->subject | (s->any ? TQI_WAIT_ANY | TQI_WAIT_ADDING : 0),
				    &full);
	if (!s->waiter)
		return full ? TQ_EFULL : -ENOMEM;
	tqi_inherit_lend(&w->tx, s->waiter, &(struct tqi_worth){ UINT64_MAX, s->priority, 0, 0 });
	tqi_behalf_enter(&w->tx, s->waiter, s->behalf ? w->m->tasks[s->behalf].attempt.record : 0);
	for (uint32_t i = 0; i < s->count; i++)
		if (!tqi_edge_add(&w->tx, s->waiter, s->tasks[i]))
			return -ENOMEM;
	if (s->interest == TQI_INTEREST_GROUP)
		tqi_called_seen(&w->tx, s->waiter, s->told);
	tqi_cycle_ready(&w->tx, s->waiter);
	s->refused = tqi_cycle_closes(&w->tx, s->waiter);
	tqi_sleep_again(&w->tx, s->waiter, UINT64_MAX);
	return 0;
}

static uint32_t waiters_in_use(const struct world *w)
{
	uint32_t n = 0;

	for (uint32_t s = 1; s < w->m->waiter_slots; s++)
		n += w->m->waiters[s].state != TQI_WAITER_FREE;
	return n;
}

static uint32_t edges_in_use(const struct world *w)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < w->m->edge_slots; e++)
		n += w->m->edges[e].waiter != 0;
	return n;
}

static void leave(struct world *w, uint32_t waiter);

/* The core's search is bounded: among many edges it may miss what the model sees. */
static void expect_cycle(struct world *w, const struct sleep *s)
{
	bool closes = model_closes_cycle(w->m, s->waiter);

	if (s->refused || (edges_in_use(w) <= SURE_EDGES && is_searched_whole(w)))
		expect(w, s->refused, closes, "cycle");
	w->refused += s->refused;
	if (s->refused)
		leave(w, s->waiter);
}

static void sleep(struct world *w, struct sleep *s)
{
	if (waiters_in_use(w) > 80 || edges_in_use(w) > MODEL_EDGES - 2 * WAIT_EDGES_MAX)
		return;
	int r = perform(w, sleep_core, s, false);

	note(w, "sleep interest %u of %u, %u tasks, for task %u: %d, waiter %u", s->interest,
	     s->subject, s->count, s->behalf, r, s->waiter);
	if (r == NO_ROOM || r == TQ_EGONE)
		return;
	if (s->waiter >= MODEL_WAITERS)
		fail(w, "wait slot %u", s->waiter);
	model_enter(w->m, s->waiter, s->interest, s->subject, s->behalf);
	w->m->waiters[s->waiter].domain =
		((struct tqi_waiter *)tqi_table_peek(&w->box.seg, TQI_WAITERS, s->waiter))->domain;
	w->m->waiters[s->waiter].any = s->any;
	w->m->waiters[s->waiter].told = s->told;
	model_lend(w->m, s->waiter, s->priority);
	for (uint32_t i = 0; i < s->count; i++)
		model_edge(w->m, s->waiter, s->tasks[i]);
	expect_cycle(w, s);
}

void op_sleep(struct world *w)
{
	struct sleep s = { .interest = TQI_INTEREST_WORK, .subject = pick_worker(w) };

	if (s.subject && !sleeper_of(w, s.subject) && !model_has_work(w->m, s.subject))
		sleep(w, &s);
}

/* Many on one task at times, so that telling takes more than one slice. */
void op_wait(struct world *w)
{
	struct sleep s = { .interest = TQI_INTEREST_TASKS };
	uint32_t count = chance(w, 3) ? 1 + below(w, WAIT_EDGES_MAX) : 1;
	uint32_t favourite = (uint32_t)(w->op / 2000) % w->m->task_slots;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t task = pick_task(w, chance(w, 4) ? TQ_STATE_COUNT : TQ_READY);

		if (chance(w, 2) && model_find(w->m, id_of(w, favourite)))
			task = favourite;
		if (task)
			s.tasks[s.count++] = task;
	}
	uint32_t running = pick_task(w, TQ_RUNNING);

	if (running && w->m->tasks[running].state == TQ_RUNNING && !chance(w, 3))
		s.behalf = running;
	s.any = s.count > 1 && chance(w, 2);
	s.priority = chance(w, 2) ? (int32_t)below(w, 7) * 50 - 150 : INT32_MIN;
	if (s.count)
		sleep(w, &s);
}

void op_wait_room(struct world *w)
{
	struct sleep s = { .interest = TQI_INTEREST_ROOM,
			   .subject = chance(w, 2) ? 1 + below(w, MODEL_STAYING_QUEUES) : 0 };

	sleep(w, &s);
}

void op_wait_command(struct world *w)
{
	struct sleep s = { .interest = TQI_INTEREST_COMMAND, .subject = pick_command(w) };

	if (s.subject)
		sleep(w, &s);
}

/* For the end of all members, or for the next one; at times in an attempt. */
void op_wait_group(struct world *w)
{
	uint32_t running = pick_task(w, TQ_RUNNING);
	struct sleep s = { .interest = TQI_INTEREST_GROUP,
			   .subject = pick_group(w, chance(w, 4) ? TQI_GROUP_FREE : TQI_GROUP_OPEN),
			   .behalf = chance(w, 2) ? running : 0,
			   .priority = INT32_MIN };
	const struct model_group *g = &w->m->groups[s.subject];

	s.told = chance(w, 2) ? TQI_GROUP_LAST : g->ends;
	if (s.subject && g->state != TQI_GROUP_BUILDING && g->state != TQI_GROUP_COMPLETE)
		sleep(w, &s);
}

static uint32_t pick_sleeper(struct world *w)
{
	uint32_t slots = w->m->waiter_slots, at = below(w, slots);

	for (uint32_t i = 0; i < slots; i++) {
		const struct model_waiter *s = &w->m->waiters[at];

		/* Those in transit are on their way: more often. */
		if (s->state != TQI_WAITER_FREE && !s->dead &&
		    (s->state == TQI_WAITER_TRANSIT || chance(w, 4)))
			return at;
		at = at + 1 < slots ? at + 1 : 0;
	}
	return 0;
}

static bool is_popped(struct tqi_tx *tx, uint32_t waiter)
{
	return tqi_waiter_at(tx, waiter)->state == TQI_WAITER_TRANSIT;
}

/* WT-7: who was popped passes on, and nobody else does. */
static int again_core(struct world *w, void *arg)
{
	bool popped = is_popped(&w->tx, *(uint32_t *)arg);

	tqi_sleep_again(&w->tx, *(uint32_t *)arg, UINT64_MAX);
	return popped && tqi_wake_next(&w->tx);
}

static int drop_core(struct world *w, void *arg)
{
	return tqi_edge_drop(&w->tx, *(uint32_t *)arg, 8);
}

static int leave_core(struct world *w, void *arg)
{
	bool popped = is_popped(&w->tx, *(uint32_t *)arg);

	tqi_sleep_leave(&w->tx, *(uint32_t *)arg);
	return popped && tqi_wake_next(&w->tx);
}

static void leave(struct world *w, uint32_t waiter)
{
	for (bool done = false; !done;) {
		int r = perform(w, drop_core, &waiter, false);

		done = model_edges_drop(w->m, waiter, 8);
		expect(w, r, done, "drop of edges");
	}
	int r = perform(w, leave_core, &waiter, false);

	bool popped = w->m->waiters[waiter].state == TQI_WAITER_TRANSIT;

	model_leave(w->m, waiter);
	expect(w, r, popped && model_wake_next(w->m), "wake on leaving");
}

/* A sleeper comes back: to sleep again, or to leave. */
void op_back(struct world *w)
{
	uint32_t waiter = pick_sleeper(w);

	if (!waiter)
		return;
	const struct model_waiter *s = &w->m->waiters[waiter];

	/* A worker would take its command under the same lock. */
	if (chance(w, 2) ||
	    (s->interest == TQI_INTEREST_WORK && model_command_waits(w->m, s->subject))) {
		note(w, "waiter %u leaves", waiter);
		leave(w, waiter);
		return;
	}
	note(w, "waiter %u sleeps again", waiter);
	int r = perform(w, again_core, &waiter, false);

	bool popped = w->m->waiters[waiter].state == TQI_WAITER_TRANSIT;

	model_relink(w->m, waiter);
	expect(w, r, popped && model_wake_next(w->m), "wake on the way to sleep");
}

void op_sleeper_dies(struct world *w)
{
	uint32_t waiter = pick_sleeper(w);

	if (!waiter || w->m->waiters[waiter].interest == TQI_INTEREST_WORK)
		return; /* a worker's sleeper dies with its process: op_die() */
	struct tqi_waiter *s = tqi_table_peek(&w->box.seg, TQI_WAITERS, waiter);

	note(w, "waiter %u dies", waiter);
	tqt_mutex_die(&s->mutex);
	w->m->waiters[waiter].dead = true;
}
