/* SPDX-License-Identifier: MIT */
/* Unique keys: each belongs to its task, and the index has those that are held (RC-7). */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/record/name.h"

const char *tqi_check_key_fault(uint32_t task, const struct tqi_task *t, const struct tqi_key *key)
{
	if (!key || key->task != task)
		return "is another's";
	if (key->queue != t->queue || key->scope < TQ_UNIQUE_QUEUED ||
	    key->scope > TQ_UNIQUE_COALESCE || key->held > 1)
		return "makes no sense";
	if (key->bytes == 0 || key->bytes > TQ_KEY_MAX ||
	    strnlen(key->name, TQ_KEY_MAX + 1) != key->bytes)
		return "has no name";
	return NULL;
}

bool tqi_check_may_hold(const struct tqi_task *t, uint32_t scope)
{
	bool final = tqi_state_is_final(t->state);

	switch (scope) {
	case TQ_UNIQUE_QUEUED:
		return !final && t->state != TQ_RUNNING;
	case TQ_UNIQUE_ACTIVE:
	case TQ_UNIQUE_COALESCE:
		return !final;
	default:
		return true;
	}
}

bool tqi_check_has_leader(const struct tqi_task *t, const struct tqi_key *key)
{
	return key && !key->held && key->scope == TQ_UNIQUE_COALESCE &&
	       !tqi_state_is_final(t->state);
}

/* Only these may be free that could be held: those that started before, and successors. */
static void check_held(struct tqi_check *c, uint32_t k, const struct tqi_key *key,
		       const struct tqi_task *t)
{
	bool may = tqi_check_may_hold(t, key->scope);
	bool must = may && key->scope != TQ_UNIQUE_QUEUED && !tqi_check_has_leader(t, key);

	if ((key->held && !may) || (!key->held && must))
		tqi_check_fault(c, "key %u: %s, task %u in state %u, scope %u", k,
				key->held ? "held" : "not held", key->task, t->state, key->scope);
}

/* RC-11 */
static void check_blocked(struct tqi_check *c, uint32_t index, const struct tqi_task *t,
			  const struct tqi_key *key)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);
	bool unmet = extra && extra->unmet, blocked = t->state == TQ_BLOCKED;

	if (blocked != (unmet || tqi_check_has_leader(t, key)))
		tqi_check_fault(c, "task %u: %s", index,
				blocked ? "blocked by nothing" : "not blocked, but must wait");
}

void tqi_check_task_key(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);
	uint32_t k = extra ? extra->key : 0;
	const struct tqi_key *key = tqi_check_record_in_use(c, TQI_KEYS, k);
	const char *fault = k ? tqi_check_key_fault(index, t, key) : NULL;

	if (fault) {
		tqi_check_fault(c, "task %u: key %u %s", index, k, fault);
		return;
	}
	check_blocked(c, index, t, key);
	if (!k)
		return;
	c->marks[TQI_KEYS][k] |= TQI_SEEN_LINKED;
	check_held(c, k, key, t);
}

/* Whether an earlier key of the same bucket has its name. */
static bool has_twin(struct tqi_check *c, uint32_t first, uint32_t k)
{
	const struct tqi_key *key = tqi_key_at(c->tx, k);

	while (first != k) {
		const struct tqi_key *other = tqi_key_at(c->tx, first);

		if (other->queue == key->queue && strcmp(other->name, key->name) == 0)
			return true;
		first = other->node.next;
	}
	return false;
}

/* One entry of a chain; false: what follows cannot be read. */
static bool check_entry(struct tqi_check *c, uint32_t bucket, uint32_t first, uint32_t k)
{
	const struct tqi_hash_index *index = &tqi_root(c->tx)->named.keys;
	const struct tqi_key *key = tqi_check_record_in_use(c, TQI_KEYS, k);
	uint32_t seen = key ? c->marks[TQI_KEYS][k] : 0;

	if (!(seen & TQI_SEEN_LINKED) || (seen & TQI_SEEN_INDEXED)) {
		tqi_check_fault(c, "key index: bucket %u broken at %u", bucket, k);
		return false;
	}
	c->marks[TQI_KEYS][k] |= TQI_SEEN_INDEXED;
	if (!key->held)
		tqi_check_fault(c, "key %u: in the index, but not held", k);
	const struct tqi_name name = tqi_name_of(c->tx, TQI_KEYS, k);

	if (key->node.hash != tqi_name_hash(c->tx, &name) ||
	    tqi_hash_bucket(index, key->node.hash) != bucket)
		tqi_check_fault(c, "key %u: in bucket %u, where it does not belong", k, bucket);
	if (has_twin(c, first, k))
		tqi_check_fault(c, "key %u: two tasks hold it", k);
	return true;
}

static void check_buckets(struct tqi_check *c)
{
	const struct tqi_hash_index *index = &tqi_root(c->tx)->named.keys;
	uint32_t count = 0;

	for (uint32_t b = 0; b < index->buckets; b++) {
		uint32_t first = tqi_hash_head(c->tx, index, b), k = first;

		while (k && check_entry(c, b, first, k)) {
			count++;
			k = tqi_key_at(c->tx, k)->node.next;
		}
	}
	tqi_check_equal(c, "key index", 0, "count", index->count, count);
}

/* Who waits for the task of this key. */
static void check_successor(struct tqi_check *c, uint32_t k, const struct tqi_key *key)
{
	const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, key->successor);
	const struct tqi_extra *extra = t ? tqi_check_extra(c, t) : NULL;
	const struct tqi_key *other = extra ? tqi_check_record_in_use(c, TQI_KEYS, extra->key)
					    : NULL;

	if (!other || t->state != TQ_BLOCKED || !key->held || other->held ||
	    key->scope != TQ_UNIQUE_COALESCE || other->scope != TQ_UNIQUE_COALESCE ||
	    other->queue != key->queue || strncmp(other->name, key->name, TQ_KEY_MAX) != 0)
		tqi_check_fault(c, "key %u: task %u is not its successor", k, key->successor);
	else
		c->marks[TQI_KEYS][extra->key] |= TQI_SEEN_WAITER;
}

void tqi_check_keys(struct tqi_check *c)
{
	if (tqi_check_heads(c, &tqi_root(c->tx)->named.keys, "key index"))
		check_buckets(c);
	for (uint32_t k = 1; k < c->count[TQI_KEYS]; k++) {
		const struct tqi_key *key = tqi_check_record_in_use(c, TQI_KEYS, k);

		if (key && key->successor)
			check_successor(c, k, key);
	}
	for (uint32_t k = 1; k < c->count[TQI_KEYS]; k++) {
		const struct tqi_key *key = tqi_check_record_in_use(c, TQI_KEYS, k);
		uint32_t mark = c->marks[TQI_KEYS][k];

		if (!key)
			continue;
		if (!(mark & TQI_SEEN_LINKED)) {
			tqi_check_fault(c, "key %u: of no task", k);
			continue;
		}
		if (key->held && !(mark & TQI_SEEN_INDEXED))
			tqi_check_fault(c, "key %u: held, but not in the index", k);
		if (tqi_check_has_leader(tqi_task_at(c->tx, key->task), key) &&
		    !(mark & TQI_SEEN_WAITER))
			tqi_check_fault(c, "task %u: blocked by nobody", key->task);
	}
}
