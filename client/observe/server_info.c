/* SPDX-License-Identifier: MIT */
/* Snapshots of servers and their limits. */
#include "client/observe/server_info.h"

#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "scheduler/limit/server.h"

#define HOLDERS_MAX 16 /* servers whose attempts one pass looks for */

/* Those that are looked for. */
struct search {
	struct tqi_holder *holders;
	uint32_t count;
};

static bool note_attempt(void *ctx, const struct tqi_attempt *a, const struct tqi_task *t)
{
	const struct search *s = ctx;

	for (uint32_t i = 0; i < s->count && a->server; i++) {
		struct tqi_holder *h = &s->holders[i];

		if ((h->server ? a->server != h->server : t->queue != h->queue) ||
		    (h->task && a->started_ns >= h->since_ns))
			continue;
		h->task = a->id;
		h->since_ns = a->started_ns;
		h->worker = a->worker;
	}
	return true;
}

void tqi_find_holders(const struct tqi_segment *seg, struct tqi_holder *holders, uint32_t count)
{
	struct search search = { holders, count };

	tqi_peek_running(seg, note_attempt, &search);
}

void tqi_peek_server_of(const struct tqi_segment *seg, const struct tqi_task *t,
			char name[TQ_SERVER_MAX + 1])
{
	struct tqi_server server;
	struct tqi_attempt a;
	uint32_t s = 0;

	name[0] = '\0';
	if (t->flags & TQI_TASK_SERVED)
		s = tqi_tag_index((uint64_t)t->key);
	else if (t->state == TQ_RUNNING && tqi_peek_record(seg, TQI_ATTEMPTS, t->attempt, &a) == 0)
		s = a.server;
	if (!s || tqi_peek_record(seg, TQI_SERVERS, s, &server) < 0 || server.queue != t->queue ||
	    ((t->flags & TQI_TASK_SERVED) && tqi_server_mark(&server, s) != t->key))
		return; /* it is no more */
	memcpy(name, server.name, TQ_SERVER_MAX);
	name[TQ_SERVER_MAX] = '\0';
}

static void print_pattern(const struct tqi_pool *pool, char to[TQ_SERVER_MAX + 1])
{
	uint32_t bytes = pool->bytes < TQ_SERVER_MAX ? pool->bytes : TQ_SERVER_MAX;

	memcpy(to, pool->pattern, bytes);
	if (pool->is_prefix && bytes < TQ_SERVER_MAX)
		to[bytes] = '*';
}

/* Of this queue, "" of any; false: it is free, or another's. */
static bool is_of(struct tq *tq, uint32_t q, const char *queue, char name[TQ_NAME_MAX + 1])
{
	if (!q)
		return false;
	tqi_peek_queue_name(&tq->seg, q, name);
	return !queue || strcmp(name, queue) == 0;
}

static bool read_server(struct tq *tq, const char *queue, uint32_t index, struct tq_server_info *i)
{
	struct tqi_server server;
	struct tqi_pool pool;

	memset(i, 0, sizeof(*i));
	if (tqi_peek_record(&tq->seg, TQI_SERVERS, index, &server) < 0 ||
	    !is_of(tq, server.queue, queue, i->queue))
		return false;
	memcpy(i->name, server.name, TQ_SERVER_MAX);
	i->used = server.used;
	i->flags = server.leaving ? TQ_SERVER_LEAVING : 0;
	i->limit_slots = TQ_OFF;
	if (tqi_peek_record(&tq->seg, TQI_POOLS, server.pool, &pool) < 0)
		return true;
	i->limit_used = pool.used;
	if (pool.size == TQI_POOL_NONE)
		return true;
	i->limit_slots = pool.size;
	i->flags |= pool.used >= pool.size ? TQ_SERVER_FULL : 0;
	print_pattern(&pool, i->limit);
	return true;
}

/* Up to HOLDERS_MAX of them, from *cursor on; the records' numbers go to `holders`. */
static uint32_t read_servers(struct tq *tq, const char *queue, uint64_t *cursor, uint64_t end,
			     struct tq_server_info *infos, struct tqi_holder *holders,
			     uint32_t count)
{
	uint32_t n = 0;

	for (; n < count && n < HOLDERS_MAX && *cursor < end; (*cursor)++) {
		if (!read_server(tq, queue, (uint32_t)*cursor, &infos[n]))
			continue;
		holders[n] = (struct tqi_holder){ .server = (uint32_t)*cursor };
		n++;
	}
	tqi_find_holders(&tq->seg, holders, n);
	return n;
}

/* Records of a table; -EINVAL the caller's structs are of another size. */
static int begin(struct tq *tq, uint32_t table, uint64_t size, uint64_t bytes, uint64_t *cursor,
		 uint64_t *ret_end)
{
	uint32_t count;
	int r = size == bytes ? tqi_peek_count(&tq->seg, table, &count) : -EINVAL;

	if (r < 0)
		return r;
	*ret_end = count;
	if (*cursor == 0)
		*cursor = 1;
	return 0;
}

int tq_server_list(struct tq *tq, const char *queue, uint64_t *cursor, struct tq_server_info *infos,
		   uint32_t count)
{
	if (!tq || !cursor || (count && !infos))
		return -EINVAL;
	struct tqi_holder holders[HOLDERS_MAX];
	uint32_t n = 0, more = 1;
	uint64_t end;
	int r = count ? begin(tq, TQI_SERVERS, infos->size, sizeof(*infos), cursor, &end) : 0;

	if (r < 0)
		return r;
	while (n < count && more) {
		more = read_servers(tq, queue, cursor, end, infos + n, holders, count - n);
		for (uint32_t i = 0; i < more; i++, n++) {
			infos[n].size = sizeof(*infos);
			infos[n].holder = holders[i].task;
			infos[n].since_ns = holders[i].since_ns;
		}
	}
	return (int)n;
}

static bool read_limit(struct tq *tq, const char *queue, uint32_t index,
		       struct tq_server_limit_info *i)
{
	struct tqi_pool pool;

	memset(i, 0, sizeof(*i));
	if (tqi_peek_record(&tq->seg, TQI_POOLS, index, &pool) < 0 || pool.size == TQI_POOL_NONE ||
	    !is_of(tq, pool.queue, queue, i->queue))
		return false;
	i->size = sizeof(*i);
	i->slots = pool.size;
	i->used = pool.used;
	i->servers = pool.servers;
	print_pattern(&pool, i->pattern);
	return true;
}

int tq_server_limit_list(struct tq *tq, const char *queue, uint64_t *cursor,
			 struct tq_server_limit_info *infos, uint32_t count)
{
	if (!tq || !cursor || (count && !infos))
		return -EINVAL;
	uint32_t n = 0;
	uint64_t end;
	int r = count ? begin(tq, TQI_POOLS, infos->size, sizeof(*infos), cursor, &end) : 0;

	if (r < 0)
		return r;
	for (; n < count && *cursor < end; (*cursor)++)
		n += read_limit(tq, queue, (uint32_t)*cursor, &infos[n]);
	return (int)n;
}
