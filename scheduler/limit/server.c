/* SPDX-License-Identifier: MIT */
/* Servers: given with tasks, added, removed, carried from pool to pool. */
#include "scheduler/limit/server.h"
#include "scheduler/record/queue_set.h"

#include <errno.h>
#include <string.h>

#include "scheduler/record/name.h"
#include "scheduler/record/sweep_state.h"
#include "scheduler/wake/wake.h"

#define CARRY_LOOKS 256 /* records looked at in one hold ... */
#define CARRY_SLICE 4	/* ... of which so many are carried: about 50 journal entries each */

/* Records. */

uint32_t tqi_server_find(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes)
{
	return tqi_name_seek(tx, TQI_SERVERS, (struct tqi_name){ name, bytes, queue });
}

static void give(struct tqi_tx *tx, uint32_t s)
{
	struct tqi_server *server = tqi_server_at(tx, s);

	tqi_name_leave(tx, TQI_SERVERS, s);
	tqi_pool_leave(tx, server->pool);
	TQI_SET(tx, server->queue, 0);
	tqi_table_give(tx, TQI_SERVERS, s);
}

/* Attempts. */

/* One attempt more or less: its load and its pool's. */
static void load(struct tqi_tx *tx, uint32_t s, struct tqi_server *server, int change)
{
	struct tqi_pool *pool = tqi_pool_at(tx, server->pool);
	const struct tqi_heap_entry first = tqi_pool_first(pool);

	TQI_ADD(tx, server->used, change);
	TQI_ADD(tx, pool->used, change);
	if (!server->leaving)
		tqi_heap_rekey(tx, &pool->load, TQI_FAMILY_LOAD, s, tqi_server_entry(server, s));
	tqi_pool_follow(tx, server->pool, first);
}

uint32_t tqi_server_take(struct tqi_tx *tx, uint32_t q)
{
	struct tqi_queue *queue = tqi_queue_at(tx, q);

	if (!(queue->flags & TQI_QUEUE_SERVED))
		return 0;
	const struct tqi_heap *rooms = &tqi_pool_at(tx, queue->home)->rooms;

	if (!rooms->length) {
		tx->corrupt = true;
		return 0;
	}
	uint32_t s = tqi_tag_index(tqi_pool_at(tx, tqi_tag_index(rooms->root.tag))->load.root.tag);
	struct tqi_server *server = tqi_server_at(tx, s);

	TQI_ADD(tx, queue->turn, 1);
	TQI_SET(tx, server->turn, queue->turn);
	load(tx, s, server, 1);
	return s;
}

void tqi_server_give(struct tqi_tx *tx, uint32_t s)
{
	struct tqi_server *server = tqi_server_at(tx, s);
	const struct tqi_queue *queue = tqi_queue_at(tx, server->queue);
	bool had_room = tqi_queue_has_room(tx, queue);

	load(tx, s, server, -1);
	tqi_queue_pass_on(tx, queue, had_room);
	if (server->leaving && !server->used)
		give(tx, s);
}

/* Coming and going. */

/* What was assigned goes back, at the latest with the sweep (SV-8). */
static void serve(struct tqi_tx *tx, struct tqi_queue *queue)
{
	if (queue->flags & TQI_QUEUE_SERVED)
		return;
	TQI_SET(tx, queue->flags, queue->flags | TQI_QUEUE_SERVED);
	if (tqi_root(tx)->assigned)
		tqi_sweep_start(tx);
}

/* All but the link and the queue, which stays 0 should this be undone (TX-3). */
static void fill(struct tqi_server *server, const char *name, uint32_t bytes, uint64_t sequence)
{
	tqi_table_clear(server, sizeof(*server));
	TQI_INIT(server->bytes, (uint8_t)bytes);
	TQI_INIT(server->sequence, sequence);
	memcpy(server->name, name, bytes);
}

static int make(struct tqi_tx *tx, uint32_t q, const char *name, uint32_t bytes,
		uint32_t *ret_server)
{
	bool full;
	uint32_t s = tqi_table_take(tx, TQI_SERVERS, &full);

	if (!s)
		return full ? TQ_EFULL : -ENOMEM;
	struct tqi_server *server = tqi_server_at(tx, s);

	fill(server, name, bytes, tqi_root(tx)->sequence);
	TQI_SET(tx, server->queue, (uint16_t)q);
	TQI_INIT(server->pool, tqi_pool_for(tx, q, name, bytes));
	TQI_ADD(tx, tqi_root(tx)->sequence, 1);
	*ret_server = s;
	return tqi_name_enter(tx, TQI_SERVERS, s);
}

