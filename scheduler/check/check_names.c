/* SPDX-License-Identifier: MIT */
/* Names of queues, kinds and schedules: each is in its index once, and nothing else is. */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/order/kind.h"
#include "scheduler/record/name.h"

/* A schedule need not have one. */
static bool may_be_nameless(uint32_t table)
{
	return table == TQI_SCHEDULES;
}

/* Each record in use is what its name leads to; a free one leads nobody astray (UN-4). */
static void check_names(struct tqi_check *c, const struct tqi_check_index *i, const char *record)
{
	bool asks = tqi_check_index(c, i);

	for (uint32_t n = 1; n < c->count[i->table]; n++) {
		const char *name = tqi_check_record_in_use(c, i->table, n)
					   ? tqi_name_at(c->tx, i->table, n)
					   : NULL;

		if (!name && i->table != TQI_SCHEDULES && tqi_check_record(c, i->table, n) &&
		    tqi_name_at(c->tx, i->table, n)[0])
			tqi_check_fault(c, "%s %u: free, with a name", record, n);
		const bool listed = c->marks[i->table][n] & TQI_SEEN_LINKED;

		if (!name || (!name[0] && !listed && may_be_nameless(i->table)))
			continue;
		if (!name[0] || !memchr(name, '\0', TQ_NAME_MAX + 1))
			tqi_check_fault(c, "%s %u: no name", record, n);
		else if (!listed)
			tqi_check_fault(c, "%s %u: not in the index", record, n);
		else if (asks && tqi_name_find(c->tx, i->table, name) != n)
			tqi_check_fault(c, "%s %u: another one has its name", record, n);
	}
}

void tqi_check_names(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	const struct tqi_check_index queues = { &root->named.queues, TQI_QUEUES, "queue index",
						NULL };
	const struct tqi_check_index kinds = { &root->named.kinds, TQI_KINDS, "kind index", NULL };
	const struct tqi_check_index schedules = { &root->named.schedules, TQI_SCHEDULES,
						   "schedule index", NULL };

	check_names(c, &queues, "queue");
	check_names(c, &kinds, "kind");
	check_names(c, &schedules, "schedule");
}

static void check_defaults(struct tqi_check *c, uint32_t k, const struct tqi_kind *kind)
{
	if (kind->defaults.attempts_max > TQ_ATTEMPTS_MAX)
		tqi_check_fault(c, "kind %u: %u attempts", k, kind->defaults.attempts_max);
}

/* UN-1; defaults of kinds, and whether there are any. */
void tqi_check_users(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	uint32_t set = 0;

	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		const struct tqi_queue *queue = tqi_check_record_in_use(c, TQI_QUEUES, q);

		if (queue)
			tqi_check_equal(c, "queue", q, "users", queue->users, c->queue_users[q]);
	}
	for (uint32_t k = 1; k < c->count[TQI_KINDS]; k++) {
		const struct tqi_kind *kind = tqi_check_record_in_use(c, TQI_KINDS, k);

		if (!kind)
			continue;
		tqi_check_equal(c, "kind", k, "users", kind->users, c->kind_users[k]);
		tqi_check_equal(c, "kind", k, "streams", kind->streams, c->kind_streams[k]);
		check_defaults(c, k, kind);
		set += tqi_kind_has_defaults(kind);
	}
	tqi_check_equal(c, "root", 0, "set_kinds", root->set_kinds, set);
	tqi_check_equal(c, "root", 0, "flag of kinds", !!(root->flags & TQI_ROOT_KINDS), set != 0);
}
