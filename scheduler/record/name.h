/* SPDX-License-Identifier: MIT */
/*
 * What is found by a name: queues, kinds, schedules that have one; limits; and of a queue
 * unique keys that are held, tenants, servers and pools.  Each such record stands once, by its
 * name, in the root's index of its table, and nothing else does.
 */
#ifndef TQI_SCHEDULER_RECORD_NAME_H
#define TQI_SCHEDULER_RECORD_NAME_H

#include <string.h>

#include "scheduler/record/records.h"
#include "shm/table.h"

/* What a task has that says nothing else: a place is kept for either, whatever is taken. */
#define TQI_QUEUE_DEFAULT "default"
#define TQI_KIND_DEFAULT "exec"
/* The same, for who compares: they lie in one cache line, as strcmp() likes it. */
extern const char tqi_queue_default[], tqi_kind_default[];

/* 1 to TQ_NAME_MAX of [A-Za-z0-9._-]. */
bool tqi_name_is_valid(const char *name);

/* The index of a table. */
static inline struct tqi_hash_index *tqi_name_index(const struct tqi_tx *tx, uint32_t table)
{
	struct tqi_root *root = tqi_root(tx);

	switch (table) {
	case TQI_QUEUES:
		return &root->named.queues;
	case TQI_KINDS:
		return &root->named.kinds;
	case TQI_SCHEDULES:
		return &root->named.schedules;
	case TQI_LIMITS:
		return &root->named.limits;
	case TQI_TENANTS:
		return &root->named.tenants;
	case TQI_SERVERS:
		return &root->named.servers;
	case TQI_POOLS:
		return &root->named.pools;
	default:
		return &root->named.keys;
	}
}

/* Where the name of a queue, a kind or a schedule is. */
static inline char *tqi_name_at(struct tqi_tx *tx, uint32_t table, uint32_t record)
{
	return table == TQI_QUEUES  ? tqi_queue_at(tx, record)->name
	       : table == TQI_KINDS ? tqi_kind_at(tx, record)->name
				    : tqi_schedule_at(tx, record)->name;
}

/* A name, and in what it is the only one of its sort. */
struct tqi_name {
	const char *text;
	uint32_t bytes;
	uint32_t within; /* a queue's record; of a pool twice that, and 1 for a prefix; 0 all */
};

/* That of a record.  With a table that is a constant nothing is left of the others. */
TQI_TWICE struct tqi_name tqi_name_of(struct tqi_tx *tx, uint32_t table, uint32_t record)
{
	const union {
		const void *p;
		const struct tqi_limit *limit;
		const struct tqi_tenant *tenant;
		const struct tqi_server *server;
		const struct tqi_pool *pool;
		const struct tqi_key *key;
	} r = { tqi_table_at(tx, table, record) };

	switch (table) {
	case TQI_LIMITS:
		return (struct tqi_name){ r.limit->name, r.limit->bytes, 0 };
	case TQI_TENANTS:
		return (struct tqi_name){ r.tenant->name, r.tenant->bytes, r.tenant->queue };
	case TQI_SERVERS:
		return (struct tqi_name){ r.server->name, r.server->bytes, r.server->queue };
	case TQI_POOLS:
		return (struct tqi_name){ r.pool->pattern, r.pool->bytes,
					  (uint32_t)r.pool->queue << 1 | r.pool->is_prefix };
	case TQI_KEYS:
		return (struct tqi_name){ r.key->name, r.key->bytes, r.key->queue };
	default: {
		const char *name = tqi_name_at(tx, table, record);

		return (struct tqi_name){ name, (uint32_t)strnlen(name, TQ_NAME_MAX), 0 };
	}
	}
}

/* Its hash: an odd number, so no two queues give one key. */
#define TQI_WITHIN_MULTIPLIER 0x9e3779b97f4a7c15ull

static inline uint64_t tqi_name_hash(const struct tqi_tx *tx, const struct tqi_name *name)
{
	return tqi_hash_bytes(tqi_root(tx)->seed ^ name->within * TQI_WITHIN_MULTIPLIER, name->text,
			      name->bytes);
}

/* The record of a name; 0 none.  Compiled for each table anew. */
TQI_TWICE uint32_t tqi_name_seek(struct tqi_tx *tx, uint32_t table, struct tqi_name name)
{
	const struct tqi_hash_index *index = tqi_name_index(tx, table);

	if (!index->count)
		return 0;
	uint32_t record = tqi_hash_first(tx, index, table, tqi_name_hash(tx, &name));

	for (; record && !tx->corrupt; record = tqi_hash_next(tx, index, table, record)) {
		const struct tqi_name other = tqi_name_of(tx, table, record);

		if (other.bytes == name.bytes && other.within == name.within &&
		    memcmp(other.text, name.text, name.bytes) == 0)
			return record;
	}
	return 0;
}

/* Any table's; and a record by the name that it has, into its index and out of it. */
uint32_t tqi_name_find_any(struct tqi_tx *tx, uint32_t table, const struct tqi_name *name);
int tqi_name_enter(struct tqi_tx *tx, uint32_t table, uint32_t record);
void tqi_name_leave(struct tqi_tx *tx, uint32_t table, uint32_t record);

/* The record of such a name; 0 none. */
uint32_t tqi_name_find(struct tqi_tx *tx, uint32_t table, const char *name);
/*
 * A record for a name that has none, but the last one of its table only for the default; some
 * before it are for nobody who keeps TQI_SPARES_ALL.  0 no memory; or *ret_full.
 */
uint32_t tqi_name_take(struct tqi_tx *tx, uint32_t table, const char *name, bool *ret_full);
/*
 * Give a new record, which has none, its name, of 1 to TQ_NAME_MAX bytes, and enter it.
 * -ENOMEM: the transaction must be aborted.
 */
int tqi_name_put(struct tqi_tx *tx, uint32_t table, uint32_t record, const char *name);
/* Free a record with its name: whoever remembers where it was finds none there. */
void tqi_name_drop(struct tqi_tx *tx, uint32_t table, uint32_t record);

/*
 * Whether a record still has the name that it had once: what somebody remembers from
 * outside the lock is a hint.
 */
static inline bool tqi_name_is_of(struct tqi_tx *tx, uint32_t table, uint32_t record,
				  const char *name)
{
	return record && record < tx->core->tables[table].count &&
	       strcmp(tqi_name_at(tx, table, record), name) == 0;
}

#endif
