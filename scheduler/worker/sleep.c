/* SPDX-License-Identifier: MIT */
/* Sleepers. */
#include "scheduler/worker/sleep.h"

#include "scheduler/graph/behalf.h"
#include "scheduler/graph/edge.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/wake/asleep.h"
#include "scheduler/wake/called.h"
#include "scheduler/wake/room.h"
#include "scheduler/wake/wake.h"
#include "scheduler/worker/command.h"
#include "scheduler/worker/keepers.h"
#include "shm/domain.h"
#include "shm/lock.h"

#define BURY_SLICE 2   /* dead sleepers freed in one hold */
#define LOOK_SLICE 256 /* slots looked at for dead owners in one hold: some 20 us */
#define EDGES_SLICE 8  /* of their edges: journal space */

static void count(struct tqi_tx *tx, uint32_t interest, uint32_t subject, uint32_t by)
{
	if (interest == TQI_INTEREST_ROOM)
		TQI_ADD(tx, tqi_root(tx)->room_waiters, by);
	else if (interest == TQI_INTEREST_COMMAND)
		tqi_command_waits_for(tx, subject, by);
	else if (interest == TQI_INTEREST_GROUP)
		tqi_group_waits(tx, subject, by);
}

/* On which list it is, while it sleeps. */
static uint32_t list_of(struct tqi_tx *tx, uint32_t interest, uint32_t subject)
{
	if (interest == TQI_INTEREST_WORK && (tqi_worker_at(tx, subject)->flags & TQI_WORKER_EMPTY))
		return TQI_SLEEPERS_EMPTY;
	return interest;
}

/* A farm stops as a whole, named by its master's process; others each by their own. */
static uint32_t domain_of(struct tqi_tx *tx, const struct tqi_ident *owner,
			  enum tqi_interest interest, uint32_t subject)
{
	if (interest != TQI_INTEREST_WORK && interest != TQI_INTEREST_STOPS &&
	    interest != TQI_INTEREST_MASTER)
		return owner->pid;
	const struct tqi_worker *worker = tqi_worker_at(tx, subject);
	uint32_t master = worker->master;
	bool farms = master && tqi_worker_at(tx, master)->generation == worker->master_generation;

	return farms ? tqi_worker_at(tx, master)->owner.pid : owner->pid;
}

/* It has just been listed. */
static void fall_asleep(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	if (s->interest == TQI_INTEREST_WORK)
		tqi_asleep_enter(tx, s->subject, w);
	else if (s->interest == TQI_INTEREST_ROOM)
		tqi_room_enter(tx, w);
	else if (s->interest == TQI_INTEREST_COMMAND || s->interest == TQI_INTEREST_GROUP)
		tqi_called_enter(tx, w);
}

/* Who ends attempts, or others' processes: its record names its slot. */
static bool is_stopper(const struct tqi_waiter *s)
{
	return s->interest == TQI_INTEREST_STOPS || s->interest == TQI_INTEREST_MASTER;
}

void tqi_sleep_listed(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	count(tx, s->interest, s->subject, 1);
	fall_asleep(tx, w);
	if (is_stopper(s))
		TQI_SET(tx, tqi_worker_at(tx, s->subject)->stopper, w);
}

uint32_t tqi_sleep_enter(struct tqi_tx *tx, const struct tqi_ident *owner,
			 enum tqi_interest interest, uint32_t subject, bool *ret_full)
{
	const struct tqi_waiter_wish wish = {
		.interest = interest,
		.subject = subject,
		.list = list_of(tx, interest, subject),
		.domain = domain_of(tx, owner, interest, subject),
	};
	uint32_t w = tqi_waiter_enter(tx, owner, &wish, ret_full);

	if (!w)
		return 0;
	tqi_sleep_listed(tx, w);
	if (interest == TQI_INTEREST_TASKS)
		tqi_inherit_lend(tx, w, &TQI_WORTH_NOTHING);
	return w;
}

/* What its slot stands for elsewhere; all edges have been dropped before. */
static void withdraw(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	count(tx, s->interest, s->subject, (uint32_t)-1);
	tqi_sleep_unlist(tx, w);
	if (is_stopper(s) && tqi_worker_at(tx, s->subject)->stopper == w)
		TQI_SET(tx, tqi_worker_at(tx, s->subject)->stopper, 0u);
	tqi_behalf_leave(tx, w);
}

void tqi_sleep_leave(struct tqi_tx *tx, uint32_t waiter)
{
	withdraw(tx, waiter);
	tqi_waiter_leave(tx, waiter);
}

/*
 * A keeper that was given a note keeps it until its time has come, whatever wakes it before,
 * and though nothing be under way any more: else each of several submits a few milliseconds
 * apart would wake all keepers, and one that is often woken would never look.
 */
static uint64_t look_again(const struct tqi_tx *tx, const struct tqi_waiter *s, uint64_t look)
{
	bool noted = s->until_ns > tx->now_ns && s->until_ns - tx->now_ns <= TQI_LOOKS_NS;

	return noted && s->until_ns < look ? s->until_ns : look;
}

uint64_t tqi_sleep_again(struct tqi_tx *tx, uint32_t waiter, uint64_t until_ns)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, waiter);

	if (s->state == TQI_WAITER_TRANSIT) {
		tqi_waiter_relink(tx, waiter);
		fall_asleep(tx, waiter);
		if (s->interest == TQI_INTEREST_ROOM && !tqi_room_has_depth(tx, s->subject))
			tqi_wake_room(tx); /* it had no use for what it was popped for */
	}
	uint32_t place = tqi_waiter_keeper(tx, waiter);
	uint64_t look = tqi_keeper_until(tx, place), wall = tqi_keeper_until_wall(tx, place);

	if (place < TQI_KEEPERS)
		look = look_again(tx, s, look);
	uint64_t until = look < until_ns ? look : until_ns;

	if (s->until_ns != until)
		TQI_SET(tx, s->until_ns, until);
	if (s->until_wall_ns != wall)
		TQI_SET(tx, s->until_wall_ns, wall);
	return until;
}

/* False: some of its edges are left for the next hold. */
static bool bury(struct tqi_tx *tx, uint32_t w)
{
	if (!tqi_edge_drop(tx, w, EDGES_SLICE))
		return false;
	withdraw(tx, w);
	tqi_waiter_bury(tx, w);
	return true;
}

static bool is_dead(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);

	return s->state != TQI_WAITER_FREE && tqi_mutex_owner_died(&s->mutex);
}

bool tqi_sleep_bury_older(struct tqi_tx *tx, uint32_t waiter)
{
	for (uint32_t i = 0; i < BURY_SLICE && !tx->corrupt; i++) {
		const struct tqi_waiter *s = tqi_waiter_at(tx, waiter);

		if (!s->older || !is_dead(tx, s->older))
			return false;
		if (!bury(tx, s->older))
			return true;
	}
	return true;
}

bool tqi_sleep_bury(struct tqi_tx *tx)
{
	uint32_t count = tx->core->tables[TQI_WAITERS].count, buried = 0;
	uint32_t at = tqi_root(tx)->waiter_cursor;

	for (uint32_t i = 1; i < count && i <= LOOK_SLICE && buried < BURY_SLICE && !tx->corrupt;
	     i++) {
		uint32_t w = at + 1 < count ? at + 1 : 1;

		if (is_dead(tx, w)) {
			buried++;
			if (!bury(tx, w))
				break; /* the rest of its edges in the next hold */
		}
		at = w;
	}
	if (at != tqi_root(tx)->waiter_cursor)
		TQI_SET(tx, tqi_root(tx)->waiter_cursor, at);
	return buried > 0;
}
