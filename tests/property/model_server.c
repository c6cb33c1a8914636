/* SPDX-License-Identifier: MIT */
/* The model: servers, by counting attempts; pools are the patterns that servers are given. */
#include "tests/property/model_parts.h"

#include <errno.h>
#include <string.h>

#define AWAY MODEL_PATTERNS

const char *server_name(uint32_t name)
{
	static const char *const names[MODEL_SERVERS] = { "http://a/1",	 "http://a/2", "http://a/3",
							  "http://ab/1", "http://b/1", "http://b/2",
							  "x",		 "y",	       "http://a" };

	return names[name];
}

const char *server_pattern(uint32_t pattern)
{
	static const char *const patterns[MODEL_PATTERNS] = {
		"*", "http://*", "http://a*", "http://a/*", "http://a/1", "x", "nobody*"
	};

	return patterns[pattern];
}

static bool matches(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	return pattern[n - 1] == '*' ? strncmp(pattern, name, n - 1) == 0
				     : strcmp(pattern, name) == 0;
}

/* Of those that are set: the name itself, or the longest; 0 none. */
static uint32_t pattern_for(const struct model_queue *q, uint32_t name)
{
	uint32_t best = 0;

	for (uint32_t p = 1; p < MODEL_PATTERNS; p++) {
		const char *pattern = server_pattern(p);

		if (q->pool_size[p] == UINT32_MAX || !matches(pattern, server_name(name)))
			continue;
		if (!best || !strchr(pattern, '*') ||
		    (strchr(server_pattern(best), '*') &&
		     strlen(pattern) > strlen(server_pattern(best))))
			best = p;
	}
	return best;
}

uint32_t model_server_find(const struct model *m, uint32_t queue, uint32_t name)
{
	for (uint32_t s = 1; s < m->server_slots; s++)
		if (m->servers[s].queue == queue && m->servers[s].name == name)
			return s;
	return 0;
}

uint32_t model_server_used(const struct model *m, uint32_t slot)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		n += m->tasks[i].state == TQ_RUNNING && m->tasks[i].attempt.server == slot;
	return n;
}

uint32_t model_pool_used(const struct model *m, uint32_t queue, uint32_t pattern)
{
	uint32_t n = 0;

	for (uint32_t s = 1; s < m->server_slots; s++)
		if (m->servers[s].queue == queue && m->servers[s].pattern == pattern)
			n += model_server_used(m, s);
	return n;
}

uint32_t model_servers_of(const struct model *m, uint32_t queue)
{
	uint32_t n = 0;

	for (uint32_t s = 1; s < m->server_slots; s++)
		n += m->servers[s].queue == queue && !m->servers[s].leaving;
	return n;
}

/* The one to start at; 0 none has room. */
static uint32_t best_server(const struct model *m, uint32_t queue)
{
	uint32_t best = 0, least = 0;

	for (uint32_t s = 1; s < m->server_slots; s++) {
		const struct model_server *server = &m->servers[s];

		if (server->queue != queue || server->leaving ||
		    model_pool_used(m, queue, server->pattern) >=
			    m->queues[queue].pool_size[server->pattern])
			continue;
		uint32_t used = model_server_used(m, s);

		if (best &&
		    (used > least || (used == least && server->turn > m->servers[best].turn)))
			continue;
		best = s;
		least = used;
	}
	return best;
}

static bool has_room(const struct model *m, uint32_t queue)
{
	const struct model_queue *q = &m->queues[queue];

	return !(q->flags & TQI_QUEUE_SERVED) || (!q->carry_at && best_server(m, queue));
}

bool model_may_start(const struct model *m, uint32_t queue)
{
	return !(m->queues[queue].flags & TQ_QUEUE_PAUSED) && has_room(m, queue);
}

bool model_is_stuck(const struct model *m, uint32_t queue)
{
	const struct model_queue *q = &m->queues[queue];

	return (q->flags & TQ_QUEUE_PAUSED) ||
	       ((q->flags & TQI_QUEUE_SERVED) && !model_servers_of(m, queue));
}

