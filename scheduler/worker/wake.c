/* SPDX-License-Identifier: MIT */
/* Waking. */
#include "scheduler/worker/wake.h"

#include "scheduler/worker/asleep.h"
#include "scheduler/worker/command.h"
#include "scheduler/worker/sleep.h"
#include "scheduler/time/due.h"
#include "scheduler/graph/group.h"
#include "scheduler/order/ready.h"
#include "scheduler/time/schedule.h"
#include "scheduler/limit/server.h"
#include "scheduler/record/sweep_state.h"
#include "scheduler/time/wall.h"
#include "shm/lock.h"

#define POPS_SLICE 16	      /* sleepers popped in one hold: journal space */
/* Lists of workers that sleep for work. */
#define WORKERS (1u << TQI_SLEEPERS_EMPTY | TQI_SLEEPERS_OF(TQI_INTEREST_WORK))
#define LOOK_NS 1000000000ull /* the timekeeper looks once a second while anything is under way */

static bool is_alive(struct tqi_waiter *s)
{
	return !tqi_mutex_owner_died(&s->mutex);
}

static const struct tqi_worker *sleeping_worker(struct tqi_tx *tx, struct tqi_waiter *s)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, s->subject);

	return is_alive(s) && worker->state == TQI_WORKER_LIVE ? worker : NULL;
}

void tqi_wake_for(struct tqi_tx *tx, uint32_t class_)
{
	if (!tx->core->waiter_for_work)
		return;
	const struct tqi_class *class = tqi_class_at(tx, class_);
	uint32_t w = tqi_queue_may_start(tx, tqi_queue_at(tx, class->queue))
			     ? tqi_asleep_for(tx, class)
			     : 0;

	if (w)
		tqi_sleep_pop(tx, w);
}

/* Who may steal is each worker's own to say. */
static uint32_t first_of_all(struct tqi_tx *tx)
{
	struct tqi_sleepers walk;
	uint32_t w;

	tqi_sleepers_begin(tx, &walk, WORKERS);
	while ((w = tqi_sleepers_next(tx, &walk))) {
		const struct tqi_worker *worker = sleeping_worker(tx, tqi_waiter_at(tx, w));

		if (worker && tqi_ready_any(tx, worker))
			break;
	}
	return w;
}

static bool wake_first(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	if (!tx->core->waiter_for_work || !(root->ready | root->assigned))
		return false;
	uint32_t w = root->assigned ? first_of_all(tx) : tqi_asleep_startable(tx);

	if (w)
		tqi_sleep_pop(tx, w);
	return w != 0;
}

/* Nobody, or one for each sort of work: who was popped passes on what else there is. */
bool tqi_wake_any(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);
	bool called = (root->commands_open || root->command_waiters) && tqi_command_wake(tx, 1);
	bool ended = root->group_waiters && tqi_group_wake(tx, 1);
	bool woken = wake_first(tx);

	tx->pass_on = false;
	return woken || called || ended;
}

bool tqi_worker_is_idle(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	const struct tqi_root *root = tqi_root(tx);
	/* What is blocked comes to be startable only by the end of something that runs or can. */
	bool more_to_end = root->running || root->ready;

	if (root->assigned) /* it may come back, or be stolen */
		return false;
	if (root->telling)
		return false;
	/* One may have members that are still shut, or a completion task that is to start. */
	if (root->groups_busy || root->groups_closing)
		return false;
	for (uint32_t i = 0; i < worker->queue_count && i < TQ_WORKER_QUEUES_MAX; i++) {
		const struct tqi_queue *queue = tqi_queue_at(tx, worker->queues[i]);
		bool stuck = tqi_queue_is_stuck(queue);

		for (uint32_t c = queue->classes; c && !tx->corrupt;) {
			const struct tqi_class *class = tqi_class_at(tx, c);

			c = class->next;
			if (!tqi_worker_serves(worker, class))
				continue;
			if (class->depth[TQ_RUNNING])
				return false;
			if (class->depth[TQ_BLOCKED] && more_to_end)
				return false;
			if (!stuck && (class->open.length || class->parked || class->guests_ready ||
				       class->depth[TQ_DELAYED]))
				return false;
		}
	}
	return true;
}

void tqi_wake_empty(struct tqi_tx *tx)
{
	bool shutdown = tqi_root(tx)->flags & TQI_ROOT_SHUTDOWN;
	uint32_t budget = POPS_SLICE; /* each that leaves calls this again */
	struct tqi_sleepers walk;
	uint32_t w;

	if (!tqi_root(tx)->empty_workers && !shutdown)
		return;
	tqi_sleepers_begin(tx, &walk, shutdown ? WORKERS : 1u << TQI_SLEEPERS_EMPTY);
	while (budget && (w = tqi_sleepers_next(tx, &walk))) {
		const struct tqi_worker *worker = sleeping_worker(tx, tqi_waiter_at(tx, w));

		if (!worker || !tqi_worker_is_idle(tx, worker))
			continue;
		tqi_sleep_pop(tx, w);
		budget = tqi_tx_is_filling(tx) ? 0 : budget - 1;
	}
}

