/* SPDX-License-Identifier: MIT */
/* The model: sleepers, and whom what wakes. */
#include "scheduler/worker/keepers.h"
#include "shm/domain.h"
#include "tests/property/model_parts.h"

bool model_serves_queue(const struct model_worker *w, uint32_t queue)
{
	for (uint32_t i = 0; i < w->queue_count; i++)
		if (w->queues[i] == queue)
			return true;
	return false;
}

bool model_serves(const struct model_worker *w, uint32_t queue, uint32_t kind)
{
	return w->kinds >> kind & 1 && model_serves_queue(w, queue);
}

static uint32_t best(const struct model *m, const struct model_worker *w)
{
	for (uint32_t i = 0; i < w->queue_count; i++) {
		uint32_t found =
			model_may_start(m, w->queues[i]) ? model_best_of(m, w, w->queues[i]) : 0;

		if (found)
			return found;
	}
	return 0;
}

uint32_t model_best(struct model *m, const struct model_worker *w)
{
	model_refill(m, model_has_done(m, MODEL_UNSETTLED, 0));
	return best(m, w);
}

/* The worker behind a listed, live sleeper for work. */
static const struct model_worker *sleeping_worker(const struct model *m, uint32_t waiter)
{
	const struct model_waiter *s = &m->waiters[waiter];

	if (s->state != TQI_WAITER_LISTED || s->interest != TQI_INTEREST_WORK || s->dead)
		return NULL;
	const struct model_worker *w = &m->workers[s->subject];

	return w->state == TQI_WORKER_LIVE ? w : NULL;
}

/* Next sleeper after `order` in the chain, newest first (or oldest first); 0 none. */
uint32_t model_chain_next(const struct model *m, uint32_t state, uint64_t order, bool newest_first)
{
	uint32_t next = 0;

	for (uint32_t s = 1; s < m->waiter_slots; s++) {
		const struct model_waiter *w = &m->waiters[s];

		if (w->state != state || (newest_first ? w->order >= order : w->order <= order))
			continue;
		if (!next || (newest_first ? w->order > m->waiters[next].order
					   : w->order < m->waiters[next].order))
			next = s;
	}
	return next;
}

static uint32_t newer_to_older(const struct model *m, uint32_t waiter)
{
	return model_chain_next(m, TQI_WAITER_LISTED, waiter ? m->waiters[waiter].order : NEVER,
				true);
}

static bool is_late(const struct model *m, uint32_t waiter)
{
	return m->now_ns - m->waiters[waiter].popped_ns > TQI_STALL_NS;
}

/* Whether one of its domain is late among those that were popped first, and lives; of so many. */
static bool is_stalled(const struct model *m, uint32_t waiter)
{
	uint32_t domains[TQI_STALLS], count = 0, s;
	uint64_t order = 0;

	for (uint32_t i = 0; i < TQI_STALL_LOOKS && count < TQI_STALLS; i++) {
		s = model_chain_next(m, TQI_WAITER_TRANSIT, order, false);
		if (!s || !is_late(m, s))
			return false;
		order = m->waiters[s].order;
		if (m->waiters[s].dead)
			continue;
		if (m->waiters[s].domain == m->waiters[waiter].domain)
			return true;
		bool had = false;

		for (uint32_t k = 0; k < count; k++)
			had |= domains[k] == m->waiters[s].domain;
		if (!had)
			domains[count++] = m->waiters[s].domain;
	}
	return false;
}

void model_pop(struct model *m, uint32_t waiter)
{
	m->waiters[waiter].state = TQI_WAITER_TRANSIT;
	m->waiters[waiter].popped_ns = m->now_ns;
	m->waiters[waiter].order = ++m->order;
}

/* What it waits for is there. */
static bool is_called(const struct model *m, uint32_t waiter)
{
	const struct model_waiter *s = &m->waiters[waiter];

	if (s->interest == TQI_INTEREST_COMMAND)
		return m->commands[s->subject].state != TQI_COMMAND_OPEN;
	return s->interest == TQI_INTEREST_GROUP &&
	       (m->groups[s->subject].state == TQI_GROUP_COMPLETE ||
		m->groups[s->subject].ends > s->told);
}

/*
 * Which of those that are called come first is the core's to say; how many, only when its
 * journal fills.  Then a call ends behind its first sleeper, and a later one of the same
 * operation goes on: here the first takes all, and a later one may find that its own was taken.
 * Dead ones are taken along.
 */
