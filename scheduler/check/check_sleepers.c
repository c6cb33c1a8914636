/* SPDX-License-Identifier: MIT */
/* Wait slots: the chain, those in transit, their mutexes (WT-1), their edges. */
#include "scheduler/check/check_state.h"
#include "shm/lock.h"

/* One list of wait slots, both ways; returns its length. */
static uint32_t check_list(struct tqi_check *c, const char *name, uint32_t first, uint32_t state,
			   uint32_t *ret_last, uint32_t *ret_for_work)
{
	uint32_t w = first, older = 0, n = 0;

	while (w) {
		const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, w);

		if (!s || s->state != state || s->older != older ||
		    (c->marks[TQI_WAITERS][w] & TQI_SEEN_LINKED)) {
			tqi_check_fault(c, "%s of sleepers: broken at %u", name, w);
			break;
		}
		c->marks[TQI_WAITERS][w] |= TQI_SEEN_LINKED;
		*ret_for_work += s->interest == TQI_INTEREST_WORK;
		older = w;
		w = s->newer;
		n++;
	}
	*ret_last = older;
	return n;
}

/* The edges of a sleeper; each counts for its task. */
static void check_edges(struct tqi_check *c, uint32_t w, const struct tqi_waiter *s)
{
	for (uint32_t e = s->edges; e;) {
		const struct tqi_edge *edge = tqi_check_record_in_use(c, TQI_EDGES, e);

		if (!edge || edge->waiter != w || edge->kind || edge->told == TQI_EDGE_REFUSED ||
		    (c->marks[TQI_EDGES][e] & TQI_SEEN_WAITER)) {
			tqi_check_fault(c, "sleeper %u: list of edges broken at %u", w, e);
			return;
		}
		c->marks[TQI_EDGES][e] |= TQI_SEEN_WAITER;
		if (tqi_check_record_in_use(c, TQI_TASKS, edge->task))
			c->pins[edge->task]++;
		else
			tqi_check_fault(c, "edge %u: task %u", e, edge->task);
		e = edge->next_of_waiter;
	}
}

static void check_waiter(struct tqi_check *c, uint32_t w)
{
	const struct tqi_waiter *s = tqi_check_record(c, TQI_WAITERS, w);
	uint32_t mark = c->marks[TQI_WAITERS][w];

	if (!s)
		return;
	if (!!(mark & TQI_SEEN_FREE) != (s->state == TQI_WAITER_FREE) ||
	    s->state > TQI_WAITER_TRANSIT) {
		tqi_check_fault(c, "sleeper %u: state %u, %s the free list", w, s->state,
				mark & TQI_SEEN_FREE ? "on" : "not on");
		return;
	}
	if (mark & TQI_SEEN_FREE)
		return;
	if (!(mark & TQI_SEEN_LINKED))
		tqi_check_fault(c, "sleeper %u: on no list", w);
	if (tqi_mutex_owner(&s->mutex) == 0 && !tqi_mutex_owner_died(&s->mutex))
		tqi_check_fault(c, "sleeper %u: in use, but its mutex is free", w); /* WT-1 */
	c->room_waiters += s->interest == TQI_INTEREST_ROOM;
	c->command_waiters += s->interest == TQI_INTEREST_COMMAND;
	c->group_waiters += s->interest == TQI_INTEREST_GROUP;
	if (s->interest == TQI_INTEREST_GROUP) {
		if (tqi_check_record_in_use(c, TQI_GROUPS, s->subject))
			c->groups[s->subject].waiters++;
		else
			tqi_check_fault(c, "sleeper %u: waits for group %u", w, s->subject);
	}
	check_edges(c, w, s);
}

void tqi_check_sleepers(struct tqi_check *c)
{
	const struct tqi_core *core = c->tx->core;
	uint32_t last, for_work = 0, ignored = 0;
	uint32_t listed =
		check_list(c, "chain", core->waiter_oldest, TQI_WAITER_LISTED, &last, &for_work);

	tqi_check_equal(c, "core", 0, "waiter_count", core->waiter_count, listed);
	tqi_check_equal(c, "core", 0, "waiter_newest", core->waiter_newest, last);
	tqi_check_equal(c, "core", 0, "waiter_for_work", core->waiter_for_work, for_work);
	check_list(c, "transit", core->waiter_transit, TQI_WAITER_TRANSIT, &last, &ignored);
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++)
		check_waiter(c, w);
}
