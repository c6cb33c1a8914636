/* SPDX-License-Identifier: MIT */
/* Limits of servers: set, changed, taken away. */
#include <errno.h>
#include <string.h>

#include "scheduler/limit/server.h"

/* The pool that its servers are in when it is not set. */
static uint32_t parent_of(struct tqi_tx *tx, const struct tqi_pool *pool)
{
	return tqi_pool_longest(tx, pool->queue, pool->pattern,
				pool->is_prefix ? pool->bytes - 1u : pool->bytes);
}

/* The one server that a limit of a name is of, at once. */
static int carry_one(struct tqi_tx *tx, uint32_t q, const struct tqi_pool *named, uint32_t to)
{
	uint32_t s = tqi_server_find(tx, q, named->pattern, named->bytes);
	struct tqi_pool *pool = tqi_pool_at(tx, to);
	int r = s ? tqi_heap_reserve(tx, &pool->load, pool->servers + 1) : 0;

	if (s && r == 0)
		tqi_server_move(tx, s, to);
	return r;
}

/* It was not set, and is, or the other way round. */
static int carry(struct tqi_tx *tx, uint32_t q, uint32_t p, bool is_set)
{
	const struct tqi_pool *pool = tqi_pool_at(tx, p);
	uint32_t parent = parent_of(tx, pool);
	uint32_t from = is_set ? parent : p, to = is_set ? p : parent;
	int r = 0;

	if (!pool->is_prefix)
		r = carry_one(tx, q, pool, to);
	else if (tqi_pool_at(tx, from)->servers)
		return tqi_server_carry_begin(tx, q, from, to);
	if (r == 0)
		tqi_pool_tidy(tx, from);
	return r;
}

int tqi_pool_set(struct tqi_tx *tx, uint32_t q, const char *pattern, uint32_t size)
{
	uint32_t bytes = (uint32_t)strnlen(pattern, TQ_SERVER_MAX + 1), p;
	bool is_prefix = bytes && pattern[bytes - 1] == '*', takes_away = size == TQI_POOL_NONE;
	struct tqi_queue *queue = tqi_queue_at(tx, q);

	bytes -= is_prefix;
	if (queue->carry_at)
		return -EBUSY;
	if (takes_away && !tqi_pool_find_set(tx, q, pattern, bytes, is_prefix))
		return -ENOENT;
	int r = tqi_pool_make(tx, q, pattern, bytes, is_prefix, &p);

	if (r < 0)
		return r;
	struct tqi_pool *pool = tqi_pool_at(tx, p);
	bool moves = p != queue->home && takes_away != (pool->size == TQI_POOL_NONE);
	bool had_room = tqi_queue_has_room(tx, queue);

	TQI_SET(tx, pool->size, size);
	tqi_pool_follow(tx, p, tqi_pool_first(pool));
	if (moves && (r = carry(tx, q, p, !takes_away)) < 0)
		return r;
	tqi_queue_pass_on(tx, queue, had_room);
	return 0;
}