bool model_wake_called(struct model *m, uint32_t count)
{
	uint32_t s, left = 0, calls = 0;
	uint64_t order = NEVER;

	while ((s = model_chain_next(m, TQI_WAITER_LISTED, order, true))) {
		bool lives = !m->waiters[s].dead;

		order = m->waiters[s].order;
		if (!is_called(m, s) || (lives && calls == count))
			continue;
		if (model_has_done(m, MODEL_WOKEN, s)) {
			m->ahead += calls && lives;
			calls += lives;
			model_pop(m, s);
		} else if (lives && !left) {
			left = s;
		}
	}
	if (calls < count && left && model_has_done(m, MODEL_CALLED, left))
		model_pop(m, left); /* there was room for it */
	if (calls || !m->ahead)
		return calls;
	m->ahead--;
	return true;
}

uint32_t model_listed(const struct model *m, uint32_t interest, uint32_t subject, uint32_t told)
{
	uint32_t n = 0;

	for (uint32_t s = 1; s < m->waiter_slots; s++) {
		const struct model_waiter *w = &m->waiters[s];

		n += w->state == TQI_WAITER_LISTED && w->interest == interest &&
		     w->subject == subject && !is_called(m, s) &&
		     (w->told == TQI_GROUP_LAST) == (told == TQI_GROUP_LAST);
	}
	return n;
}

uint32_t model_sleeper_of(const struct model *m, uint32_t worker)
{
	for (uint32_t s = 1; s < m->waiter_slots; s++)
		if (sleeping_worker(m, s) == &m->workers[worker])
			return s;
	return 0;
}

uint32_t model_sleeper_commanded(const struct model *m, uint32_t queue)
{
	uint32_t last = 0;

	for (uint32_t s = newer_to_older(m, 0); s; s = newer_to_older(m, s)) {
		const struct model_worker *w = sleeping_worker(m, s);

		if (!w || !(w->flags & TQI_WORKER_COMMANDS) || (w->flags & TQI_WORKER_MASTER) ||
		    !model_serves_queue(w, queue))
			continue;
		if (!is_stalled(m, s))
			return s;
		last = last ? last : s;
	}
	return last;
}

void model_wake_for(struct model *m, uint32_t queue, uint32_t kind)
{
	if (!model_may_start(m, queue))
		return;
	uint32_t last = 0;

	for (uint32_t s = newer_to_older(m, 0); s; s = newer_to_older(m, s)) {
		const struct model_worker *w = sleeping_worker(m, s);

		if (!w || !model_serves(w, queue, kind))
			continue;
		if (!is_stalled(m, s)) {
			model_pop(m, s);
			return;
		}
		last = last ? last : s;
	}
	if (last)
		model_pop(m, last);
}

/* The newest that can start something; or that the core has woken, not knowing yet. */
static uint32_t first_sleeper(struct model *m, bool unsettled)
{
	uint32_t last = 0;

	for (uint32_t s = newer_to_older(m, 0); s; s = newer_to_older(m, s)) {
		const struct model_worker *w = sleeping_worker(m, s);

		if (w && !unsettled)
			model_refill(m, true);
		if (!w || !(unsettled ? model_has_done(m, MODEL_POPPED, s)
				      : best(m, w) || model_can_steal(m, m->waiters[s].subject)))
			continue;
		if (!is_stalled(m, s))
			return s;
		last = last ? last : s;
	}
	return last;
}

static bool wake_first(struct model *m)
{
	uint32_t first = first_sleeper(m, false);
	uint32_t other = first && model_has_done(m, MODEL_POPPED, first) ? 0
									 : first_sleeper(m, true);

	if (other || first)
		model_pop(m, other ? other : first);
	return other || first;
}

static bool wake_others(struct model *m)
{
	bool commanded = model_wake_commanded(m, 1), called = model_wake_called(m, 1);

	return commanded || called;
}

static uint32_t startable(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		n += model_in_lane(&m->tasks[i]) || m->tasks[i].assigned;
	return n;
}

bool model_wake_any(struct model *m)
{
	bool others = wake_others(m), woken = startable(m) && wake_first(m);

	m->pass_on = false;
	return woken || others;
}

