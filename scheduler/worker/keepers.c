/* SPDX-License-Identifier: MIT */
/* Keepers, and who is woken at the end of a transaction. */
#include "scheduler/worker/keepers.h"

#include "scheduler/graph/group.h"
#include "scheduler/order/ready.h"
#include "scheduler/record/sweep_state.h"
#include "scheduler/time/due.h"
#include "scheduler/time/schedule.h"
#include "scheduler/time/wall.h"
#include "scheduler/wake/asleep.h"
#include "scheduler/wake/sleepers.h"
#include "scheduler/wake/wake.h"
#include "scheduler/worker/command.h"
#include "shm/domain.h"

static bool wake_first(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	if (!tx->core->waiter_for_work || !(root->ready | root->assigned))
		return false;
	uint32_t w = tqi_asleep_startable(tx, tqi_ready_any);

	if (w)
		tqi_sleep_pop(tx, w);
	return w != 0;
}

static bool wake_others(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);
	bool commanded = root->command.open && tqi_command_call(tx, 1);
	bool called = tqi_wake_called(tx, 1);

	return commanded || called;
}

/* Nobody, or one for each sort of work: who was popped passes on what else there is. */
bool tqi_wake_any(struct tqi_tx *tx)
{
	bool others = wake_others(tx), woken = wake_first(tx);

	tx->pass_on = false;
	return woken || others;
}

bool tqi_work_is_covered(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	return root->ready + root->assigned <= tqi_waiter_cover(tx);
}

bool tqi_wake_next(struct tqi_tx *tx)
{
	bool others = wake_others(tx);

	return (!tqi_work_is_covered(tx) && wake_first(tx)) || others;
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
	if ((root->telling.first | root->leaving_at | root->room.again) && tx->now_ns < due)
		due = tx->now_ns;
	if (root->ready || root->assigned || root->running || root->dying_workers || root->untidy ||
	    root->time.anew || root->command.open || root->command.waiters || root->group.waiters ||
	    root->group.owned.first || tqi_sweep_needs_looks(tx))
		until = tx->now_ns + TQI_LOOK_NS + place * TQI_DEPUTY_NS;
	if (due != UINT64_MAX && due + place * TQI_DEPUTY_NS < until)
		until = due + place * TQI_DEPUTY_NS;
	return until;
}

uint64_t tqi_keeper_until_wall(struct tqi_tx *tx, uint32_t place)
{
	uint64_t wall = tqi_wall_next(tx), next = tqi_schedule_next_by_wall(tqi_root(tx));

	if (next < wall)
		wall = next;
	return place >= TQI_KEEPERS || wall == UINT64_MAX ? UINT64_MAX
							  : wall + place * TQI_DEPUTY_NS;
}

/* An earlier note, by either clock: rare, so it stays out of the loop that all holds go through. */
static __attribute__((noinline)) void note_and_wake(struct tqi_tx *tx, uint32_t w, uint64_t *note,
						    uint64_t until)
{
	TQI_SET(tx, *note, until);
	tqi_tx_wake(tx, w);
}

static void note_wall(struct tqi_tx *tx, uint32_t w, uint32_t place)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);
	uint64_t wall = tqi_keeper_until_wall(tx, place);

	if (wall < s->until_wall_ns)
		note_and_wake(tx, w, &s->until_wall_ns, wall);
}

void tqi_wake_keepers(struct tqi_tx *tx)
{
	if (tx->pass_on)
		tqi_wake_any(tx);
	uint32_t left = tx->core->waiter_count; /* as many as that, if they are fewer than places */

	for (uint32_t place = 0; left && place < TQI_KEEPERS && !tx->corrupt; place++) {
		uint32_t w = tx->core->waiter_keepers[place];

		if (!w)
			continue;
		left--;
		struct tqi_waiter *s = tqi_waiter_at(tx, w);
		uint64_t until = tqi_keeper_until(tx, place);

		if (until < s->until_ns && !TQI_PLANTED(no_note))
			note_and_wake(tx, w, &s->until_ns, until);
		if (__builtin_expect(tqi_wall_is_needed(tqi_root(tx)), 0))
			note_wall(tx, w, place);
	}
}