/* The last one in its turn, from now on. */
static int enter(struct tqi_tx *tx, uint32_t q, uint32_t s)
{
	struct tqi_server *server = tqi_server_at(tx, s);
	struct tqi_queue *queue = tqi_queue_at(tx, q);

	TQI_ADD(tx, queue->turn, 1);
	TQI_SET(tx, server->turn, queue->turn);
	TQI_ADD(tx, queue->servers, 1);
	return tqi_pool_join(tx, server->pool, s);
}

/* One that was on its way out stays: its record is in its pool still. */
static void come_back(struct tqi_tx *tx, uint32_t s)
{
	struct tqi_server *server = tqi_server_at(tx, s);
	struct tqi_queue *queue = tqi_queue_at(tx, server->queue);
	struct tqi_pool *pool = tqi_pool_at(tx, server->pool);
	const struct tqi_heap_entry first = tqi_pool_first(pool);

	TQI_SET(tx, server->leaving, 0);
	TQI_ADD(tx, queue->servers, 1);
	tqi_heap_push(tx, &pool->load, TQI_FAMILY_LOAD, tqi_server_entry(server, s));
	tqi_pool_follow(tx, server->pool, first);
}

int tqi_server_add(struct tqi_tx *tx, uint32_t q, const char *name)
{
	uint32_t bytes = (uint32_t)strnlen(name, TQ_SERVER_MAX);
	struct tqi_queue *queue = tqi_queue_at(tx, q);
	bool had_room = tqi_queue_has_room(tx, queue);

	if (queue->carry_at)
		return -EBUSY;
	int r = tqi_pool_home(tx, q);
	uint32_t s = r < 0 ? 0 : tqi_server_find(tx, q, name, bytes);

	if (r < 0)
		return r;
	if (!s && ((r = make(tx, q, name, bytes, &s)) < 0 || (r = enter(tx, q, s)) < 0))
		return r;
	if (tqi_server_at(tx, s)->leaving)
		come_back(tx, s);
	serve(tx, queue);
	tqi_queue_pass_on(tx, queue, had_room);
	return 0;
}

void tqi_server_leave(struct tqi_tx *tx, uint32_t s)
{
	struct tqi_server *server = tqi_server_at(tx, s);
	struct tqi_queue *queue = tqi_queue_at(tx, server->queue);
	struct tqi_pool *pool = tqi_pool_at(tx, server->pool);
	const struct tqi_heap_entry first = tqi_pool_first(pool);

	if (server->leaving)
		return;
	tqi_heap_remove(tx, &pool->load, TQI_FAMILY_LOAD, s);
	tqi_pool_follow(tx, server->pool, first);
	TQI_SET(tx, server->leaving, 1);
	TQI_ADD(tx, queue->servers, -1);
	if (!server->used)
		give(tx, s);
}

int tqi_server_remove(struct tqi_tx *tx, uint32_t q, const char *name)
{
	uint32_t s = tqi_server_find(tx, q, name, (uint32_t)strnlen(name, TQ_SERVER_MAX));

	if (!s || tqi_server_at(tx, s)->leaving)
		return -ENOENT;
	tqi_server_leave(tx, s);
	if (tqi_queue_is_stuck(tqi_queue_at(tx, q)))
		tqi_wake_empty(tx); /* what cannot start holds nobody back from leaving */
	return 0;
}

int tqi_server_remove_all(struct tqi_tx *tx, uint32_t q)
{
	struct tqi_queue *queue = tqi_queue_at(tx, q);
	bool had_room = tqi_queue_has_room(tx, queue);

	if (!(queue->flags & TQI_QUEUE_SERVED))
		return -ENOENT;
	if (queue->carry_at)
		return -EBUSY;
	TQI_SET(tx, queue->flags, queue->flags & ~TQI_QUEUE_SERVED);
	tqi_queue_pass_on(tx, queue, had_room);
	return tqi_server_carry_begin(tx, q, 0, 0);
}