/* On their way to work, but for those that are late among the first popped. */
static uint32_t cover(const struct model *m)
{
	uint64_t order = 0;
	uint32_t n = 0, s;

	for (uint32_t i = 0; (s = model_chain_next(m, TQI_WAITER_TRANSIT, order, false)); i++) {
		bool late = n == 0 && is_late(m, s);

		if (late && i == TQI_STALL_LOOKS)
			return 0; /* nobody behind so many is believed in */
		order = m->waiters[s].order;
		n += !late && m->waiters[s].interest == TQI_INTEREST_WORK;
	}
	return n;
}

bool model_wake_next(struct model *m)
{
	bool others = wake_others(m);

	return (startable(m) > cover(m) && wake_first(m)) || others;
}

/* Whether somebody with this interest is on the way: who comes passes wakes on. */
static bool is_coming(const struct model *m, uint32_t interest)
{
	for (uint32_t s = 1; s < m->waiter_slots; s++)
		if (m->waiters[s].state == TQI_WAITER_TRANSIT && m->waiters[s].interest == interest)
			return true;
	return false;
}

static bool can_start(const struct model *m, const struct model_worker *w)
{
	for (uint32_t i = 0; i < w->queue_count; i++)
		if (model_may_start(m, w->queues[i]) &&
		    model_best_but(m, w, w->queues[i], model_empty(m)))
			return true;
	return false;
}

bool model_has_work(const struct model *m, uint32_t worker)
{
	return can_start(m, &m->workers[worker]) || model_command_waits(m, worker);
}

bool model_is_stranded(const struct model *m)
{
	bool answered = is_coming(m, TQI_INTEREST_COMMAND);

	if (is_coming(m, TQI_INTEREST_WORK))
		return false;
	for (uint32_t s = 1; s < m->waiter_slots; s++) {
		const struct model_worker *w = sleeping_worker(m, s);

		if (w && can_start(m, w))
			return true;
		if (w && !answered && !w->command && model_command_waits(m, m->waiters[s].subject))
			return true; /* with one in hand it looks for others as it answers it */
	}
	return false;
}

/* Something may need a look that nobody announces. */
static bool is_under_way(const struct model *m)
{
	for (uint32_t t = 1; t < m->task_slots; t++)
		if (m->tasks[t].state == TQ_RUNNING || model_in_lane(&m->tasks[t]) ||
		    m->tasks[t].assigned)
			return true;
	for (uint32_t w = 1; w < m->worker_slots; w++)
		if (m->workers[w].state == TQI_WORKER_DYING)
			return true;
	for (uint32_t g = 1; g < m->group_slots; g++)
		if ((m->groups[g].owner && m->groups[g].state <= TQI_GROUP_OPEN) ||
		    model_group_waiters(m, g))
			return true;
	return model_sweep_pending(m) || model_open_commands(m) || model_command_waiters(m, 0);
}

uint64_t model_keeper_until(const struct model *m, uint32_t place)
{
	uint64_t until = is_under_way(m) ? m->now_ns + TQI_LOOK_NS + place * TQI_DEPUTY_NS : NEVER;

	for (uint32_t t = 1; t < m->task_slots; t++)
		if (m->tasks[t].state != TQ_FREE && m->tasks[t].look_ns != NEVER &&
		    m->tasks[t].look_ns + place * TQI_DEPUTY_NS < until)
			until = m->tasks[t].look_ns + place * TQI_DEPUTY_NS;
	if (m->telling_count)
		until = model_least(until, m->now_ns + place * TQI_DEPUTY_NS);
	for (uint32_t x = 1; x <= MODEL_LIMITS; x++)
		if (m->buckets[x].empty && model_limit(m, x).waiting)
			until = model_least(until, model_next_token(m, x) + place * TQI_DEPUTY_NS);
	uint64_t next = model_schedule_next(m, false);

	return next != NEVER && next + place * TQI_DEPUTY_NS < until ? next + place * TQI_DEPUTY_NS
								     : until;
}

uint64_t model_keeper_until_wall(const struct model *m, uint32_t place)
{
	uint64_t until = NEVER;

	for (uint32_t t = 1; t < m->task_slots; t++)
		if (model_waits_for_wall(&m->tasks[t]) &&
		    m->tasks[t].at_ns + place * TQI_DEPUTY_NS < until)
			until = m->tasks[t].at_ns + place * TQI_DEPUTY_NS;
	uint64_t next = model_schedule_next(m, true);

	return next != NEVER && next + place * TQI_DEPUTY_NS < until ? next + place * TQI_DEPUTY_NS
								     : until;
}

