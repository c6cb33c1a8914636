/* SPDX-License-Identifier: MIT */
/* Names of queues, kinds and schedules are believed; their indexes are made anew. */
#include <string.h>

#include "scheduler/order/kind.h"
#include "scheduler/order/policy.h"
#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/record/name.h"

#define LOST_BACKOFF_NS 1000000000ull /* 1 s and 5 min: as a new queue has */
#define LOST_BACKOFF_CAP_NS 300000000000ull

int tqi_rebuild_name(struct tqi_check *c, uint32_t table, uint32_t record,
		     const struct tqi_rebuild_lost *how)
{
	const struct tqi_name own = tqi_name_of(c->tx, table, record);

	if (how->lost || tqi_name_find_any(c->tx, table, &own)) {
		int n = __builtin_snprintf(how->name, TQ_NAME_MAX, "%s-%u", how->prefix, record);

		if (how->bytes)
			*how->bytes = (uint8_t)n;
	}
	return tqi_name_enter(c->tx, table, record);
}

/* One that has none, and that nothing is of, is free (UN-4). */
static int name_again(struct tqi_check *c, uint32_t table, uint32_t record, const char *prefix)
{
	char *name = tqi_name_at(c->tx, table, record);

	if (!name[0] && !(c->marks[table][record] & TQI_SEEN_LINKED))
		return 0;
	c->marks[table][record] |= TQI_SEEN_LINKED;
	const struct tqi_rebuild_lost how = { prefix, name, NULL,
					      !name[0] || !memchr(name, '\0', TQ_NAME_MAX + 1) };

	return tqi_rebuild_name(c, table, record, &how);
}

/* A queue whose record was lost begins anew. */
static void mend_queue(struct tqi_queue *queue)
{
	if (queue->attempts_max)
		return;
	tqi_policy_init(queue);
	queue->attempts_max = 1;
	queue->depth_max = queue->timeout_ns = UINT64_MAX;
	queue->backoff_ns = LOST_BACKOFF_NS;
	queue->backoff_cap_ns = LOST_BACKOFF_CAP_NS;
}

/* A schedule whose name is none, or another's, goes on without one. */
static int name_schedule_again(struct tqi_check *c, uint32_t index)
{
	char *name = tqi_name_at(c->tx, TQI_SCHEDULES, index);
	bool sound = memchr(name, '\0', TQ_NAME_MAX + 1) && tqi_name_is_valid(name) &&
		     !tqi_name_find(c->tx, TQI_SCHEDULES, name);

	if (sound)
		return tqi_name_enter(c->tx, TQI_SCHEDULES, index);
	name[0] = '\0';
	return 0;
}

/* Its defaults are believed, as far as tasks may have them. */
static void mend_kind(struct tqi_check *c, uint32_t k)
{
	struct tqi_root *root = tqi_root(c->tx);
	struct tqi_kind *kind = tqi_kind_at(c->tx, k);

	if (kind->defaults.attempts_max > TQ_ATTEMPTS_MAX)
		kind->defaults.attempts_max = TQ_ATTEMPTS_MAX;
	if (!(c->marks[TQI_KINDS][k] & TQI_SEEN_LINKED) || !tqi_kind_has_defaults(kind))
		return;
	root->set_kinds++;
	root->flags |= TQI_ROOT_KINDS;
}

int tqi_rebuild_names(struct tqi_check *c)
{
	int r = 0;

	for (uint32_t q = 1; q < c->count[TQI_QUEUES] && r == 0; q++) {
		struct tqi_queue *queue = tqi_queue_at(c->tx, q);

		mend_queue(queue);
		if (queue->flags)
			tqi_rebuild_of(c, q, 0);
		r = name_again(c, TQI_QUEUES, q, "lost-queue");
	}
	tqi_root(c->tx)->set_kinds = 0;
	tqi_root(c->tx)->flags &= ~TQI_ROOT_KINDS;
	for (uint32_t k = 1; k < c->count[TQI_KINDS] && r == 0; k++) {
		r = name_again(c, TQI_KINDS, k, "lost-kind");
		mend_kind(c, k);
	}
	for (uint32_t s = 1; s < c->count[TQI_SCHEDULES] && r == 0; s++)
		if (c->marks[TQI_SCHEDULES][s] & TQI_SEEN_LINKED) /* it stays */
			r = name_schedule_again(c, s);
	return r;
}
