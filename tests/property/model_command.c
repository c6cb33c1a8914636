/* SPDX-License-Identifier: MIT */
/* The model: commands. */
#include <errno.h>

#include "scheduler/worker/command.h"
#include "tests/property/model_parts.h"

static bool has_farm(const struct model *m, const struct model_worker *w)
{
	const struct model_worker *master = &m->workers[w->master];

	return w->master && master->state == TQI_WORKER_LIVE &&
	       master->generation == w->master_generation && (master->flags & TQI_WORKER_COMMANDS);
}

static bool is_meant(const struct model *m, const struct model_worker *w, uint32_t queue,
		     uint32_t to)
{
	bool master = w->flags & TQI_WORKER_MASTER;

	return w->state == TQI_WORKER_LIVE && (w->flags & TQI_WORKER_COMMANDS) &&
	       model_serves_queue(w, queue) &&
	       (to == TQ_COMMAND_TO_FARMS ? master || !has_farm(m, w) : !master);
}

/* Its recipients; how many, or the refusal. */
static int address(const struct model *m, uint32_t queue, uint32_t to, uint32_t worker,
		   struct model_command *c)
{
	const struct model_worker *one = &m->workers[worker];

	if (to == TQ_COMMAND_TO_WORKER) {
		if (one->state != TQI_WORKER_LIVE)
			return -ESRCH;
		if (!(one->flags & TQI_WORKER_COMMANDS))
			return -EOPNOTSUPP;
		if (!model_serves_queue(one, queue))
			return -EXDEV;
		c->d[c->count++] = (struct model_delivery){ worker, one->generation, 0, 0 };
		return 1;
	}
	for (uint32_t w = 1; w < m->worker_slots; w++)
		if (is_meant(m, &m->workers[w], queue, to))
			c->d[c->count++] =
				(struct model_delivery){ w, m->workers[w].generation, 0, 0 };
	if (c->count && to == TQ_COMMAND_TO_ANY) {
		c->count = 1;
		c->d[0] = (struct model_delivery){ 0, 0, 0, 0 };
	}
	return c->count ? (int)c->count : -ESRCH;
}

uint32_t model_open_commands(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t c = 1; c < MODEL_COMMANDS; c++)
		n += m->commands[c].state == TQI_COMMAND_OPEN;
	return n;
}

/* The next one of this state on its list; 0 the end. */
static uint32_t after(const struct model *m, uint32_t state, uint64_t order)
{
	uint32_t next = 0;

	for (uint32_t c = 1; c < MODEL_COMMANDS; c++)
		if (m->commands[c].state == state && m->commands[c].order > order &&
		    (!next || m->commands[c].order < m->commands[next].order))
			next = c;
	return next;
}

static struct model_delivery *delivery_of(struct model_command *c, uint32_t worker,
					  uint64_t generation)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->d[i].worker == worker && c->d[i].generation == generation)
			return &c->d[i];
	return NULL;
}

/* Which of its deliveries the worker may take; c->count none. */
static uint32_t offer(const struct model *m, const struct model_command *c, uint32_t worker)
{
	const struct model_worker *w = &m->workers[worker];
	uint32_t i = 0;

	if (c->to == TQ_COMMAND_TO_ANY)
		return (w->flags & TQI_WORKER_MASTER) || !model_serves_queue(w, c->queue) ||
				       c->d[0].state != TQ_ANSWER_WAITING
			       ? c->count
			       : 0;
	while (i < c->count && (c->d[i].worker != worker || c->d[i].generation != w->generation ||
				c->d[i].state != TQ_ANSWER_WAITING))
		i++;
	return i;
}

static uint32_t next_for(const struct model *m, uint32_t worker)
{
	uint32_t c = after(m, TQI_COMMAND_OPEN, 0);

	while (c && offer(m, &m->commands[c], worker) == m->commands[c].count)
		c = after(m, TQI_COMMAND_OPEN, m->commands[c].order);
	return c;
}