/* One that goes to another queue counts there from the beginning, even one that is held. */
static bool is_startable(const struct model *m, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];

	return model_in_lane(t) || (t->state == TQ_READY && m->between == task);
}

static bool is_idle(const struct model *m, const struct model_worker *w)
{
	bool more_to_end = false;

	if (model_assigned_all(m) || m->telling_count || m->busy_count || m->closing)
		return false;
	for (uint32_t i = 1; i < m->task_slots; i++)
		more_to_end |= m->tasks[i].state == TQ_RUNNING || model_in_lane(&m->tasks[i]);
	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];
		if (t->state == TQ_FREE || t->shut || !model_serves(w, t->queue, t->kind))
			continue;
		if (t->state == TQ_RUNNING || (t->state == TQ_BLOCKED && more_to_end) ||
		    (!model_is_stuck(m, t->queue) &&
		     (is_startable(m, i) || t->state == TQ_DELAYED)))
			return false;
	}
	return true;
}

/* Whose queue is full has no use for room elsewhere. */
static bool has_depth(const struct model *m, uint32_t queue)
{
	return !queue || m->queues[queue].waiting < m->queues[queue].depth_max;
}

/* Whether nobody who lives waits longer for the same queue, or for none. */
static bool is_first_for_room(const struct model *m, uint32_t waiter)
{
	const struct model_waiter *w = &m->waiters[waiter];

	if (w->interest != TQI_INTEREST_ROOM || w->dead || !has_depth(m, w->subject))
		return false;
	for (uint32_t s = 1; s < m->waiter_slots; s++) {
		const struct model_waiter *o = &m->waiters[s];

		if (o->state == TQI_WAITER_LISTED && o->interest == TQI_INTEREST_ROOM && !o->dead &&
		    o->subject == w->subject && o->order < w->order)
			return false;
	}
	return true;
}

/* Whose turn it is among queues is the core's to say. */
void model_wake_room(struct model *m)
{
	uint32_t first = 0;

	for (uint32_t s = model_chain_next(m, TQI_WAITER_LISTED, 0, false); s;
	     s = model_chain_next(m, TQI_WAITER_LISTED, m->waiters[s].order, false)) {
		if (!is_first_for_room(m, s))
			continue;
		first = first ? first : s;
		if (model_has_done(m, MODEL_WOKEN, s)) {
			model_pop(m, s);
			return;
		}
	}
	if (first && model_has_done(m, MODEL_FOUND_ROOM, 0))
		model_pop(m, first);
}

static bool may_leave(const struct model *m, uint32_t waiter)
{
	const struct model_worker *w = sleeping_worker(m, waiter);

	return w && ((m->flags & TQI_ROOT_SHUTDOWN) || (w->flags & TQI_WORKER_EMPTY)) &&
	       is_idle(m, w);
}

/* Slices of a round are the core's to say; `all`: it has come to the end of what it has begun. */
static void wake_leaving(struct model *m, bool all)
{
	uint64_t order = NEVER;
	uint32_t s;

	while ((s = model_chain_next(m, TQI_WAITER_LISTED, order, true))) {
		order = m->waiters[s].order;
		if (may_leave(m, s) && (all || model_has_done(m, MODEL_WOKEN, s)))
			model_pop(m, s);
	}
}

void model_wake_empty(struct model *m)
{
	wake_leaving(m, model_has_done(m, MODEL_WENT_ROUND, 0));
	m->leaving = true;
}

/* Without a round, who has been woken was called for something else. */
void model_wake_empty_more(struct model *m)
{
	if (m->leaving)
		wake_leaving(m, false);
}

void model_enter(struct model *m, uint32_t waiter, uint32_t interest, uint32_t subject,
		 uint32_t behalf)
{
	if (waiter >= m->waiter_slots)
		m->waiter_slots = waiter + 1;
	m->order++;
	m->waiters[waiter] = (struct model_waiter){ .state = TQI_WAITER_LISTED,
						    .interest = interest,
						    .subject = subject,
						    .behalf = behalf,
						    .order = m->order,
						    .entered = m->order };
}

static bool is_waiting(const struct model *m, uint32_t task)
{
	for (uint32_t s = 1; s < m->waiter_slots; s++)
		if (m->waiters[s].state != TQI_WAITER_FREE && m->waiters[s].behalf == task)
			return true;
	return false;
}

