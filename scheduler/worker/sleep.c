/* SPDX-License-Identifier: MIT */
/* Sleepers. */
#include "scheduler/worker/sleep.h"

#include "scheduler/graph/behalf.h"
#include "scheduler/graph/edge.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/worker/wake.h"

#define BURY_SLICE 2   /* dead sleepers freed in one hold */
#define EDGES_SLICE 8  /* of their edges: journal space */

static void count(struct tqi_tx *tx, uint32_t interest, uint32_t subject, uint32_t by)
{
	if (interest == TQI_INTEREST_ROOM)
		TQI_ADD(tx, tqi_root(tx)->room_waiters, by);
	else if (interest == TQI_INTEREST_COMMAND)
		TQI_ADD(tx, tqi_root(tx)->command_waiters, by);
	else if (interest == TQI_INTEREST_GROUP)
		tqi_group_waits(tx, subject, by);
}

uint32_t tqi_sleep_enter(struct tqi_tx *tx, const struct tqi_ident *owner,
			 enum tqi_interest interest, uint32_t subject, bool *ret_full)
{
	uint32_t w = tqi_waiter_enter(tx, owner, interest, subject, ret_full);

	if (w)
		count(tx, interest, subject, 1);
	if (w && interest == TQI_INTEREST_TASKS)
		tqi_inherit_lend(tx, w, &TQI_WORTH_NOTHING);
	return w;
}

void tqi_sleep_leave(struct tqi_tx *tx, uint32_t waiter)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, waiter);

	count(tx, s->interest, s->subject, (uint32_t)-1);
	tqi_behalf_leave(tx, waiter);
	tqi_waiter_leave(tx, waiter);
}

uint64_t tqi_sleep_again(struct tqi_tx *tx, uint32_t waiter, uint64_t until_ns)
{
	tqi_waiter_relink(tx, waiter);
	struct tqi_waiter *s = tqi_waiter_at(tx, waiter);
	uint32_t place = tqi_waiter_keeper(tx, waiter);
	uint64_t look = tqi_keeper_until(tx, place), wall = tqi_keeper_until_wall(tx, place);
	uint64_t until = look < until_ns ? look : until_ns;

	if (s->until_ns != until)
		TQI_SET(tx, s->until_ns, until);
	if (s->until_wall_ns != wall)
		TQI_SET(tx, s->until_wall_ns, wall);
	return until;
}

bool tqi_sleep_pop(struct tqi_tx *tx, uint32_t count,
		   bool (*is_called)(struct tqi_tx *tx, struct tqi_waiter *slot))
{
	bool woken = false;

	for (uint32_t w = tx->core->waiter_newest; w && count && !tx->corrupt;) {
		struct tqi_waiter *s = tqi_waiter_at(tx, w);
		uint32_t older = s->older;

		if (is_called(tx, s)) {
			tqi_waiter_pop(tx, w);
			count--;
			woken = true;
		}
		w = older;
	}
	return woken;
}

bool tqi_sleep_bury(struct tqi_tx *tx)
{
	for (uint32_t i = 0; i < BURY_SLICE && !tx->corrupt; i++) {
		uint32_t w = tqi_waiter_find_dead(tx);

		if (!w)
			return false;
		if (!tqi_edge_drop(tx, w, EDGES_SLICE))
			return true; /* the rest of its edges in the next hold */
		const struct tqi_waiter *s = tqi_waiter_at(tx, w);

		count(tx, s->interest, s->subject, (uint32_t)-1);
		tqi_behalf_leave(tx, w);
		tqi_waiter_bury(tx, w);
	}
	return true;
}