bool model_command_waits(const struct model *m, uint32_t worker)
{
	const struct model_worker *w = &m->workers[worker];

	return (w->flags & TQI_WORKER_COMMANDS) && (w->command || next_for(m, worker));
}

bool model_command_take(struct model *m, uint32_t worker)
{
	struct model_worker *w = &m->workers[worker];

	if (!model_command_waits(m, worker))
		return false;
	if (w->command)
		return true;
	w->command = next_for(m, worker);
	struct model_command *c = &m->commands[w->command];
	struct model_delivery *d = &c->d[offer(m, c, worker)];

	*d = (struct model_delivery){ worker, w->generation, TQ_ANSWER_TAKEN, d->takes + 1 };
	return true;
}

/* Up to so many of a command's recipients that sleep, in their order; how many were popped. */
static uint32_t call_some(struct model *m, uint32_t command, uint32_t count)
{
	const struct model_command *c = &m->commands[command];
	uint32_t calls = 0;

	for (uint32_t i = 0; c->to != TQ_COMMAND_TO_ANY && i < c->count && calls < count; i++) {
		uint32_t s = c->d[i].state == TQ_ANSWER_WAITING
				     ? model_sleeper_of(m, c->d[i].worker)
				     : 0;

		if (!s)
			continue;
		if (calls && !model_has_done(m, MODEL_CALLED, s))
			break; /* the journal fills */
		model_pop(m, s);
		calls++;
	}
	return calls;
}

static bool call_anybody(struct model *m)
{
	for (uint32_t c = after(m, TQI_COMMAND_OPEN, 0); c;
	     c = after(m, TQI_COMMAND_OPEN, m->commands[c].order)) {
		bool waits = m->commands[c].to == TQ_COMMAND_TO_ANY &&
			     m->commands[c].d[0].state == TQ_ANSWER_WAITING;
		uint32_t s = waits ? model_sleeper_commanded(m, m->commands[c].queue) : 0;

		if (!s)
			continue;
		model_pop(m, s);
		return true;
	}
	return false;
}

bool model_wake_commanded(struct model *m, uint32_t count)
{
	uint32_t calls = 0;

	for (uint32_t c = after(m, TQI_COMMAND_OPEN, 0); c && calls < count;
	     c = after(m, TQI_COMMAND_OPEN, m->commands[c].order))
		calls += call_some(m, c, count - calls);
	return calls || call_anybody(m);
}

uint32_t model_command_waiters(const struct model *m, uint32_t command)
{
	uint32_t n = 0;

	for (uint32_t s = 1; s < m->waiter_slots; s++)
		n += m->waiters[s].state != TQI_WAITER_FREE &&
		     m->waiters[s].interest == TQI_INTEREST_COMMAND &&
		     (!command || m->waiters[s].subject == command);
	return n;
}

static uint32_t ended_count(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t c = 1; c < MODEL_COMMANDS; c++)
		n += m->commands[c].state == TQI_COMMAND_ENDED;
	return n;
}

/* One, and as many more as the core has freed. */
static void trim(struct model *m)
{
	bool freed = false;

	for (uint32_t c = after(m, TQI_COMMAND_ENDED, 0); c && ended_count(m) > TQ_COMMANDS_KEPT;
	     c = after(m, TQI_COMMAND_ENDED, m->commands[c].order)) {
		if (model_command_waiters(m, c))
			continue;
		if (freed && !model_has_done(m, MODEL_DROPPED, c))
			return;
		m->commands[c].state = TQI_COMMAND_FREE;
		freed = true;
	}
}

/* It ends, when all have answered. */
static void settle(struct model *m, uint32_t command)
{
	struct model_command *c = &m->commands[command];

	for (uint32_t i = 0; i < c->count; i++)
		if (c->d[i].state <= TQ_ANSWER_TAKEN)
			return;
	bool waited = model_listed(m, TQI_INTEREST_COMMAND, command, 0);

	c->state = TQI_COMMAND_ENDED;
	c->ended_ns = m->now_ns;
	c->order = ++m->order;
	if (waited)
		model_wake_called(m, TQI_WAKE_POPS);
	trim(m);
}