uint32_t model_waiting_count(const struct model *m, uint32_t worker)
{
	uint32_t n = 0;

	for (uint32_t t = 1; t < m->task_slots; t++)
		n += m->tasks[t].state == TQ_RUNNING && m->tasks[t].attempt.worker == worker &&
		     is_waiting(m, t);
	return n;
}

void model_behalf_end(struct model *m, uint32_t task)
{
	for (uint32_t s = 1; s < m->waiter_slots; s++)
		if (m->waiters[s].behalf == task)
			m->waiters[s].behalf = 0;
}

void model_edge(struct model *m, uint32_t waiter, uint32_t task)
{
	uint32_t e = 0;

	while (m->edges[e].waiter)
		e++;
	if (e >= m->edge_slots)
		m->edge_slots = e + 1;
	++m->order;
	m->edges[e] =
		(struct model_edge){ waiter, task,     model_state_is_final(m->tasks[task].state),
				     false,  m->order, m->order };
	m->edges[e].quiet = m->waiters[waiter].behalf &&
			    m->tasks[m->waiters[waiter].behalf].tenant != m->tasks[task].tenant;
	m->tasks[task].listed = 0;
}

static uint32_t edges_of(const struct model *m, uint32_t waiter)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < m->edge_slots; e++)
		n += m->edges[e].waiter == waiter;
	return n;
}

bool model_edges_drop(struct model *m, uint32_t waiter, uint32_t count)
{
	for (uint32_t i = 0;; i++) {
		struct model_edge *newest = NULL;

		for (uint32_t e = 0; e < m->edge_slots; e++)
			if (m->edges[e].waiter == waiter &&
			    (!newest || m->edges[e].order > newest->order))
				newest = &m->edges[e];
		if (!newest)
			return true;
		if (i == count || !m->did(m->did_ctx, MODEL_EDGE, waiter, edges_of(m, waiter)))
			return false;
		newest->waiter = 0;
		if (model_state_is_final(m->tasks[newest->task].state))
			model_settle(m, newest->task);
	}
}

void model_relink(struct model *m, uint32_t waiter)
{
	if (m->waiters[waiter].state != TQI_WAITER_TRANSIT)
		return;
	m->waiters[waiter].state = TQI_WAITER_LISTED;
	m->waiters[waiter].order = ++m->order;
	if (m->waiters[waiter].interest == TQI_INTEREST_ROOM &&
	    !has_depth(m, m->waiters[waiter].subject))
		model_wake_room(m); /* others may have use for what it was popped for */
}

void model_leave(struct model *m, uint32_t waiter)
{
	m->waiters[waiter] = (struct model_waiter){ 0 };
}

static uint32_t next_slot(const struct model *m, uint32_t waiter)
{
	return waiter + 1 < m->waiter_slots ? waiter + 1 : 1;
}

static bool is_dead(const struct model *m, uint32_t waiter)
{
	return m->waiters[waiter].state != TQI_WAITER_FREE && m->waiters[waiter].dead;
}

bool model_has_dead(const struct model *m)
{
	bool any = false;

	for (uint32_t s = 1; s < m->waiter_slots; s++)
		any |= is_dead(m, s);
	return any;
}

/* As far as the core has come; false: not to the end. */
static bool bury_one(struct model *m, uint32_t waiter)
{
	if (!model_edges_drop(m, waiter, UINT32_MAX) || !model_has_done(m, MODEL_BURIED, waiter))
		return false;
	model_leave(m, waiter);
	return true;
}

/* By slot, from behind the one that was looked at last, up to `cursor`; then a part of one. */
bool model_bury(struct model *m, uint32_t cursor, uint32_t slots)
{
	uint32_t s = m->waiter_cursor;
	bool found = false;

	m->waiter_slots = slots;
	m->waiter_cursor = cursor;
	for (uint32_t i = 1; i < m->waiter_slots; i++) {
		s = next_slot(m, s);
		found |= is_dead(m, s);
		if ((is_dead(m, s) && !bury_one(m, s)) || s == cursor)
			break;
	}
	s = next_slot(m, cursor);
	const uint32_t edges = edges_of(m, s);

	if (m->waiter_slots > 1 && is_dead(m, s))
		bury_one(m, s);
	return found || edges_of(m, s) < edges;
}
