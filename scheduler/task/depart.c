/* SPDX-License-Identifier: MIT */
/* The end of a worker. */
#include "scheduler/task/depart.h"

#include "scheduler/order/assign.h"
#include "scheduler/record/serves.h"
#include "scheduler/wake/asleep.h"
#include "scheduler/worker/command.h"
#include "scheduler/wake/wake.h"
#include "shm/pool.h"

#define END_SLICE 8 /* attempts ended in one hold: journal space */
#define NAMES_FEW 64 /* kinds: an entry each, beside those of the slice */

static bool end_attempts(struct tqi_tx *tx, struct tqi_worker *worker,
			 const struct tqi_death *death)
{
	for (uint32_t i = 0;
	     i < END_SLICE && worker->attempts && !tx->corrupt && !tqi_tx_is_filling(tx); i++)
		tqi_end_by_death(tx, worker->attempts, death);
	return worker->attempts == 0;
}

/* Whether there is room for a last transaction: of what few workers have, names of kinds. */
static bool has_room(const struct tqi_tx *tx, const struct tqi_worker *worker)
{
	uint32_t kinds = 0;

	for (uint32_t k = 1; k <= TQI_KINDS_MAX && !tqi_kinds_are_all(worker->kinds); k++)
		kinds += tqi_worker_serves_kind(worker, k);
	return kinds <= NAMES_FEW || !tqi_tx_is_filling(tx);
}

static void take_apart(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	tqi_asleep_leave(tx, w); /* a dead owner's slot may be there still */
	tqi_worker_unname(tx, worker);
	if (worker->flags & TQI_WORKER_EMPTY)
		TQI_ADD(tx, tqi_root(tx)->empty_workers, -1);
	if (worker->state == TQI_WORKER_DYING)
		TQI_ADD(tx, tqi_root(tx)->dying_workers, -1);
	if (worker->output)
		tqi_block_give(tx, worker->output);
	TQI_SET(tx, worker->output, 0u);
	TQI_SET(tx, worker->output_bytes, 0u);
	TQI_SET(tx, worker->state, TQI_WORKER_FREE);
	tqi_table_give(tx, TQI_WORKERS, w);
	tqi_wake_empty(tx);
	/* A life lock that is let go wakes one of those who sleep on it: perhaps another. */
	tqi_wake_master(tx, worker->master);
}

bool tqi_worker_unregister(struct tqi_tx *tx, uint32_t w)
{
	static const struct tqi_death released = { .cause = TQ_CAUSE_RELEASED };
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	tqi_assigned_return(tx, w);
	if (!end_attempts(tx, worker, &released) || !tqi_command_leave(tx, w) ||
	    !has_room(tx, worker))
		return false;
	take_apart(tx, w);
	tx->release = &worker->life;
	return true;
}

bool tqi_worker_dead(struct tqi_tx *tx, uint32_t w, uint64_t generation,
		     const struct tqi_death *death)
{
	struct tqi_worker *worker = tqi_worker_find(tx, w, generation);

	if (!worker)
		return true;
	tqi_assigned_return(tx, w);
	if (!end_attempts(tx, worker, death) || !tqi_command_leave(tx, w) || !has_room(tx, worker))
		return false;
	take_apart(tx, w);
	return true;
}

static void begin_to_die(struct tqi_tx *tx, uint32_t w, struct tqi_worker *worker)
{
	tqi_assigned_return(tx, w);
	TQI_SET(tx, worker->state, TQI_WORKER_DYING);
	TQI_SET(tx, worker->dying_ns, tx->now_ns);
	TQI_ADD(tx, tqi_root(tx)->dying_workers, 1);
}

bool tqi_worker_gone(struct tqi_tx *tx, const struct tqi_suspect *suspect, bool groups_empty)
{
	static const struct tqi_death death = { .cause = TQ_CAUSE_WORKER_DIED };
	struct tqi_worker *worker = tqi_worker_find(tx, suspect->worker, suspect->generation);

	if (!worker)
		return true;
	if (worker->state == TQI_WORKER_LIVE)
		begin_to_die(tx, suspect->worker, worker);
	if (tqi_worker_waits_for_master(tx, suspect->worker)) {
		tqi_wake_master(tx, worker->master);
		return false;
	}
	/* Only an attempt waits for what is left of its processes. */
	if (worker->attempts && !groups_empty)
		return false;
	return tqi_worker_dead(tx, suspect->worker, suspect->generation, &death);
}