static void answer(struct model *m, uint32_t command, struct model_delivery *d, uint32_t state)
{
	d->state = state;
	settle(m, command);
}

int model_command_cancel(struct model *m, uint32_t command)
{
	struct model_command *c = &m->commands[command];
	int count = 0;

	if (c->state != TQI_COMMAND_OPEN)
		return TQ_ESTATE;
	c->cancelled = true;
	for (uint32_t i = 0; i < c->count; i++)
		if (c->d[i].state == TQ_ANSWER_WAITING) {
			c->d[i].state = TQ_ANSWER_CANCELLED;
			count++;
		}
	if (count)
		settle(m, command);
	return count;
}

int model_command_ack(struct model *m, uint32_t worker, uint32_t command, uint32_t state)
{
	struct model_worker *w = &m->workers[worker];

	if (w->command != command)
		return TQ_ESTATE;
	struct model_delivery *d = delivery_of(&m->commands[command], worker, w->generation);

	w->command = 0;
	answer(m, command, d, state);
	return 0;
}

static void go(struct model *m, uint32_t command, struct model_delivery *d)
{
	struct model_command *c = &m->commands[command];

	if (d->state == TQ_ANSWER_TAKEN && c->to == TQ_COMMAND_TO_ANY &&
	    d->takes < TQI_COMMAND_TAKES_MAX && !c->cancelled) {
		*d = (struct model_delivery){ 0, 0, TQ_ANSWER_WAITING, d->takes };
		call_anybody(m);
		return;
	}
	answer(m, command, d, TQ_ANSWER_GONE);
}

/* Oldest first, as far as the core has come; true when the worker is gone after it. */
bool model_command_leave(struct model *m, uint32_t worker)
{
	struct model_worker *w = &m->workers[worker];
	bool changed = false;
	uint64_t order = 0;
	uint32_t c;

	while ((c = after(m, TQI_COMMAND_OPEN, order))) {
		struct model_delivery *d = delivery_of(&m->commands[c], worker, w->generation);

		order = m->commands[c].order;
		if (!d || d->state > TQ_ANSWER_TAKEN)
			continue;
		if (!m->did(m->did_ctx, MODEL_ANSWERED, c, worker))
			return false;
		if (d->state == TQ_ANSWER_TAKEN)
			w->command = 0;
		go(m, c, d);
		changed = true;
	}
	return !changed || model_has_done(m, MODEL_LEFT, worker);
}

int model_command_send(struct model *m, const struct tq_command_spec *spec, uint32_t queue,
		       uint32_t slot, uint64_t generation)
{
	struct model_command c = { .state = TQI_COMMAND_OPEN,
				   .queue = queue,
				   .to = spec->to,
				   .generation = generation,
				   .sent_ns = m->now_ns,
				   .order = ++m->order };
	int r = address(m, queue, spec->to, spec->worker, &c);

	if (r < 0)
		return r;
	m->commands[slot] = c;
	if (c.to == TQ_COMMAND_TO_ANY)
		call_anybody(m);
	else
		call_some(m, slot, TQI_WAKE_POPS);
	return r;
}

/* Ended ones by when they ended, then by slot. */
void model_rebuild_commands(struct model *m)
{
	uint64_t first = m->order + 1, n = 0;

	for (uint32_t c = 1; c < MODEL_COMMANDS; c++)
		if (m->commands[c].state == TQI_COMMAND_ENDED)
			m->commands[c].order = NEVER;
	for (;;) {
		uint32_t oldest = 0;

		for (uint32_t c = 1; c < MODEL_COMMANDS; c++)
			if (m->commands[c].state == TQI_COMMAND_ENDED &&
			    m->commands[c].order == NEVER &&
			    (!oldest || m->commands[c].ended_ns < m->commands[oldest].ended_ns))
				oldest = c;
		if (!oldest)
			break;
		m->commands[oldest].order = first + n++;
	}
	m->order += n;
}
