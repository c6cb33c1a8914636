/* SPDX-License-Identifier: MIT */
/*
 * How many workers a farm has.  Beside those that it is to have there is a substitute for
 * each attempt that waits (E9); some time after waits have ended so many go again, those that
 * run nothing first, and the others when they have finished what they run.
 */
#include "client/farm/farm.h"

#define PART_SLICE 16	   /* workers told to go in one hold: journal space, and wakes */
#define LINGER_NS 100000000ull /* 100 ms: who waits for one task after the other soon waits again */
#define PAUSE_NS 100000000ull /* 100 ms: without the lock */

/* How readily one would do without it. */
enum rank {
	RANK_GONE = 0, /* it does not count any more */
	RANK_STUCK,    /* it waits, or has ended and is to be replaced */
	RANK_BUSY,
	RANK_IDLE,
	RANK_PAUSED,
};

uint32_t tqi_farm_record(struct tqi_tx *tx, struct tqi_farm *farm, const struct tqi_child *child)
{
	const struct tqi_board *board = tqi_farm_board(farm, child);
	uint32_t w = child->state == TQI_CHILD_LIVE ? tqi_load_acquire32(&board->worker) : 0;

	return w && tqi_worker_at(tx, w)->generation == tqi_load_relaxed64(&board->generation) ? w
											       : 0;
}

bool tqi_farm_count_waits(struct tqi_tx *tx, struct tqi_farm *farm)
{
	const uint32_t before = farm->waiting;

	farm->waiting = 0;
	for (uint32_t i = 0; i < farm->child_count && !tx->corrupt; i++) {
		uint32_t w = tqi_farm_record(tx, farm, &farm->children[i]);

		farm->waiting += w ? tqi_worker_at(tx, w)->waiting : 0;
	}
	if (farm->waiting < before)
		farm->linger_ns = tx->now_ns + LINGER_NS;
	return farm->waiting != before;
}

static bool counts(const struct tqi_child *child)
{
	return child->state != TQI_CHILD_NONE && !child->retiring && !child->asked;
}

static uint32_t count_size(const struct tqi_farm *farm)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < farm->child_count; i++)
		count += counts(&farm->children[i]);
	return count;
}

static enum rank rank(struct tqi_tx *tx, struct tqi_farm *farm, const struct tqi_child *child)
{
	if (!counts(child))
		return RANK_GONE;
	if (child->state != TQI_CHILD_LIVE)
		return child->state == TQI_CHILD_PAUSED ? RANK_PAUSED : RANK_STUCK;
	uint32_t w = tqi_farm_record(tx, farm, child);
	const struct tqi_worker *worker = w ? tqi_worker_at(tx, w) : NULL;

	if (!worker || !worker->attempts)
		return RANK_IDLE;
	return worker->waiting ? RANK_STUCK : RANK_BUSY;
}

/* In the hold in which it was seen to be idle it cannot begin anything. */
static void part_with(struct tqi_tx *tx, struct tqi_farm *farm, struct tqi_child *child)
{
	struct tqi_board *board = tqi_farm_board(farm, child);
	uint32_t w = tqi_farm_record(tx, farm, child);

	if (child->state == TQI_CHILD_PAUSED) {
		child->state = TQI_CHILD_NONE;
		return;
	}
	tqi_store_release32(&board->surplus, TQI_SURPLUS_ASKED);
	child->retiring = w && !tqi_worker_at(tx, w)->attempts;
	child->asked = !child->retiring;
	if (child->retiring)
		tqi_worker_stop(tx, w);
}

static void part_with_some(struct tqi_farm *farm, uint32_t count, uint64_t now)
{
	uint32_t left = count < PART_SLICE ? count : PART_SLICE;
	struct tqi_tx tx;

	if (tqi_hold_begin(farm->tq, &tx) < 0) {
		tqi_farm_appoint(farm, now + PAUSE_NS);
		return;
	}
	for (uint32_t best = RANK_PAUSED; best > RANK_GONE; best--)
		for (uint32_t i = 0; i < farm->child_count && left > 0 && !tx.corrupt; i++) {
			if (rank(&tx, farm, &farm->children[i]) != best)
				continue;
			part_with(&tx, farm, &farm->children[i]);
			left--;
		}
	(void)tqi_hold_end(farm->tq, &tx, 0);
	if (count > PART_SLICE)
		tqi_farm_appoint(farm, now);
}

/* One that was asked to go, and has not seen it yet, is to stay after all. */
static bool recall_child(struct tqi_farm *farm)
{
	for (uint32_t i = 0; i < farm->child_count; i++) {
		struct tqi_child *child = &farm->children[i];

		if (child->state == TQI_CHILD_LIVE && child->asked &&
		    tqi_board_change(tqi_farm_board(farm, child), TQI_SURPLUS_NONE)) {
			child->asked = false;
			return true;
		}
	}
	return false;
}

/* One worker more; false when there are TQI_FARM_WORKERS_MAX. */
static bool add_child(struct tqi_farm *farm, uint64_t now)
{
	uint32_t i = 0;

	while (i < farm->child_count && farm->children[i].state != TQI_CHILD_NONE)
		i++;
	if (i == TQI_FARM_WORKERS_MAX)
		return false;
	if (i == farm->child_count)
		farm->child_count++;
	farm->children[i] = (struct tqi_child){ .state = TQI_CHILD_PAUSED, .start_ns = now };
	return true;
}

static uint32_t count_substitutes(struct tqi_farm *farm)
{
	struct tqi_tx tx;

	/* Those that waited may have ended since the last look. */
	if (farm->waiting && tqi_hold_begin(farm->tq, &tx) == 0) {
		(void)tqi_farm_count_waits(&tx, farm);
		(void)tqi_hold_end(farm->tq, &tx, 0);
	}
	return farm->waiting < TQ_SUBSTITUTES_MAX ? farm->waiting : TQ_SUBSTITUTES_MAX;
}

void tqi_farm_adapt(struct tqi_farm *farm, uint64_t now)
{
	if (farm->stopping || farm->error)
		return;
	uint32_t size = count_size(farm), target = farm->width + count_substitutes(farm);

	while (size < target && (recall_child(farm) || add_child(farm, now)))
		size++;
	if (size > target && now < farm->linger_ns)
		tqi_farm_appoint(farm, farm->linger_ns);
	else if (size > target)
		part_with_some(farm, size - target, now);
}
