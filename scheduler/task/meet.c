/* SPDX-License-Identifier: MIT */
/* Unique keys as a submit meets them. */
#include "scheduler/task/meet.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/key.h"
#include "scheduler/record/task_record.h"
#include "scheduler/task/task.h"

#define OVER_MAX 2 /* who has the key, and who then gets it, may both be over */

static bool is_over(struct tqi_tx *tx, uint32_t task)
{
	const struct tqi_task *t = tqi_task_at(tx, task);

	return !tqi_state_is_final(t->state) && t->state != TQ_RUNNING && tqi_task_is_over(tx, t);
}

/* Who has the key, once those are ended that are over; 0 nobody. */
static uint32_t holder(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes)
{
	uint32_t k = tqi_key_find(tx, queue, name, bytes);

	for (uint32_t i = 0; k && i < OVER_MAX && is_over(tx, tqi_key_at(tx, k)->task); i++) {
		tqi_task_end_over(tx, tqi_key_at(tx, k)->task);
		k = tqi_key_find(tx, queue, name, bytes);
	}
	return k;
}

static bool may_coalesce(const struct tqi_key *key, const struct tq_task_spec *spec)
{
	return key->scope == TQ_UNIQUE_COALESCE && tqi_key_scope(spec) == TQ_UNIQUE_COALESCE;
}

bool tqi_key_makes_task(struct tqi_tx *tx, const struct tq_task_spec *spec, uint32_t queue,
			uint32_t kind)
{
	uint32_t k = tqi_key_find(tx, queue, spec->unique_key, (uint32_t)strlen(spec->unique_key));

	if (!k || is_over(tx, tqi_key_at(tx, k)->task))
		return true;
	const struct tqi_key *key = tqi_key_at(tx, k);
	const struct tqi_task *t = tqi_task_at(tx, key->task);

	return may_coalesce(key, spec) && t->kind == kind && t->state == TQ_RUNNING &&
	       (!key->successor || is_over(tx, key->successor));
}

/* Both want the newest payload to run: it goes to the one that waits, if there is one. */
static int coalesce(struct tqi_tx *tx, struct tqi_key *key, uint32_t kind, struct tqi_meeting *m)
{
	if (tqi_task_at(tx, key->task)->kind != kind)
		return -EEXIST; /* its handler would not understand the payload */
	if (key->successor && is_over(tx, key->successor))
		tqi_task_end_over(tx, key->successor);
	if (!key->successor && tqi_task_at(tx, key->task)->state == TQ_RUNNING) {
		m->leader = key->task;
		return 0;
	}
	m->twin = key->successor ? key->successor : key->task;
	m->replace = true;
	return 0;
}

int tqi_key_meet(struct tqi_tx *tx, const struct tq_task_spec *spec, uint32_t queue, uint32_t kind,
		 struct tqi_meeting *m)
{
	uint32_t k = holder(tx, queue, spec->unique_key, (uint32_t)strlen(spec->unique_key));

	*m = (struct tqi_meeting){ 0 };
	if (!k)
		return 0;
	struct tqi_key *key = tqi_key_at(tx, k);

	if (may_coalesce(key, spec))
		return coalesce(tx, key, kind, m);
	m->twin = key->task;
	return 0;
}