bool model_keeps_assigned(const struct model *m, uint32_t queue)
{
	return !(m->queues[queue].flags & (TQ_QUEUE_PAUSED | TQI_QUEUE_SERVED));
}

/* Something was done that may have made room. */
static void pass_on(struct model *m, uint32_t queue, bool had_room)
{
	if (had_room || !has_room(m, queue))
		return;
	if (m->queues[queue].flags & TQI_QUEUE_SERVED)
		m->queues[queue].full_ns = m->now_ns;
	m->pass_on |= model_may_start(m, queue);
}

uint32_t model_server_take(struct model *m, uint32_t queue)
{
	struct model_queue *q = &m->queues[queue];
	uint32_t s = q->flags & TQI_QUEUE_SERVED ? best_server(m, queue) : 0;

	if (s)
		m->servers[s].turn = ++q->turn;
	return s;
}

static void drop_unused(struct model *m, uint32_t s)
{
	if (m->servers[s].leaving && !model_server_used(m, s))
		m->servers[s].queue = 0;
}

/* Its attempt has just ended; one that is not of a running task counts no more. */
void model_server_give(struct model *m, uint32_t s)
{
	const struct model_server *server = &m->servers[s];
	uint32_t queue = server->queue;
	const struct model_queue *q = &m->queues[queue];

	if (!s)
		return;
	/* Before, this pool had one attempt more, and may have had no room. */
	bool was_full = model_pool_used(m, queue, server->pattern) + 1 >=
			q->pool_size[server->pattern];
	bool others = false;

	for (uint32_t o = 1; o < m->server_slots; o++)
		others |= m->servers[o].queue == queue && !m->servers[o].leaving &&
			  (m->servers[o].pattern != server->pattern || !was_full) &&
			  model_pool_used(m, queue, m->servers[o].pattern) <
				  q->pool_size[m->servers[o].pattern];
	if (q->flags & TQI_QUEUE_SERVED)
		pass_on(m, queue, others);
	drop_unused(m, s);
}

bool model_is_carrying(const struct model *m)
{
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		if (m->queues[q].carry_at)
			return true;
	return false;
}

static void leave(struct model *m, uint32_t s)
{
	m->servers[s].leaving = true;
	drop_unused(m, s);
}

static bool carry_one(struct model *m, uint32_t queue, uint32_t s)
{
	const struct model_queue *q = &m->queues[queue];
	struct model_server *server = &m->servers[s];

	if (server->queue != queue)
		return false;
	if (q->carry_to == AWAY) {
		leave(m, s);
		return true;
	}
	if (server->pattern != q->carry_from ||
	    !matches(server_pattern(q->carry_to), server_name(server->name)))
		return false;
	server->pattern = q->carry_to;
	return true;
}

static void carry(struct model *m, uint32_t queue)
{
	struct model_queue *q = &m->queues[queue];

	while (q->carry_at < m->server_slots &&
	       m->did(m->did_ctx, MODEL_CARRIED, queue, q->carry_at))
		carry_one(m, queue, q->carry_at++);
	if (q->carry_at >= m->server_slots)
		q->carry_at = 0;
}

void model_carry(struct model *m)
{
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++) {
		if (!m->queues[q].carry_at)
			continue;
		bool had_room = has_room(m, q);

		carry(m, q);
		pass_on(m, q, had_room);
		return;
	}
}

/* `changed`: the pattern that is set or not. */
static void carry_begin(struct model *m, uint32_t queue, uint32_t from, uint32_t to,
			uint32_t changed)
{
	struct model_queue *q = &m->queues[queue];
	bool any = to == AWAY, at_once = !strchr(server_pattern(changed), '*');

	for (uint32_t s = 1; s < m->server_slots; s++) {
		struct model_server *server = &m->servers[s];

		if (server->queue != queue)
			continue;
		any |= server->pattern == from;
		if (at_once && matches(server_pattern(changed), server_name(server->name)))
			server->pattern = to;
	}
	if (!any || at_once)
		return;
	q->carry_at = 1;
	q->carry_from = from;
	q->carry_to = to;
	carry(m, queue);
}

