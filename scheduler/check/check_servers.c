/* SPDX-License-Identifier: MIT */
/* Servers, their pools, and which of them have room: RC-12, SV-1 to SV-6. */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/limit/server.h"
#include "scheduler/record/queue_set.h"

bool tqi_check_server_is_sound(struct tqi_check *c, const struct tqi_server *server)
{
	return tqi_check_record(c, TQI_QUEUES, server->queue) && server->bytes &&
	       strnlen(server->name, TQ_SERVER_MAX + 1) == server->bytes && server->leaving <= 1;
}

bool tqi_check_pool_is_sound(struct tqi_check *c, const struct tqi_pool *pool)
{
	return tqi_check_record(c, TQI_QUEUES, pool->queue) && pool->size &&
	       strnlen(pool->pattern, TQ_SERVER_MAX + 1) == pool->bytes && pool->is_prefix <= 1 &&
	       (pool->bytes || pool->is_prefix);
}

void tqi_check_attempt_server(struct tqi_check *c, uint32_t a, const struct tqi_attempt *attempt,
			      const struct tqi_task *t)
{
	const struct tqi_server *server = tqi_check_record_in_use(c, TQI_SERVERS, attempt->server);

	if (!attempt->server)
		return;
	if (!server || !t || server->queue != t->queue)
		tqi_check_fault(c, "attempt %u: server %u is not of its queue", a, attempt->server);
	else
		c->servers[attempt->server]++;
}

/* SV-2, SV-5; asks the index of pools. */
static void check_place(struct tqi_check *c, uint32_t s, const struct tqi_server *server)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, server->queue);
	uint32_t should_be =
		queue->home ? tqi_pool_for(c->tx, server->queue, server->name, server->bytes) : 0;
	bool is_moving = queue->carry_at && queue->carry_to == should_be && s >= queue->carry_at;

	if (server->pool != should_be && !(is_moving && server->pool == queue->carry_from))
		tqi_check_fault(c, "server %u: pool %u, should be %u", s, server->pool, should_be);
	if (!server->leaving && !(queue->flags & TQI_QUEUE_SERVED) &&
	    !(queue->carry_at && !queue->carry_to && s >= queue->carry_at))
		tqi_check_fault(c, "server %u: of queue %u, which is not served", s, server->queue);
}

static void check_server(struct tqi_check *c, uint32_t s, bool asks)
{
	const struct tqi_server *server = tqi_check_record_in_use(c, TQI_SERVERS, s);

	if (!server)
		return;
	if (!tqi_check_server_is_sound(c, server)) {
		tqi_check_fault(c, "server %u: no name, or queue %u", s, server->queue);
		return;
	}
	if (!(c->marks[TQI_SERVERS][s] & TQI_SEEN_LINKED))
		tqi_check_fault(c, "server %u: not in the index", s);
	tqi_check_equal(c, "server", s, "used", server->used, c->servers[s]);
	if (server->leaving && !server->used)
		tqi_check_fault(c, "server %u: removed, and nothing runs at it", s);
	if (server->sequence >= tqi_root(c->tx)->sequence)
		tqi_check_fault(c, "server %u: sequence %llu is still to come", s,
				(unsigned long long)server->sequence);
	if (asks)
		check_place(c, s, server);
	c->served[server->queue].servers += !server->leaving;
	if (tqi_check_record_in_use(c, TQI_POOLS, server->pool)) {
		c->pools[server->pool].servers++;
		c->pools[server->pool].used += server->used;
	}
}

static bool expect_in_load(struct tqi_check *c, uint32_t s, const struct tqi_check_heap *h,
			   struct tqi_heap_entry *entry)
{
	const struct tqi_server *server = tqi_server_at(c->tx, s);

	*entry = tqi_server_entry(server, s);
	return server->pool == h->owner && !server->leaving;
}

static bool expect_in_rooms(struct tqi_check *c, uint32_t p, const struct tqi_check_heap *h,
			    struct tqi_heap_entry *entry)
{
	const struct tqi_pool *pool = tqi_pool_at(c->tx, p);
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, pool->queue);

	*entry = tqi_pool_entry(pool, p);
	return queue && queue->home == h->owner && tqi_pool_has_room(pool);
}

static void check_heaps(struct tqi_check *c, uint32_t p, const struct tqi_pool *pool)
{
	tqi_check_heap(c, &(struct tqi_check_heap){ &pool->load, TQI_FAMILY_LOAD, TQI_SERVERS,
						    TQI_SEEN_LANE, p, "pool", expect_in_load });
	tqi_check_heap(c, &(struct tqi_check_heap){ &pool->rooms, TQI_FAMILY_ROOM, TQI_POOLS,
						    TQI_SEEN_LANE, p, "rooms of pool",
						    expect_in_rooms });
}

