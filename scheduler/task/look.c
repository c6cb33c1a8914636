/* SPDX-License-Identifier: MIT */
/* A keeper's look: due tasks, sweeps, dead sleepers, leases, dead workers, old records. */
#include "scheduler/task/look.h"

#include "scheduler/time/due.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/task/due_run.h"
#include "scheduler/task/schedule_run.h"
#include "scheduler/time/schedule_heap.h"
#include "scheduler/worker/sleep.h"
#include "scheduler/task/sweep.h"
#include "scheduler/task/task.h"
#include "scheduler/wake/wake.h"
#include "scheduler/worker/keepers.h"
#include "scheduler/time/wall.h"
#include "shm/lock.h"

#define DUE_SLICE 8	    /* due tasks handled in one hold: journal space */
#define SCHEDULES_SLICE 2   /* schedules looked at in one hold: each may copy 64 KiB */
#define RETIRE_SLICE 16	    /* old records freed in one hold */
#define WORKERS_SLICE 64    /* worker records looked at in one hold */

static void note_look(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);

	if (tx->now_ns - root->look_ns > TQI_LOOK_GAP_NS)
		TQI_SET(tx, root->unbroken_ns, tx->now_ns);
	TQI_SET(tx, root->look_ns, tx->now_ns);
}

static bool add_suspect(struct tqi_tx *tx, uint32_t w, bool hinted, struct tqi_look *look)
{
	if (look->suspect_count == TQI_LOOK_SUSPECTS)
		return false;
	if (tqi_worker_suspect(tx, w, &look->suspects[look->suspect_count]))
		look->suspects[look->suspect_count++].hinted = hinted;
	return true;
}

/*
 * Leases, hints of death, and one worker a slice probed without any hint.  The next
 * slice begins behind the one that found no room, or behind the one that was probed:
 * so everybody's turn comes, however few records there are.
 */
static void look_at_workers(struct tqi_tx *tx, struct tqi_look *look)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t count = tx->core->tables[TQI_WORKERS].count, at = root->worker_cursor;
	uint32_t probed = 0, looked = 0;

	for (; looked < WORKERS_SLICE && looked + 1 < count && !tx->corrupt; looked++) {
		uint32_t w = at + 1 < count ? at + 1 : 1;
		struct tqi_worker *worker = tqi_worker_at(tx, w);

		if (worker->state != TQI_WORKER_FREE) {
			bool polled = worker->flags & TQI_WORKER_POLLED;
			bool fresh = worker->state == TQI_WORKER_LIVE && !polled &&
				     tqi_mutex_owner_died(&worker->life);
			bool hinted = worker->state == TQI_WORKER_DYING || fresh;

			tqi_worker_judge(tx, w);
			if ((hinted || polled || !probed) && !add_suspect(tx, w, hinted, look)) {
				look->again |= fresh; /* others have time till the next look */
				break;
			}
			if (!probed)
				probed = w;
			if (tqi_tx_is_filling(tx)) {
				look->again = true;
				at = w;
				break;
			}
		}
		at = w;
	}
	if (looked + 1 >= count && probed)
		at = probed;
	if (at != root->worker_cursor)
		TQI_SET(tx, root->worker_cursor, at);
}

/* Few segments have any of these. */
static __attribute__((noinline)) void tend_appointments(struct tqi_tx *tx)
{
	if (tqi_wall_is_due(tx)) {
		tqi_wall_run(tx, DUE_SLICE);
		tqi_step(tx);
	}
	if (tqi_root(tx)->time.crons && tqi_schedule_watch_clock(tx))
		tqi_step(tx);
	for (uint32_t i = 0; i < SCHEDULES_SLICE && tqi_schedule_is_due(tx) && !tx->corrupt; i++)
		tqi_schedule_run(tx);
}

void tqi_tend_now(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	if (tqi_due_next(tx) <= tx->now_ns) {
		tqi_due_run(tx, DUE_SLICE);
		tqi_step(tx);
	}
	if (__builtin_expect(root->time.wall.length | root->time.schedules, 0))
		tend_appointments(tx);
	if (tqi_sweep_pending(tx)) {
		tqi_sweep_slice(tx);
		tqi_step(tx);
	}
}

void tqi_look(struct tqi_tx *tx, struct tqi_look *ret_look)
{
	ret_look->suspect_count = ret_look->owner_count = 0;
	ret_look->again = false;
	ret_look->wants_memory = false;
	note_look(tx);
	tqi_inherit_try_again(tx);
	tqi_tend(tx);
	if (tqi_sleep_bury(tx))
		ret_look->again = true;
	tqi_step(tx);
	look_at_workers(tx, ret_look);
	tqi_step(tx);
	if (tqi_task_retire(tx, RETIRE_SLICE) > 0)
		ret_look->again = true;
	if (tqi_root(tx)->group.ended.first && tqi_group_retire(tx, RETIRE_SLICE, false) > 0)
		ret_look->again = true;
	if (tqi_root(tx)->group.owned.first)
		ret_look->owner_count = tqi_group_suspects(tx, ret_look->owners);
	tqi_wake_room(tx); /* a popped submitter may have died */
	tqi_wake_empty_more(tx);
	tqi_wake_any(tx);  /* pass over popped workers that are dead or stopped */
	if (tqi_due_next(tx) <= tx->now_ns || tqi_wall_is_due(tx) || tqi_schedule_is_due(tx) ||
	    (tqi_root(tx)->time.anew | tqi_root(tx)->leaving_at | tqi_root(tx)->room.again) ||
	    tqi_sweep_pending(tx))
		ret_look->again = true;
	ret_look->wants_memory = tqi_schedule_wants_memory(tx) || tqi_root(tx)->stale.stuck;
	if (tqi_root(tx)->moving.count && !tqi_root(tx)->sweep.left)
		tqi_sweep_start(tx); /* for the next look: the round before found no memory */
}
