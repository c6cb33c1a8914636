/* SPDX-License-Identifier: MIT */
/* Servers and the sizes of pools are believed; who is where, and how much room there is, is not. */
#include <errno.h>

#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/limit/server.h"

static void mend_pool(struct tqi_check *c, uint32_t p)
{
	struct tqi_pool *pool = tqi_check_record(c, TQI_POOLS, p);

	if (!pool)
		return;
	if (!tqi_check_pool_is_sound(c, pool))
		pool->queue = 0;
	else if (pool->size != TQI_POOL_NONE)
		c->marks[TQI_POOLS][p] |= TQI_SEEN_LINKED;
}

/* Of the queue's own home it is known that there was one; whatever was carried is there soon. */
static void mend_queue(struct tqi_check *c, uint32_t q)
{
	struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);
	const struct tqi_pool *home = queue ? tqi_check_record(c, TQI_POOLS, queue->home) : NULL;

	if (!queue)
		return;
	if (home && home->queue == q && !home->bytes)
		c->marks[TQI_POOLS][queue->home] |= TQI_SEEN_LINKED;
	else
		queue->home = 0;
}

void tqi_rebuild_servers_begin(struct tqi_check *c)
{
	for (uint32_t p = 1; p < c->count[TQI_POOLS]; p++)
		mend_pool(c, p);
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++)
		mend_queue(c, q);
	for (uint32_t s = 1; s < c->count[TQI_SERVERS]; s++) {
		struct tqi_server *server = tqi_check_record(c, TQI_SERVERS, s);

		if (!server)
			continue;
		server->leaving = server->leaving != 0;
		if (!tqi_check_server_is_sound(c, server))
			server->queue = 0;
		else if (!(tqi_queue_at(c->tx, server->queue)->flags & TQI_QUEUE_SERVED))
			server->leaving = 1;
		if (server->queue && !server->leaving)
			c->marks[TQI_SERVERS][s] |= TQI_SEEN_LINKED;
	}
}

/* One that runs at a server keeps it, also when it has been removed. */
void tqi_rebuild_attempt_server(struct tqi_check *c, struct tqi_attempt *attempt, uint32_t queue)
{
	struct tqi_server *server = tqi_check_record(c, TQI_SERVERS, attempt->server);

	if (!server || server->queue != queue) {
		attempt->server = 0;
		return;
	}
	server->used++;
	c->marks[TQI_SERVERS][attempt->server] |= TQI_SEEN_LINKED;
}

/* Two of one pattern: the second one is of something else. */
static int index_pool(struct tqi_check *c, uint32_t p)
{
	struct tqi_pool *pool = tqi_pool_at(c->tx, p);
	bool is_home = p == tqi_queue_at(c->tx, pool->queue)->home;
	const struct tqi_rebuild_lost how = { "lost-limit", pool->pattern, &pool->bytes,
					      !is_home && !pool->bytes };

	return tqi_rebuild_name(c, TQI_POOLS, p, &how);
}

/* Queues that are served, or have a limit or a server left, have a home. */
static int make_home(struct tqi_check *c, uint32_t q)
{
	int r = tqi_pool_home(c->tx, q);

	if (r < 0)
		return r;
	c->count[TQI_POOLS] = c->tx->core->tables[TQI_POOLS].count;
	c->marks[TQI_POOLS][tqi_queue_at(c->tx, q)->home] |= TQI_SEEN_LINKED;
	return 0;
}

static int make_homes(struct tqi_check *c)
{
	int r = 0;

	for (uint32_t q = 1; q < c->count[TQI_QUEUES] && r == 0; q++)
		if (tqi_queue_at(c->tx, q)->flags & TQI_QUEUE_SERVED)
			r = make_home(c, q);
	for (uint32_t p = 1; p < c->count[TQI_POOLS] && r == 0; p++)
		if (c->marks[TQI_POOLS][p] & TQI_SEEN_LINKED)
			r = make_home(c, tqi_pool_at(c->tx, p)->queue);
	for (uint32_t s = 1; s < c->count[TQI_SERVERS] && r == 0; s++)
		if (c->marks[TQI_SERVERS][s] & TQI_SEEN_LINKED)
			r = make_home(c, tqi_server_at(c->tx, s)->queue);
	return r;
}

