/* SPDX-License-Identifier: MIT */
/* Unique keys: those that make sense stay with their tasks; the index is made anew. */
#include <errno.h>

#include "scheduler/graph/key.h"
#include "scheduler/record/name.h"
#include "scheduler/rebuild/rebuild_state.h"

/* Before memory is known: which record is whose. */
void tqi_rebuild_task_key(struct tqi_check *c, uint32_t index, struct tqi_task *t)
{
	struct tqi_extra *extra = tqi_check_extra(c, t);

	if (!extra || !extra->key)
		return;
	struct tqi_key *key = tqi_check_record(c, TQI_KEYS, extra->key);

	if (tqi_check_key_fault(index, t, key) ||
	    (c->marks[TQI_KEYS][extra->key] & TQI_SEEN_LINKED)) {
		extra->key = 0;
		return;
	}
	c->marks[TQI_KEYS][extra->key] |= TQI_SEEN_LINKED;
}

/* Who has this key's name already; 0 nobody. */
static uint32_t find(struct tqi_check *c, const struct tqi_key *key)
{
	return tqi_key_find(c->tx, key->queue, key->name, key->bytes);
}

static int enter(struct tqi_check *c, uint32_t k, struct tqi_key *key)
{
	int r = tqi_name_enter(c->tx, TQI_KEYS, k);

	if (r == 0) /* else it is tried again: whether a queued one is held is nowhere else */
		key->held = 1;
	return r;
}

static void lose(struct tqi_check *c, uint32_t k, const struct tqi_key *key)
{
	struct tqi_extra *extra = tqi_check_extra(c, tqi_task_at(c->tx, key->task));

	c->marks[TQI_KEYS][k] &= (uint8_t)~TQI_SEEN_LINKED;
	if (extra)
		extra->key = 0;
}

/* Unless something else blocks it, it is ready, or delayed, as it would have been. */
static void unblock(struct tqi_check *c, struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);

	if (extra && extra->unmet)
		return;
	t->state = t->due_ns ? TQ_DELAYED : TQ_READY;
}

/* A key that its task holds, or should; of two of a name, the second one is given up. */
static int hold(struct tqi_check *c, uint32_t k)
{
	struct tqi_key *key = tqi_key_at(c->tx, k);
	const struct tqi_task *t = tqi_task_at(c->tx, key->task);
	bool may = tqi_check_may_hold(t, key->scope);
	bool held = may && (key->held || key->scope != TQ_UNIQUE_QUEUED);

	if (!held)
		key->held = 0;
	else if (find(c, key))
		lose(c, k, key);
	else
		return enter(c, k, key);
	return 0;
}

/* A blocked task waits for who has its key, or takes it itself. */
static int follow(struct tqi_check *c, uint32_t k)
{
	struct tqi_key *key = tqi_key_at(c->tx, k);
	uint32_t found = find(c, key);
	struct tqi_key *leader = found ? tqi_key_at(c->tx, found) : NULL;

	key->held = 0;
	if (key->scope == TQ_UNIQUE_COALESCE && leader && leader->scope == TQ_UNIQUE_COALESCE &&
	    !leader->successor) {
		leader->successor = key->task;
		return 0;
	}
	unblock(c, tqi_task_at(c->tx, key->task));
	if (!leader)
		return enter(c, k, key);
	lose(c, k, key);
	return 0;
}

/* Whether its task says that it waits for who has the key. */
static bool is_led(struct tqi_check *c, uint32_t k)
{
	const struct tqi_key *key = tqi_key_at(c->tx, k);
	const struct tqi_task *t = tqi_task_at(c->tx, key->task);

	return t->state == TQ_BLOCKED && tqi_check_has_leader(t, key);
}

/* Blocked by nothing: nobody would ever start it. */
static void unblock_lost(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		struct tqi_task *t = tqi_task_at(c->tx, i);
		const struct tqi_extra *extra = t->state == TQ_BLOCKED ? tqi_check_extra(c, t)
								       : NULL;
		uint32_t k = extra ? extra->key : 0;

		if (t->state == TQ_BLOCKED && !(k && is_led(c, k)))
			unblock(c, t);
	}
}

int tqi_rebuild_keys(struct tqi_check *c)
{
	uint32_t count = c->count[TQI_KEYS];
	int r = 0;

	for (uint32_t k = 1; k < count && r == 0; k++)
		if ((c->marks[TQI_KEYS][k] & TQI_SEEN_LINKED) && !is_led(c, k))
			r = hold(c, k);
	for (uint32_t k = 1; k < count && r == 0; k++)
		if ((c->marks[TQI_KEYS][k] & TQI_SEEN_LINKED) && is_led(c, k))
			r = follow(c, k);
	unblock_lost(c);
	return r;
}
