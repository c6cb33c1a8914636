/* SPDX-License-Identifier: MIT */
/* Pools: the limits of servers, and which of them have room. */
#include <errno.h>
#include <string.h>

#include "scheduler/record/name.h"
#include "scheduler/limit/server.h"

uint32_t tqi_pool_find(struct tqi_tx *tx, uint32_t queue, const char *pattern, uint32_t bytes,
		       bool is_prefix)
{
	return tqi_name_seek(tx, TQI_POOLS,
			     (struct tqi_name){ pattern, bytes, queue << 1 | is_prefix });
}

bool tqi_pool_matches(const struct tqi_pool *pool, const char *name, uint32_t bytes)
{
	return (pool->is_prefix ? bytes >= pool->bytes : bytes == pool->bytes) &&
	       memcmp(pool->pattern, name, pool->bytes) == 0;
}

uint32_t tqi_pool_find_set(struct tqi_tx *tx, uint32_t queue, const char *pattern, uint32_t bytes,
			   bool is_prefix)
{
	uint32_t p = tqi_pool_find(tx, queue, pattern, bytes, is_prefix);

	return p && tqi_pool_at(tx, p)->size != TQI_POOL_NONE ? p : 0;
}

uint32_t tqi_pool_longest(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes)
{
	for (uint32_t n = bytes; n > 0 && !tx->corrupt; n--) {
		uint32_t p = tqi_pool_find_set(tx, queue, name, n, true);

		if (p)
			return p;
	}
	return tqi_queue_at(tx, queue)->home;
}

uint32_t tqi_pool_for(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes)
{
	uint32_t p = tqi_pool_find_set(tx, queue, name, bytes, false);

	return p ? p : tqi_pool_longest(tx, queue, name, bytes);
}

/* All but the link and the queue, which stays 0 should this be undone (TX-3). */
static void fill(struct tqi_pool *pool, const char *pattern, uint32_t bytes, bool is_prefix)
{
	tqi_table_clear(pool, sizeof(*pool));
	TQI_INIT(pool->size, TQI_POOL_NONE);
	TQI_INIT(pool->bytes, (uint8_t)bytes);
	TQI_INIT(pool->is_prefix, is_prefix);
	memcpy(pool->pattern, pattern, bytes);
}

static int take(struct tqi_tx *tx, uint32_t queue, const char *pattern, uint32_t bytes,
		bool is_prefix, uint32_t *ret_pool)
{
	bool full;
	uint32_t p = tqi_table_take(tx, TQI_POOLS, &full);

	if (!p)
		return full ? TQ_EFULL : -ENOMEM;
	fill(tqi_pool_at(tx, p), pattern, bytes, is_prefix);
	TQI_SET(tx, tqi_pool_at(tx, p)->queue, (uint16_t)queue);
	tqi_queue_keep(tx, tqi_queue_at(tx, queue));
	*ret_pool = p;
	return tqi_name_enter(tx, TQI_POOLS, p);
}

int tqi_pool_home(struct tqi_tx *tx, uint32_t q)
{
	struct tqi_queue *queue = tqi_queue_at(tx, q);
	uint32_t home;

	if (queue->home)
		return 0;
	int r = take(tx, q, "", 0, true, &home);

	if (r < 0)
		return r;
	struct tqi_pool *pool = tqi_pool_at(tx, home);

	TQI_INIT(pool->pools, 1);
	TQI_INIT(pool->rooms.capacity, 1); /* in the heap itself */
	TQI_SET(tx, queue->home, home);
	return 0;
}

int tqi_pool_make(struct tqi_tx *tx, uint32_t q, const char *pattern, uint32_t bytes,
		  bool is_prefix, uint32_t *ret_pool)
{
	int r = tqi_pool_home(tx, q);

	*ret_pool = r < 0 ? 0 : tqi_pool_find(tx, q, pattern, bytes, is_prefix);
	if (r < 0 || *ret_pool)
		return r;
	r = take(tx, q, pattern, bytes, is_prefix, ret_pool);
	if (r < 0)
		return r;
	struct tqi_pool *home = tqi_pool_at(tx, tqi_queue_at(tx, q)->home);

	TQI_ADD(tx, home->pools, 1);
	return tqi_heap_reserve(tx, &home->rooms, home->pools);
}

static void give(struct tqi_tx *tx, uint32_t p)
{
	struct tqi_pool *pool = tqi_pool_at(tx, p);
	struct tqi_pool *home = tqi_pool_at(tx, tqi_queue_at(tx, pool->queue)->home);

	tqi_name_leave(tx, TQI_POOLS, p);
	tqi_heap_free(tx, &pool->load);
	TQI_ADD(tx, home->pools, -1);
	tqi_heap_trim(tx, &home->rooms, home->pools);
	TQI_SET(tx, pool->queue, 0);
	tqi_table_give(tx, TQI_POOLS, p);
}

void tqi_pool_tidy(struct tqi_tx *tx, uint32_t p)
{
	struct tqi_pool *pool = tqi_pool_at(tx, p);
	const struct tqi_queue *queue = tqi_queue_at(tx, pool->queue);

	if (queue->carry_at) /* some are still to come */
		return;
	if (!pool->servers && pool->size == TQI_POOL_NONE && p != queue->home)
		give(tx, p);
	else
		tqi_heap_trim(tx, &pool->load, pool->servers);
}

int tqi_pool_join(struct tqi_tx *tx, uint32_t p, uint32_t s)
{
	struct tqi_pool *pool = tqi_pool_at(tx, p);
	const struct tqi_heap_entry first = tqi_pool_first(pool);
	int r = tqi_heap_reserve(tx, &pool->load, pool->servers + 1);

	if (r < 0)
		return r;
	TQI_ADD(tx, pool->servers, 1);
	tqi_heap_push(tx, &pool->load, TQI_FAMILY_LOAD, tqi_server_entry(tqi_server_at(tx, s), s));
	tqi_pool_follow(tx, p, first);
	return 0;
}

void tqi_pool_leave(struct tqi_tx *tx, uint32_t p)
{
	TQI_ADD(tx, tqi_pool_at(tx, p)->servers, -1);
	tqi_pool_tidy(tx, p);
}

struct tqi_heap_entry tqi_pool_first(const struct tqi_pool *pool)
{
	return pool->load.root;
}

void tqi_pool_follow(struct tqi_tx *tx, uint32_t p, struct tqi_heap_entry before)
{
	struct tqi_pool *pool = tqi_pool_at(tx, p);
	struct tqi_heap *rooms = &tqi_pool_at(tx, tqi_queue_at(tx, pool->queue)->home)->rooms;
	const struct tqi_heap_entry *first = &pool->load.root;
	bool has_room = tqi_pool_has_room(pool);

	if (has_room != pool->has_room || first->key != before.key || first->tag != before.tag)
		tqi_heap_follow(tx, rooms, TQI_FAMILY_ROOM, tqi_pool_entry(pool, p), pool->has_room,
				has_room);
	if (has_room != pool->has_room)
		TQI_SET(tx, pool->has_room, (uint8_t)has_room);
}

/* Who is to be woken is decided at the end of the transaction: who makes room may take it. */
void tqi_queue_pass_on(struct tqi_tx *tx, const struct tqi_queue *queue, bool had_room)
{
	if (had_room || !tqi_queue_has_room(tx, queue))
		return;
	if (queue->flags & TQI_QUEUE_SERVED)
		TQI_SET(tx, tqi_pool_at(tx, queue->home)->full_ns, tx->now_ns);
	if (tqi_queue_may_start(tx, queue))
		tx->pass_on = true;
}