static struct tqi_pool *home_of(struct tqi_check *c, uint32_t p)
{
	return tqi_pool_at(c->tx, tqi_queue_at(c->tx, tqi_pool_at(c->tx, p)->queue)->home);
}

/* Room for all of them in their homes. */
static int count_pools(struct tqi_check *c)
{
	int r = 0;

	for (uint32_t p = 1; p < c->count[TQI_POOLS]; p++)
		tqi_pool_at(c->tx, p)->pools = 0;
	for (uint32_t p = 1; p < c->count[TQI_POOLS] && r == 0; p++) {
		if (!(c->marks[TQI_POOLS][p] & TQI_SEEN_LINKED))
			continue;
		struct tqi_pool *home = home_of(c, p);

		home->pools++;
		r = tqi_heap_reserve(c->tx, &home->rooms, home->pools);
	}
	return r;
}

/* Whose it is, and what runs at it. */
static int index_server(struct tqi_check *c, uint32_t s)
{
	struct tqi_server *server = tqi_server_at(c->tx, s);
	struct tqi_root *root = tqi_root(c->tx);
	const struct tqi_rebuild_lost how = { "lost-server", server->name, &server->bytes, false };

	if (server->sequence >= root->sequence)
		server->sequence = root->sequence - 1;
	int r = tqi_rebuild_name(c, TQI_SERVERS, s, &how);

	if (r < 0)
		return r;
	server->pool = tqi_pool_for(c->tx, server->queue, server->name, server->bytes);
	tqi_pool_at(c->tx, server->pool)->used += server->used;
	return 0;
}

/* As if it came now; one that leaves has been there. */
static int enter_server(struct tqi_check *c, uint32_t s)
{
	struct tqi_server *server = tqi_server_at(c->tx, s);
	struct tqi_pool *pool = tqi_pool_at(c->tx, server->pool);

	if (server->leaving)
		return tqi_heap_reserve(c->tx, &pool->load, ++pool->servers);
	tqi_queue_at(c->tx, server->queue)->servers++;
	return tqi_pool_join(c->tx, server->pool, s);
}

static int each_server(struct tqi_check *c, int (*duty)(struct tqi_check *c, uint32_t s))
{
	int r = 0;

	for (uint32_t s = 1; s < c->count[TQI_SERVERS] && r == 0; s++)
		if (c->marks[TQI_SERVERS][s] & TQI_SEEN_LINKED)
			r = duty(c, s);
	return r;
}

/* Those that nothing runs at and that are no use, and what is not set. */
static void free_others(struct tqi_check *c)
{
	for (uint32_t s = 1; s < c->count[TQI_SERVERS]; s++)
		if (!(c->marks[TQI_SERVERS][s] & TQI_SEEN_LINKED))
			tqi_server_at(c->tx, s)->queue = 0;
	for (uint32_t p = 1; p < c->count[TQI_POOLS]; p++)
		if (!(c->marks[TQI_POOLS][p] & TQI_SEEN_LINKED))
			tqi_pool_at(c->tx, p)->queue = 0;
}

int tqi_rebuild_servers(struct tqi_check *c)
{
	int r = 0;

	free_others(c);
	for (uint32_t p = 1; p < c->count[TQI_POOLS] && r == 0; p++)
		if (c->marks[TQI_POOLS][p] & TQI_SEEN_LINKED)
			r = index_pool(c, p);
	if (r == 0)
		r = make_homes(c);
	if (r == 0)
		r = count_pools(c);
	if (r == 0)
		r = each_server(c, index_server);
	if (r == 0)
		r = each_server(c, enter_server);
	return r;
}
