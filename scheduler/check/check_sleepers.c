/* SPDX-License-Identifier: MIT */
/* Wait slots: the chain, those in transit, their mutexes (WT-1), their edges, the keepers. */
#include "scheduler/check/check_state.h"
#include "shm/domain.h"
#include "shm/lock.h"

/* What a walk along the chain counts. */
struct chain {
	uint32_t last;
	uint32_t listed;
	uint32_t for_work; /* listed */
	uint32_t transit;
	uint32_t coming; /* in transit, for work */
};

/* All slots in use, both ways. */
static void check_chain(struct tqi_check *c, struct chain *n)
{
	for (uint32_t w = c->tx->core->waiter_oldest; w;) {
		const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, w);

		if (!s || s->state == TQI_WAITER_FREE || s->older != n->last ||
		    (c->marks[TQI_WAITERS][w] & TQI_SEEN_LINKED)) {
			tqi_check_fault(c, "chain of sleepers: broken at %u", w);
			break;
		}
		bool listed = s->state == TQI_WAITER_LISTED;
		bool for_work = s->interest == TQI_INTEREST_WORK;

		c->marks[TQI_WAITERS][w] |= TQI_SEEN_LINKED;
		n->listed += listed;
		n->for_work += listed && for_work;
		n->transit += !listed;
		n->coming += !listed && for_work;
		n->last = w;
		w = s->newer;
	}
}

/* Those in transit, as they were popped; returns the length. */
static uint32_t check_transit(struct tqi_check *c)
{
	const struct tqi_waiter_list *list = &c->tx->core->waiter_transit;
	uint32_t older = 0, n = 0;
	uint64_t since = 0;

	for (uint32_t w = list->oldest; w && n <= c->count[TQI_WAITERS]; n++) {
		const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, w);

		if (!s || s->state != TQI_WAITER_TRANSIT || s->list_older != older ||
		    s->popped_ns < since) {
			tqi_check_fault(c, "sleepers in transit: broken at %u", w);
			return n;
		}
		since = s->popped_ns;
		older = w;
		w = s->list_newer;
	}
	tqi_check_equal(c, "core", 0, "newest in transit", list->newest, older);
	return n;
}

/* Listed ones by stop domain; returns the length of one list. */
static uint32_t check_domain(struct tqi_check *c, uint32_t list)
{
	const struct tqi_waiter_list *l = &c->tx->core->waiter_domains[list];
	uint64_t in_use = c->tx->core->waiter_domains_in_use[list / 64] >> list % 64 & 1;
	uint32_t older = 0, n = 0;

	for (uint32_t w = l->oldest; w && n <= c->count[TQI_WAITERS]; n++) {
		const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, w);

		if (!s || s->state != TQI_WAITER_LISTED || tqi_domain_list(s->domain) != list ||
		    s->domain_older != older) {
			tqi_check_fault(c, "sleepers that stop together: broken at %u", w);
			return n;
		}
		older = w;
		w = s->domain_newer;
	}
	tqi_check_equal(c, "stop domains", list, "newest", l->newest, older);
	tqi_check_equal(c, "stop domains", list, "in use", in_use, l->oldest != 0);
	return n;
}

/* WT-6: as many as there can be, each listed, none twice. */
static void check_keepers(struct tqi_check *c, uint32_t listed)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < TQI_KEEPERS; i++) {
		uint32_t w = c->tx->core->waiter_keepers[i];
		const struct tqi_waiter *s = w ? tqi_check_record_in_use(c, TQI_WAITERS, w) : NULL;

		n += w != 0;
		if (w && (!s || s->state != TQI_WAITER_LISTED || tqi_waiter_keeper(c->tx, w) != i))
			tqi_check_fault(c, "keeper %u: %u", i, w);
	}
	tqi_check_equal(c, "core", 0, "keepers", n, listed < TQI_KEEPERS ? listed : TQI_KEEPERS);
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
	struct chain chain = { 0 };
	uint32_t grouped = 0;

	check_chain(c, &chain);
	for (uint32_t i = 0; i < TQI_DOMAIN_LISTS; i++)
		grouped += check_domain(c, i);
	tqi_check_equal(c, "core", 0, "waiter_count", core->waiter_count, chain.listed);
	tqi_check_equal(c, "core", 0, "waiter_newest", core->waiter_newest, chain.last);
	tqi_check_equal(c, "core", 0, "waiter_for_work", core->waiter_for_work, chain.for_work);
	tqi_check_equal(c, "core", 0, "waiter_coming", core->waiter_coming, chain.coming);
	tqi_check_equal(c, "core", 0, "in transit", check_transit(c), chain.transit);
	tqi_check_equal(c, "core", 0, "stop domains", grouped, chain.listed);
	check_keepers(c, chain.listed);
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++)
		check_waiter(c, w);
}
