/* SPDX-License-Identifier: MIT */
/* Unique keys. */
#include "scheduler/graph/key.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/blocked.h"
#include "scheduler/record/name.h"
#include "shm/table.h"

static uint32_t key_of(struct tqi_tx *tx, uint32_t task)
{
	return tqi_key_of(tx, tqi_task_at(tx, task));
}

uint32_t tqi_key_find(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes)
{
	return tqi_name_seek(tx, TQI_KEYS, (struct tqi_name){ name, bytes, queue });
}

static int hold(struct tqi_tx *tx, uint32_t k)
{
	int r = tqi_name_enter(tx, TQI_KEYS, k);

	if (r == 0)
		TQI_SET(tx, tqi_key_at(tx, k)->held, 1);
	return r;
}

static void release(struct tqi_tx *tx, uint32_t k)
{
	tqi_name_leave(tx, TQI_KEYS, k);
	TQI_SET(tx, tqi_key_at(tx, k)->held, 0);
}

/* Its turn has come: the one before it has ended, and left room in the index. */
static void promote(struct tqi_tx *tx, uint32_t task)
{
	uint32_t k = key_of(tx, task);

	if (tqi_task_at(tx, task)->state != TQ_BLOCKED || !k || hold(tx, k) < 0) {
		tx->corrupt = true;
		return;
	}
	tqi_blocked_turn(tx, task);
}

int tqi_key_take(struct tqi_tx *tx, uint32_t task, const struct tq_task_spec *spec, uint32_t leader)
{
	struct tqi_task *t = tqi_task_at(tx, task);
	bool full;
	uint32_t k = tqi_table_take(tx, TQI_KEYS, &full);

	if (!k)
		return full ? TQ_EFULL : -ENOMEM;
	struct tqi_key *key = tqi_key_at(tx, k);
	size_t bytes = strnlen(spec->unique_key, TQ_KEY_MAX);

	TQI_INIT(key->task, task);
	TQI_INIT(key->successor, 0);
	TQI_INIT(key->queue, t->queue);
	TQI_INIT(key->scope, (uint8_t)tqi_key_scope(spec));
	TQI_INIT(key->held, 0);
	TQI_INIT(key->bytes, (uint8_t)bytes);
	memset(key->name, 0, sizeof(key->name));
	memcpy(key->name, spec->unique_key, bytes);
	TQI_SET(tx, tqi_task_extra(tx, t)->key, k);
	if (!leader)
		return hold(tx, k);
	TQI_SET(tx, tqi_key_at(tx, key_of(tx, leader))->successor, task);
	return 0;
}

void tqi_key_started(struct tqi_tx *tx, uint32_t task)
{
	uint32_t k = key_of(tx, task);

	if (k && tqi_key_at(tx, k)->scope == TQ_UNIQUE_QUEUED && tqi_key_at(tx, k)->held)
		release(tx, k);
}

/* The key that has this one's task as its successor; 0 none. */
static uint32_t leader_of(struct tqi_tx *tx, const struct tqi_key *key)
{
	if (key->held || key->scope != TQ_UNIQUE_COALESCE)
		return 0;
	uint32_t k = tqi_key_find(tx, key->queue, key->name, key->bytes);

	return k && tqi_key_at(tx, k)->successor == key->task ? k : 0;
}

uint32_t tqi_key_leader(struct tqi_tx *tx, uint32_t task)
{
	uint32_t own = key_of(tx, task), k = own ? leader_of(tx, tqi_key_at(tx, own)) : 0;

	return k ? tqi_key_at(tx, k)->task : 0;
}

void tqi_key_ended(struct tqi_tx *tx, uint32_t task)
{
	uint32_t k = key_of(tx, task);

	if (!k)
		return;
	struct tqi_key *key = tqi_key_at(tx, k);
	uint32_t successor = key->successor, leader = leader_of(tx, key);

	if (leader) /* it waited for its turn, and has ended before it came */
		TQI_SET(tx, tqi_key_at(tx, leader)->successor, 0u);
	if (!key->held || key->scope == TQ_UNIQUE_KEPT)
		return;
	release(tx, k);
	if (!successor)
		return;
	TQI_SET(tx, key->successor, 0u);
	promote(tx, successor);
}

void tqi_key_forgotten(struct tqi_tx *tx, uint32_t task)
{
	uint32_t k = key_of(tx, task);

	if (!k)
		return;
	if (tqi_key_at(tx, k)->held)
		release(tx, k);
	tqi_table_give(tx, TQI_KEYS, k);
}

int tqi_key_retake(struct tqi_tx *tx, uint32_t task)
{
	uint32_t k = key_of(tx, task);

	if (!k || tqi_key_at(tx, k)->held)
		return 0;
	const struct tqi_key *key = tqi_key_at(tx, k);

	return tqi_key_find(tx, key->queue, key->name, key->bytes) ? -EEXIST : hold(tx, k);
}

int tqi_key_move(struct tqi_tx *tx, const struct tqi_task *task, uint32_t queue)
{
	uint32_t k = tqi_key_of(tx, task);

	if (!k)
		return 0;
	struct tqi_key *key = tqi_key_at(tx, k);
	bool held = key->held;

	if (key->successor || tqi_key_has_leader(tx, task))
		return TQ_ESTATE;
	if (held && tqi_key_find(tx, queue, key->name, key->bytes))
		return -EEXIST;
	if (held)
		release(tx, k);
	TQI_SET(tx, key->queue, (uint16_t)queue);
	return held ? hold(tx, k) : 0;
}