/* A submitter whose queue is full has no use for room elsewhere. */
static bool has_depth(struct tqi_tx *tx, uint32_t q)
{
	return !q || tqi_queue_at(tx, q)->waiting < tqi_queue_at(tx, q)->depth_max;
}

void tqi_wake_room(struct tqi_tx *tx)
{
	uint32_t steps = 0;

	if (!tqi_root(tx)->room_waiters)
		return;
	for (uint32_t w = tx->core->waiter_lists[TQI_INTEREST_ROOM].oldest;
	     w && tqi_table_walks(tx, TQI_WAITERS, &steps);) {
		struct tqi_waiter *s = tqi_waiter_at(tx, w);

		if (is_alive(s) && has_depth(tx, s->subject)) {
			tqi_sleep_pop(tx, w);
			return;
		}
		w = s->list_newer;
	}
}

void tqi_wake_master(struct tqi_tx *tx, uint32_t master)
{
	struct tqi_sleepers walk;
	uint32_t w;

	if (!master)
		return;
	tqi_sleepers_begin(tx, &walk, TQI_SLEEPERS_OF(TQI_INTEREST_MASTER));
	while ((w = tqi_sleepers_next(tx, &walk)))
		if (tqi_waiter_at(tx, w)->subject == master)
			tqi_tx_wake(tx, w);
}

void tqi_wake_worker(struct tqi_tx *tx, uint32_t worker)
{
	uint32_t w = tqi_worker_at(tx, worker)->asleep;

	if (w)
		tqi_tx_wake(tx, w);
}

void tqi_wake_stoppers(struct tqi_tx *tx, uint32_t worker)
{
	uint32_t w = tqi_worker_at(tx, worker)->stopper;

	if (w)
		tqi_tx_wake(tx, w);
	tqi_wake_master(tx, tqi_worker_at(tx, worker)->master);
}

bool tqi_wake_all(struct tqi_tx *tx)
{
	for (uint32_t i = 0;
	     i < POPS_SLICE && tx->core->waiter_newest && !tqi_tx_is_filling(tx) && !tx->corrupt;
	     i++)
		tqi_sleep_pop(tx, tx->core->waiter_newest);
	return tx->core->waiter_newest != 0;
}

uint64_t tqi_keeper_until(struct tqi_tx *tx, uint32_t place)
{
	const struct tqi_root *root = tqi_root(tx);
	uint64_t until = UINT64_MAX, due = tqi_due_next(tx), next = tqi_schedule_next(root);

	if (next < due)
		due = next;
	if (place >= TQI_KEEPERS)
		return UINT64_MAX;
	/* Chains of dependants: each slice may make work for the next one. */
	if (root->telling && tx->now_ns < due)
		due = tx->now_ns;
	if (root->ready || root->assigned || root->running || root->dying_workers || root->untidy ||
	    root->anew || root->commands_open || root->command_waiters || root->group_waiters ||
	    root->groups_owned.first || tqi_sweep_needs_looks(tx))
		until = tx->now_ns + (place + 1) * LOOK_NS;
	/* Deputies come a little later, in case the timekeeper cannot. */
	if (due != UINT64_MAX && due + place * LOOK_NS < until)
		until = due + place * LOOK_NS;
	return until;
}

uint64_t tqi_keeper_until_wall(struct tqi_tx *tx, uint32_t place)
{
	uint64_t wall = tqi_wall_next(tx), next = tqi_schedule_next_by_wall(tqi_root(tx));

	if (next < wall)
		wall = next;
	return place >= TQI_KEEPERS || wall == UINT64_MAX ? UINT64_MAX : wall + place * LOOK_NS;
}

static void note_wall(struct tqi_tx *tx, uint32_t w, uint32_t place)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);
	uint64_t wall = tqi_keeper_until_wall(tx, place);

	if (wall >= s->until_wall_ns)
		return;
	TQI_SET(tx, s->until_wall_ns, wall);
	tqi_tx_wake(tx, w);
}

void tqi_wake_keepers(struct tqi_tx *tx)
{
	if (tx->pass_on)
		tqi_wake_any(tx);
	uint32_t w = tx->core->waiter_oldest;

	for (uint32_t place = 0; place < TQI_KEEPERS && w && !tx->corrupt; place++) {
		struct tqi_waiter *s = tqi_waiter_at(tx, w);
		uint64_t until = tqi_keeper_until(tx, place);

		if (until < s->until_ns && !TQI_PLANTED(no_note)) {
			TQI_SET(tx, s->until_ns, until);
			tqi_tx_wake(tx, w);
		}
		if (__builtin_expect(tqi_wall_is_needed(tqi_root(tx)), 0))
			note_wall(tx, w, place);
		w = s->newer;
	}
}
