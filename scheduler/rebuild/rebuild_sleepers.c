/* SPDX-License-Identifier: MIT */
/* Sleepers with what is theirs, listed anew, and woken. */
#include <string.h>

#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/worker/sleep.h"
#include "shm/lock.h"

static bool keep_edge(struct tqi_check *c, uint32_t e, uint32_t w)
{
	struct tqi_edge *edge = tqi_check_record(c, TQI_EDGES, e);
	struct tqi_task *t = edge ? tqi_check_record(c, TQI_TASKS, edge->task) : NULL;

	if (!edge || edge->waiter != w || edge->kind || (c->marks[TQI_EDGES][e] & TQI_SEEN_WAITER))
		return false;
	c->marks[TQI_EDGES][e] |= TQI_SEEN_WAITER | TQI_SEEN_LINKED;
	if (!t || t->state == TQ_FREE)
		edge->task = 0; /* its task is lost: the edge is dropped below */
	return true;
}

static void attach_edge(struct tqi_check *c, uint32_t e, struct tqi_waiter *s)
{
	struct tqi_edge *edge = tqi_edge_at(c->tx, e);

	tqi_task_at(c->tx, edge->task)->pins++;
	edge->told = edge->told == TQI_EDGE_TOLD;
	s->told += edge->told;
	tqi_rebuild_edge_list(c, e);
}

/* The list of a sleeper's edges as far as it is whole, without those of lost tasks. */
static void mend_edges(struct tqi_check *c, uint32_t w, struct tqi_waiter *s)
{
	uint32_t *link = &s->edges;

	if (s->interest != TQI_INTEREST_GROUP)
		s->told = 0;
	while (*link && keep_edge(c, *link, w)) {
		struct tqi_edge *edge = tqi_edge_at(c->tx, *link);

		if (edge->task) {
			attach_edge(c, *link, s);
			link = &edge->next_of_waiter;
		} else {
			c->marks[TQI_EDGES][*link] &= (uint8_t)~TQI_SEEN_LINKED;
			*link = edge->next_of_waiter;
		}
	}
	*link = 0;
}

/* WO-1: of an attempt that is under way still. */
static void mend_behalf(struct tqi_check *c, uint32_t w, struct tqi_waiter *s)
{
	struct tqi_attempt *attempt = tqi_check_record(c, TQI_ATTEMPTS, s->attempt);

	if (!attempt || !(c->marks[TQI_ATTEMPTS][s->attempt] & TQI_SEEN_LINKED) ||
	    attempt->waits_life != s->attempt_life) {
		s->attempt = 0;
		return;
	}
	s->attempt_next = attempt->waits;
	if (attempt->waits)
		tqi_waiter_at(c->tx, attempt->waits)->attempt_prev = w;
	else
		tqi_worker_at(c->tx, attempt->worker)->waiting++;
	attempt->waits = w;
}

/* Who waits for room in a queue that is none waits for any. */
static void mend_subject(struct tqi_check *c, struct tqi_waiter *s)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, s->subject);

	if (!queue || !queue->name[0])
		s->subject = 0;
}

static bool is_of_worker(const struct tqi_waiter *s)
{
	return s->interest == TQI_INTEREST_WORK || s->interest == TQI_INTEREST_STOPS;
}

/* Who waits for nothing that there is, or for a worker that is none: it is woken, and looks. */
static void mend_interest(struct tqi_check *c, struct tqi_waiter *s)
{
	if (s->interest - 1 >= TQI_WAITER_LISTS - 1 ||
	    (is_of_worker(s) && !tqi_check_record(c, TQI_WORKERS, s->subject)))
		s->interest = TQI_INTEREST_TASKS;
}

/* Last of all; those for work are found only where their worker is alive, and they are. */
static void append(struct tqi_check *c, uint32_t w, struct tqi_waiter *s)
{
	bool of_worker = is_of_worker(s);
	struct tqi_worker *worker = of_worker ? tqi_check_record(c, TQI_WORKERS, s->subject) : NULL;
	bool leaves = worker && s->interest == TQI_INTEREST_WORK &&
		      (worker->flags & TQI_WORKER_EMPTY);

	tqi_rebuild_group_waiter(c, s);
	tqi_rebuild_command_waiter(c, s);
	if (s->interest == TQI_INTEREST_ROOM)
		mend_subject(c, s);
	s->list = leaves ? TQI_SLEEPERS_EMPTY : s->interest % TQI_WAITER_LISTS;
	tqi_waiter_append(c->tx, w);
	if (!of_worker || (worker->state == TQI_WORKER_LIVE && !tqi_mutex_owner_died(&s->mutex)))
		tqi_sleep_listed(c->tx, w);
}

/* All are listed anew, in the order of their slots. */
void tqi_rebuild_sleepers(struct tqi_check *c)
{
	struct tqi_core *core = c->tx->core;

	core->waiter_oldest = core->waiter_newest = 0;
	core->waiter_count = core->waiter_for_work = core->waiter_coming = 0;
	memset(core->waiter_lists, 0, sizeof(core->waiter_lists));
	memset(&core->waiter_transit, 0, sizeof(core->waiter_transit));
	memset(core->waiter_keepers, 0, sizeof(core->waiter_keepers));
	memset(core->waiter_domains, 0, sizeof(core->waiter_domains));
	memset(core->waiter_domains_in_use, 0, sizeof(core->waiter_domains_in_use));
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++) {
		struct tqi_waiter *s = tqi_check_record(c, TQI_WAITERS, w);

		if (!s)
			continue;
		bool owned = tqi_mutex_owner(&s->mutex) || tqi_mutex_owner_died(&s->mutex);

		if (s->state > TQI_WAITER_TRANSIT || !owned || !s->mutex_made)
			s->state = TQI_WAITER_FREE; /* WT-1 */
		if (s->state == TQI_WAITER_FREE)
			continue;
		mend_interest(c, s);
		mend_edges(c, w, s);
		mend_behalf(c, w, s);
		append(c, w, s);
	}
}

void tqi_rebuild_wake(struct tqi_check *c)
{
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++)
		if (tqi_waiter_at(c->tx, w)->state != TQI_WAITER_FREE)
			tqi_waiter_wake_now(c->tx, w);
}