/* Carrying. */

void tqi_server_move(struct tqi_tx *tx, uint32_t s, uint32_t to)
{
	struct tqi_server *server = tqi_server_at(tx, s);
	uint32_t from = server->pool;
	struct tqi_pool *old = tqi_pool_at(tx, from), *new = tqi_pool_at(tx, to);
	const struct tqi_heap_entry first_old = tqi_pool_first(old);
	const struct tqi_heap_entry first_new = tqi_pool_first(new);

	if (!server->leaving) {
		tqi_heap_remove(tx, &old->load, TQI_FAMILY_LOAD, s);
		tqi_heap_push(tx, &new->load, TQI_FAMILY_LOAD, tqi_server_entry(server, s));
	}
	TQI_SET(tx, server->pool, to);
	TQI_ADD(tx, old->servers, -1);
	TQI_ADD(tx, old->used, -(int64_t)server->used);
	TQI_ADD(tx, new->servers, 1);
	TQI_ADD(tx, new->used, server->used);
	tqi_pool_follow(tx, from, first_old);
	tqi_pool_follow(tx, to, first_new);
}

/* False: the change does not concern it. */
static bool carry_one(struct tqi_tx *tx, uint32_t q, const struct tqi_queue *queue, uint32_t s)
{
	const struct tqi_server *server = tqi_server_at(tx, s);

	if (server->queue != q)
		return false;
	if (!queue->carry_to) {
		tqi_server_leave(tx, s);
		return true;
	}
	if (server->pool != queue->carry_from ||
	    !tqi_pool_matches(tqi_pool_at(tx, queue->carry_to), server->name, server->bytes))
		return false;
	tqi_server_move(tx, s, queue->carry_to);
	return true;
}

static void carry_end(struct tqi_tx *tx, uint32_t q, struct tqi_queue *queue)
{
	const uint32_t pools[2] = { queue->carry_from, queue->carry_to };

	TQI_SET(tx, queue->carry_at, 0u);
	TQI_ADD(tx, tqi_root(tx)->carrying.count, -1);
	tqi_queue_set_flip(tx, &tqi_root(tx)->carrying.queues, q);
	for (uint32_t i = 0; i < 2; i++)
		if (pools[i])
			tqi_pool_tidy(tx, pools[i]);
}

static void carry(struct tqi_tx *tx, uint32_t q, struct tqi_queue *queue)
{
	uint32_t count = tx->core->tables[TQI_SERVERS].count, looks = 0, carried = 0;
	uint32_t at = queue->carry_at;

	while (at < count && looks < CARRY_LOOKS && carried < CARRY_SLICE && !tx->corrupt &&
	       !tqi_tx_is_filling(tx)) {
		carried += carry_one(tx, q, queue, at++);
		looks++;
	}
	TQI_SET(tx, queue->carry_at, at);
	if (at >= count)
		carry_end(tx, q, queue);
}

int tqi_server_carry_begin(struct tqi_tx *tx, uint32_t q, uint32_t from, uint32_t to)
{
	struct tqi_queue *queue = tqi_queue_at(tx, q);

	if (to) {
		struct tqi_pool *new = tqi_pool_at(tx, to);
		int r = tqi_heap_reserve(tx, &new->load,
					 new->servers + tqi_pool_at(tx, from)->servers);

		if (r < 0)
			return r;
	}
	TQI_SET(tx, queue->carry_from, from);
	TQI_SET(tx, queue->carry_to, to);
	TQI_SET(tx, queue->carry_at, 1u);
	TQI_ADD(tx, tqi_root(tx)->carrying.count, 1);
	tqi_queue_set_flip(tx, &tqi_root(tx)->carrying.queues, q);
	carry(tx, q, queue);
	return 0;
}

void tqi_server_carry(struct tqi_tx *tx)
{
	uint32_t q = tqi_queue_set_next(&tqi_root(tx)->carrying.queues, 1);

	if (!q) {
		tx->corrupt = true; /* somebody has counted one */
		return;
	}
	struct tqi_queue *queue = tqi_queue_at(tx, q);
	bool had_room = tqi_queue_has_room(tx, queue);

	carry(tx, q, queue);
	tqi_queue_pass_on(tx, queue, had_room);
}
