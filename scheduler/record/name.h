/* SPDX-License-Identifier: MIT */
/*
 * Names of queues and kinds, and of schedules that have one: each such record that is in use
 * stands once, by its name, in the root's index of its table, and nothing else does.
 */
#ifndef TQI_SCHEDULER_RECORD_NAME_H
#define TQI_SCHEDULER_RECORD_NAME_H

#include <string.h>

#include "scheduler/record/records.h"

/* What a task has that says nothing else: a place is kept for either, whatever is taken. */
#define TQI_QUEUE_DEFAULT "default"
#define TQI_KIND_DEFAULT "exec"

/* 1 to TQ_NAME_MAX of [A-Za-z0-9._-]. */
bool tqi_name_is_valid(const char *name);

/*
 * The index of a table, TQI_QUEUES, TQI_KINDS or TQI_SCHEDULES; where the name of a record of
 * it is.
 */
static inline struct tqi_hash_index *tqi_name_index(const struct tqi_tx *tx, uint32_t table)
{
	struct tqi_root *root = tqi_root(tx);

	return table == TQI_QUEUES  ? &root->queues
	       : table == TQI_KINDS ? &root->kinds
				    : &root->named_schedules;
}
static inline char *tqi_name_at(struct tqi_tx *tx, uint32_t table, uint32_t record)
{
	return table == TQI_QUEUES  ? tqi_queue_at(tx, record)->name
	       : table == TQI_KINDS ? tqi_kind_at(tx, record)->name
				    : tqi_schedule_at(tx, record)->name;
}

/* Hash of a name in any of them. */
uint64_t tqi_name_hash(const struct tqi_tx *tx, const char *name);

/* The record of a name; 0 none. */
uint32_t tqi_name_find(struct tqi_tx *tx, uint32_t table, const char *name);
/*
 * A record for a name that has none, but the last one of its table only for the default.
 * 0 no memory; or *ret_full.
 */
uint32_t tqi_name_take(struct tqi_tx *tx, uint32_t table, const char *name, bool *ret_full);
/*
 * Give a new record its name, of TQ_NAME_MAX bytes at most, and enter it.  -ENOMEM: the
 * transaction must be aborted.
 */
int tqi_name_put(struct tqi_tx *tx, uint32_t table, uint32_t record, const char *name);

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