static void serve(struct model *m, struct model_queue *q)
{
	if (q->flags & TQI_QUEUE_SERVED)
		return;
	q->flags |= TQI_QUEUE_SERVED;
	if (model_assigned_all(m))
		m->sweep_left = m->sweep_count = m->task_slots;
}

int model_server_add(struct model *m, uint32_t queue, uint32_t name, uint32_t slot)
{
	struct model_queue *q = &m->queues[queue];
	bool had_room = has_room(m, queue);

	if (q->carry_at)
		return -EBUSY;
	if (slot >= m->server_slots)
		m->server_slots = slot + 1;
	struct model_server *server = &m->servers[slot];

	q->configured = true;
	if (!server->queue)
		*server = (struct model_server){ .queue = queue,
						 .name = name,
						 .pattern = pattern_for(q, name),
						 .turn = ++q->turn,
						 .sequence = m->sequence++ };
	server->leaving = false;
	serve(m, q);
	pass_on(m, queue, had_room);
	return 0;
}

int model_server_remove(struct model *m, uint32_t queue, uint32_t name)
{
	uint32_t s = model_server_find(m, queue, name);

	if (!s || m->servers[s].leaving)
		return -ENOENT;
	leave(m, s);
	if (model_is_stuck(m, queue))
		model_wake_empty(m);
	return 0;
}

int model_server_remove_all(struct model *m, uint32_t queue)
{
	struct model_queue *q = &m->queues[queue];
	bool had_room = has_room(m, queue);

	if (!(q->flags & TQI_QUEUE_SERVED))
		return -ENOENT;
	if (q->carry_at)
		return -EBUSY;
	q->flags &= ~TQI_QUEUE_SERVED;
	pass_on(m, queue, had_room);
	carry_begin(m, queue, 0, AWAY, 0);
	return 0;
}

/* Where servers of a pattern are when it is not set: that of a longest prefix of it. */
static uint32_t parent_of(const struct model_queue *q, uint32_t pattern)
{
	const char *own = server_pattern(pattern);
	uint32_t best = 0;

	for (uint32_t p = 1; p < MODEL_PATTERNS; p++) {
		const char *other = server_pattern(p);
		size_t n = strlen(other);

		if (p != pattern && q->pool_size[p] != UINT32_MAX && other[n - 1] == '*' &&
		    strncmp(other, own, n - 1) == 0 && n > strlen(server_pattern(best)))
			best = p;
	}
	return best;
}

int model_pool_set(struct model *m, uint32_t queue, uint32_t pattern, uint32_t size)
{
	struct model_queue *q = &m->queues[queue];
	bool had_room = has_room(m, queue), was_set = q->pool_size[pattern] != UINT32_MAX;
	bool is_set = size != UINT32_MAX;

	if (q->carry_at)
		return -EBUSY;
	if (!is_set && !was_set)
		return -ENOENT;
	q->configured = true;
	q->pool_size[pattern] = size;
	if (pattern && is_set && !was_set)
		carry_begin(m, queue, parent_of(q, pattern), pattern, pattern);
	else if (pattern && !is_set)
		carry_begin(m, queue, pattern, parent_of(q, pattern), pattern);
	pass_on(m, queue, had_room);
	return 0;
}

/* All is carried, at once. */
void model_rebuild_servers(struct model *m)
{
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		m->queues[q].carry_at = 0;
	for (uint32_t s = 1; s < m->server_slots; s++) {
		struct model_server *server = &m->servers[s];
		const struct model_queue *q = &m->queues[server->queue];

		if (!server->queue)
			continue;
		server->pattern = pattern_for(q, server->name);
		if (!(q->flags & TQI_QUEUE_SERVED))
			leave(m, s);
	}
}