static void check_pool(struct tqi_check *c, uint32_t p)
{
	const struct tqi_pool *pool = tqi_check_record_in_use(c, TQI_POOLS, p);
	const struct tqi_queue *queue = pool ? tqi_check_record(c, TQI_QUEUES, pool->queue) : NULL;

	if (!pool)
		return;
	check_heaps(c, p, pool);
	if (!queue || !tqi_check_pool_is_sound(c, pool)) {
		tqi_check_fault(c, "pool %u: no pattern, queue %u, or size %u", p, pool->queue,
				pool->size);
		return;
	}
	if (!(c->marks[TQI_POOLS][p] & TQI_SEEN_LINKED))
		tqi_check_fault(c, "pool %u: not in the index", p);
	tqi_check_equal(c, "pool", p, "used", pool->used, c->pools[p].used);
	tqi_check_equal(c, "pool", p, "servers", pool->servers, c->pools[p].servers);
	if (pool->load.capacity < pool->servers)
		tqi_check_fault(c, "pool %u: no room for %u servers", p, pool->servers);
	if (pool->size == TQI_POOL_NONE && !pool->servers && p != queue->home &&
	    !(queue->carry_at && p == queue->carry_from))
		tqi_check_fault(c, "pool %u: not set, and without servers", p);
	c->served[pool->queue].pools++;
}

/* SV-3, once all heaps have been seen. */
static void check_room(struct tqi_check *c, uint32_t p)
{
	const struct tqi_pool *pool = tqi_check_record_in_use(c, TQI_POOLS, p);

	if (pool && (pool->has_room != tqi_pool_has_room(pool) ||
		     pool->has_room != !!(c->marks[TQI_POOLS][p] & TQI_SEEN_LANE)))
		tqi_check_fault(c, "pool %u: has room %u, %s its home's heap", p, pool->has_room,
				c->marks[TQI_POOLS][p] & TQI_SEEN_LANE ? "in" : "not in");
}

static void check_queue(struct tqi_check *c, uint32_t q)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);
	const struct tqi_pool *home;

	if (!queue)
		return;
	home = tqi_check_record_in_use(c, TQI_POOLS, queue->home);
	if (queue->home && (!home || home->queue != q || home->bytes || !home->is_prefix))
		tqi_check_fault(c, "queue %u: pool %u is not its home", q, queue->home);
	tqi_check_equal(c, "queue", q, "servers", queue->servers, c->served[q].servers);
	tqi_check_equal(c, "queue", q, "pools", home ? home->pools : 0, c->served[q].pools);
	if (home && home->rooms.capacity < home->pools)
		tqi_check_fault(c, "queue %u: no room for %u pools", q, home->pools);
	if ((queue->flags & TQI_QUEUE_SERVED) && !home)
		tqi_check_fault(c, "queue %u: served, without a pool", q);
	c->carrying += queue->carry_at != 0;
	if (!queue->carry_at != !tqi_queue_set_has(&tqi_root(c->tx)->carrying.queues, q))
		tqi_check_fault(c, "queue %u: among those that carry servers, or not", q);
	if (queue->carry_at &&
	    (!home ||
	     (queue->carry_to && (!tqi_check_record_in_use(c, TQI_POOLS, queue->carry_to) ||
				  !tqi_check_record_in_use(c, TQI_POOLS, queue->carry_from)))))
		tqi_check_fault(c, "queue %u: servers are carried from pool %u to %u", q,
				queue->carry_from, queue->carry_to);
}

void tqi_check_servers(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	const struct tqi_check_index servers = { &root->named.servers, TQI_SERVERS, "server index",
						 NULL };
	const struct tqi_check_index pools = { &root->named.pools, TQI_POOLS, "pool index", NULL };

	tqi_check_index(c, &servers);
	bool asks = tqi_check_index(c, &pools);

	for (uint32_t s = 1; s < c->count[TQI_SERVERS]; s++)
		check_server(c, s, asks);
	for (uint32_t p = 1; p < c->count[TQI_POOLS]; p++)
		check_pool(c, p);
	for (uint32_t p = 1; p < c->count[TQI_POOLS]; p++)
		check_room(c, p);
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++)
		check_queue(c, q);
	for (uint32_t s = 1; s < c->count[TQI_SERVERS]; s++) {
		const struct tqi_server *server = tqi_check_record_in_use(c, TQI_SERVERS, s);

		if (server && !server->leaving && !(c->marks[TQI_SERVERS][s] & TQI_SEEN_LANE))
			tqi_check_fault(c, "server %u: not in the heap of pool %u", s,
					server->pool);
	}
	tqi_check_equal(c, "root", 0, "carrying", root->carrying.count, c->carrying);
}
