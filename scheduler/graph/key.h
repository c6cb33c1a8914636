/* SPDX-License-Identifier: MIT */
/* Unique keys: who has one, until when, and who waits for it. */
#ifndef TQI_SCHEDULER_GRAPH_KEY_H
#define TQI_SCHEDULER_GRAPH_KEY_H

#include "scheduler/record/extra.h"

/* The key record of a task; 0 none. */
static inline uint32_t tqi_key_of(struct tqi_tx *tx, const struct tqi_task *t)
{
	return t->flags & TQI_TASK_EXTRA ? tqi_task_extra(tx, t)->key : 0;
}

/* What a spec asks for. */
static inline uint32_t tqi_key_scope(const struct tq_task_spec *spec)
{
	return spec->unique_scope ? spec->unique_scope : TQ_UNIQUE_ACTIVE;
}

/* The key record that has this name in this queue; 0 none. */
uint32_t tqi_key_find(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes);

/* A new task gets the key, or (leader) waits for it.  TQ_EFULL; -ENOMEM. */
int tqi_key_take(struct tqi_tx *tx, uint32_t task, const struct tq_task_spec *spec,
		 uint32_t leader);

/* The task begins its first attempt; it has ended for good; its record goes. */
void tqi_key_started(struct tqi_tx *tx, uint32_t task);
void tqi_key_ended(struct tqi_tx *tx, uint32_t task);
void tqi_key_forgotten(struct tqi_tx *tx, uint32_t task);

/* Whether the task is the successor of another one, whose end it waits for (RC-7). */
static inline bool tqi_key_has_leader(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint32_t k = tqi_key_of(tx, task);
	const struct tqi_key *key = k ? tqi_key_at(tx, k) : NULL;

	return key && !key->held && key->scope == TQ_UNIQUE_COALESCE &&
	       !tqi_state_is_final(task->state);
}

/* Whose end the task waits for, as the successor of its key (RC-7); 0 nobody's. */
uint32_t tqi_key_leader(struct tqi_tx *tx, uint32_t task);

/* For a new life.  -EEXIST another task has it; -ENOMEM. */
int tqi_key_retake(struct tqi_tx *tx, uint32_t task);
/* To another queue.  -EEXIST; TQ_ESTATE it waits for another, or another waits for it. */
int tqi_key_move(struct tqi_tx *tx, const struct tqi_task *task, uint32_t queue);

#endif
