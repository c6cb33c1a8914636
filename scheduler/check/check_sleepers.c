/* SPDX-License-Identifier: MIT */
/* Wait slots: the chain, those in transit, their mutexes (WT-1), their edges, the keepers. */
#include "scheduler/check/check_state.h"
#include "shm/domain.h"
#include "shm/lock.h"

/* What a walk along the chain counts. */
struct chain {
	uint32_t listed;
	uint32_t for_work; /* listed */
	uint32_t transit;
	uint32_t coming; /* in transit, for work */
};

/* All slots in use. */
static void check_chain(struct tqi_check *c, struct chain *n)
{
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_WAITERS, tqi_waiter, older, newer),
				       .mark = TQI_SEEN_LINKED, .name = "chain of sleepers",
				       .next = c->tx->core->waiter_oldest };
	const struct tqi_waiter *s;

	while ((s = tqi_check_next(c, &list))) {
		bool listed = s->state == TQI_WAITER_LISTED;
		bool for_work = s->interest == TQI_INTEREST_WORK;

		if (s->state == TQI_WAITER_FREE)
			tqi_check_break(c, &list);
		n->listed += listed;
		n->for_work += listed && for_work;
		n->transit += !listed;
		n->coming += !listed && for_work;
	}
	tqi_check_list_end(c, &list, "newest", c->tx->core->waiter_newest);
}

/* Those in transit, as they were popped; returns the length. */
static uint32_t check_transit(struct tqi_check *c)
{
	struct tqi_check_list list = {
		TQI_CHECK_LIST(TQI_WAITERS, tqi_waiter, list_older, list_newer),
		.name = "sleepers in transit", .next = c->tx->core->waiter_transit.oldest
	};
	const struct tqi_waiter *s;
	uint64_t since = 0;

	while ((s = tqi_check_next(c, &list))) {
		if (s->state != TQI_WAITER_TRANSIT || s->popped_ns < since)
			tqi_check_break(c, &list);
		since = s->popped_ns;
	}
	tqi_check_list_end(c, &list, "newest", c->tx->core->waiter_transit.newest);
	return list.count;
}

/* Listed ones by stop domain; returns the length of one list. */
static uint32_t check_domain(struct tqi_check *c, uint32_t d)
{
	const struct tqi_waiter_list *l = &c->tx->core->waiter_domains[d];
	uint64_t in_use = c->tx->core->waiter_domains_in_use[d / 64] >> d % 64 & 1;
	struct tqi_check_list list = {
		TQI_CHECK_LIST(TQI_WAITERS, tqi_waiter, domain_older, domain_newer),
		.name = "sleepers that stop together, list", .owner = d, .next = l->oldest
	};
	const struct tqi_waiter *s;

	while ((s = tqi_check_next(c, &list)))
		if (s->state != TQI_WAITER_LISTED || tqi_domain_list(s->domain) != d)
			tqi_check_break(c, &list);
	tqi_check_list_end(c, &list, "newest", l->newest);
	tqi_check_equal(c, "stop domains", d, "in use", in_use, l->oldest != 0);
	return list.count;
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
	struct tqi_check_list list = { TQI_CHECK_CHAIN(TQI_EDGES, tqi_edge, next_of_waiter),
				       .mark = TQI_SEEN_WAITER, .name = "edges of sleeper",
				       .owner = w, .next = s->edges };
	const struct tqi_edge *edge;

	while ((edge = tqi_check_next(c, &list))) {
		if (edge->waiter != w || edge->kind || edge->told == TQI_EDGE_REFUSED)
			tqi_check_break(c, &list);
		else if (tqi_check_record_in_use(c, TQI_TASKS, edge->task))
			c->pins[edge->task]++;
		else
			tqi_check_fault(c, "edge %u: task %u", list.at, edge->task);
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
	if (s->interest == TQI_INTEREST_COMMAND &&
	    tqi_check_record_in_use(c, TQI_COMMANDS, s->subject))
		c->answers[s->subject]++;
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
	tqi_check_equal(c, "core", 0, "waiter_for_work", core->waiter_for_work, chain.for_work);
	tqi_check_equal(c, "core", 0, "waiter_coming", core->waiter_coming, chain.coming);
	tqi_check_equal(c, "core", 0, "in transit", check_transit(c), chain.transit);
	tqi_check_equal(c, "core", 0, "stop domains", grouped, chain.listed);
	check_keepers(c, chain.listed);
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++)
		check_waiter(c, w);
}
