/* SPDX-License-Identifier: MIT */
/* Sleepers by what they sleep for: the lists, and workers by queue and kinds (SL-1, SL-2). */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/record/queue_set.h"
#include "scheduler/wake/asleep.h"
#include "shm/lock.h"

static bool is_on_list(const struct tqi_waiter *s, uint32_t list)
{
	bool of_workers = s->interest == TQI_INTEREST_WORK && list == TQI_SLEEPERS_EMPTY;

	return s->state == TQI_WAITER_LISTED && s->list == list &&
	       (s->interest == list || of_workers);
}

/* Oldest first; returns the length. */
static uint32_t check_list(struct tqi_check *c, uint32_t number)
{
	const struct tqi_waiter_list *l = &c->tx->core->waiter_lists[number];
	struct tqi_check_list list = {
		TQI_CHECK_LIST(TQI_WAITERS, tqi_waiter, list_older, list_newer),
		.name = "sleepers of sort", .owner = number, .next = l->oldest
	};
	const struct tqi_waiter *s;
	uint64_t turn = 0;

	while ((s = tqi_check_next(c, &list))) {
		if (!is_on_list(s, number) || s->turn <= turn || s->turn > c->tx->core->waiter_turn)
			tqi_check_break(c, &list);
		turn = s->turn;
	}
	tqi_check_list_end(c, &list, "newest", l->newest);
	return list.count;
}

static struct tqi_worker *worker_asleep(struct tqi_check *c, uint32_t w)
{
	struct tqi_worker *worker = tqi_check_record_in_use(c, TQI_WORKERS, w);

	return worker && worker->asleep ? worker : NULL;
}

/* A rank of a queue, if it is where such a one may be; NULL: it is not. */
static struct tqi_rank *rank_of(struct tqi_check *c, uint32_t ref, uint32_t q,
				const struct tqi_worker *leader)
{
	struct tqi_worker *w = worker_asleep(c, tqi_rank_worker(ref));
	uint32_t place = ref % TQ_WORKER_QUEUES_MAX;

	if (!w || place >= w->queue_count || w->queues[place] != q ||
	    (leader && (memcmp(leader->kinds, w->kinds, sizeof(w->kinds)) != 0 ||
			tqi_asleep_sort(leader) != tqi_asleep_sort(w))))
		return NULL;
	return &w->ranks[place];
}

/* One stack; returns its length, 0 when it is broken. */
static uint32_t check_stack(struct tqi_check *c, uint32_t q, uint32_t leader)
{
	const struct tqi_worker *first = worker_asleep(c, tqi_rank_worker(leader));
	uint32_t above = 0, n = 0;

	for (uint32_t ref = leader; ref;) {
		const struct tqi_rank *rank = rank_of(c, ref, q, first);

		if (!rank || rank->above != above || ++n > c->count[TQI_WORKERS]) {
			tqi_check_fault(c, "queue %u: workers asleep broken at %u", q, ref);
			return 0;
		}
		above = ref;
		ref = rank->below;
	}
	return n;
}

/* The stacks of one queue; returns the ranks in them. */
static uint32_t check_queue(struct tqi_check *c, uint32_t q, const struct tqi_queue *queue)
{
	uint32_t prev = 0, n = 0, stacks = 0;

	for (uint32_t leader = queue->asleep; leader;) {
		const struct tqi_rank *rank = rank_of(c, leader, q, NULL);
		uint32_t length = rank ? check_stack(c, q, leader) : 0;

		if (!length || rank->prev != prev || ++stacks > c->count[TQI_WORKERS]) {
			tqi_check_fault(c, "queue %u: stacks of workers asleep broken at %u", q,
					leader);
			return n;
		}
		n += length;
		prev = leader;
		leader = rank->next;
	}
	return n;
}

/* How many ranks a worker has: of each of its queues one. */
static uint32_t ranks_of(const struct tqi_worker *worker)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < worker->queue_count && i < TQ_WORKER_QUEUES_MAX; i++) {
		uint32_t first = 0;

		while (worker->queues[first] != worker->queues[i])
			first++;
		n += first == i;
	}
	return n;
}

/* SL-1, from the side of the workers; returns their ranks. */
static uint32_t check_workers(struct tqi_check *c)
{
	uint32_t n = 0;

	for (uint32_t w = 1; w < c->count[TQI_WORKERS]; w++) {
		const struct tqi_worker *worker = worker_asleep(c, w);
		const struct tqi_waiter *s =
			worker ? tqi_check_record_in_use(c, TQI_WAITERS, worker->asleep) : NULL;

		if (!worker)
			continue;
		n += ranks_of(worker);
		if (!s || s->state != TQI_WAITER_LISTED || s->interest != TQI_INTEREST_WORK ||
		    s->subject != w)
			tqi_check_fault(c, "worker %u: sleeps as %u", w, worker->asleep);
	}
	return n;
}

/* SL-1, from the side of the slots.  A dead owner's is none to be found. */
static void check_slot(struct tqi_check *c, uint32_t w)
{
	const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, w);

	if (!s || s->state == TQI_WAITER_FREE || tqi_mutex_owner_died(&s->mutex))
		return;
	const struct tqi_worker *worker =
		s->interest == TQI_INTEREST_WORK || s->interest == TQI_INTEREST_STOPS ||
				s->interest == TQI_INTEREST_MASTER
			? tqi_check_record_in_use(c, TQI_WORKERS, s->subject)
			: NULL;

	if (!worker || worker->state != TQI_WORKER_LIVE)
		return;
	if (s->interest != TQI_INTEREST_WORK)
		tqi_check_equal(c, "worker", s->subject, "stopper", worker->stopper, w);
	else if (s->state == TQI_WAITER_LISTED)
		tqi_check_equal(c, "worker", s->subject, "asleep", worker->asleep, w);
}

/* Queues that have any are in the root's set; returns their ranks. */
static uint32_t check_queues(struct tqi_check *c)
{
	const struct tqi_queue_set *queues = &tqi_root(c->tx)->asleep_queues;
	uint32_t n = 0;

	for (uint32_t q = 1; q <= TQI_QUEUES_MAX; q++) {
		const struct tqi_queue *queue = tqi_check_record_in_use(c, TQI_QUEUES, q);
		bool has = queue && queue->asleep;

		if (has != tqi_queue_set_has(queues, q))
			tqi_check_fault(c, "queue %u: %s those with workers asleep", q,
					has ? "not among" : "among");
		n += has ? check_queue(c, q, queue) : 0;
	}
	return n;
}

void tqi_check_asleep(struct tqi_check *c)
{
	uint32_t listed = 0;

	for (uint32_t i = 0; i < TQI_WAITER_LISTS; i++)
		listed += check_list(c, i);
	tqi_check_equal(c, "core", 0, "sleepers on lists", listed, c->tx->core->waiter_count);
	tqi_check_equal(c, "root", 0, "workers asleep", check_queues(c), check_workers(c));
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++)
		check_slot(c, w);
}
