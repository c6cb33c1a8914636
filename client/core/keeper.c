/* SPDX-License-Identifier: MIT */
/* A keeper's look: the scheduler says what to prove, this asks the system. */
#include "client/core/removal.h"
#include "client/core/sleeper.h"

#include "client/core/marked.h"
#include "scheduler/task/depart.h"
#include "scheduler/time/schedule.h"
#include "shm/extent.h"

#define LOOKS_MAX 100000 /* bounds one keeping: each look does at least a slice */
#define PUNCHES_MAX 4096 /* extents given back by one keeping; it ends when there is work */
#define OWNERS_MAX 1024 /* looks at a few owners of groups each */
#define PROOF_FIRST_NS 200000ull /* 0.2 ms: a hint comes a little before the proof */
#define PROOF_TRIES 9		 /* about 0.1 s: a process with much memory takes long to go */

bool tqi_groups_are_empty(struct tq *tq, const struct tqi_suspect *suspect)
{
	if (suspect->group_count > TQI_GROUPS_MAX)
		return false;
	for (uint32_t i = 0; i < suspect->group_count; i++)
		if (!tq->seg.ops->group_empty(tq->seg.ops->ctx, suspect->groups[i].pgid,
					      suspect->groups[i].start))
			return false;
	return true;
}

/* The commands of a dead farm's worker, which nobody else would ever end. */
static void end_orphans(struct tq *tq, const struct tqi_suspect *suspect)
{
	struct tqi_word32 never = { 0 };
	const struct tqi_futex word = { &never, 0 };
	struct tqi_mark marks[TQI_GROUPS_MAX];
	uint64_t pause = PROOF_FIRST_NS;
	uint32_t count = 0;

	for (uint32_t i = 0; i < suspect->group_count && i < TQI_GROUPS_MAX; i++)
		if (suspect->groups[i].id)
			marks[count++] = (struct tqi_mark){ suspect->groups[i].id,
							    suspect->groups[i].start,
							    suspect->groups[i].pgid };
	for (int i = 0; i < PROOF_TRIES && tqi_marked_end(tq->seg.path, marks, count); i++) {
		tq->seg.ops->futex_wait(tq->seg.ops->ctx, &word, 1, tqi_now(tq) + pause);
		pause *= 2;
	}
}

bool tqi_prove(struct tq *tq, const struct tqi_suspect *suspect)
{
	uint32_t tries = 0;
	bool done = false;

	if (!tq->seg.ops->process_gone(tq->seg.ops->ctx, &suspect->owner))
		return false;
	if (tq->farms && suspect->orphaned)
		end_orphans(tq, suspect);
	bool empty = tqi_groups_are_empty(tq, suspect);

	for (int i = 0; i < LOOKS_MAX && !done; i++) {
		struct tqi_tx tx;

		if (tqi_hold_begin(tq, &tx) < 0)
			return false;
		done = tqi_worker_gone(&tx, suspect, empty);
		if (tqi_hold_again(tq, &tx, &tries)) {
			done = false;
			continue;
		}
		struct tqi_suspect now;
		/* A slice of its claims was ended when it is still there and dying. */
		bool more = !done && empty && tqi_worker_suspect(&tx, suspect->worker, &now) &&
			    now.generation == suspect->generation &&
			    !tqi_worker_waits_for_master(&tx, suspect->worker);

		if (tqi_hold_end(tq, &tx, 0) < 0 || !more)
			break;
	}
	return done;
}

/* The robust notice comes before the process is gone as a whole: try a few times, doubling. */
static void prove_soon(struct tq *tq, const struct tqi_suspect *suspect)
{
	struct tqi_word32 never = { 0 };
	const struct tqi_futex word = { &never, 0 };
	uint64_t pause = PROOF_FIRST_NS;

	for (int i = 0; i < PROOF_TRIES; i++) {
		if (tq->seg.ops->process_gone(tq->seg.ops->ctx, &suspect->owner)) {
			tqi_prove(tq, suspect);
			return;
		}
		if (!suspect->hinted)
			return;
		tq->seg.ops->futex_wait(tq->seg.ops->ctx, &word, 1, tqi_now(tq) + pause);
		pause *= 2;
	}
	/* A false alarm: its thread ended, the process lives.  Then once a look is enough. */
	struct tqi_tx tx;

	if (tqi_hold_begin(tq, &tx) < 0)
		return;
	tqi_worker_poll(&tx, suspect);
	(void)tqi_hold_end(tq, &tx, 0);
}

/* What a dead process has not sealed, or was still building, comes to nothing. */
static bool bury_owner(struct tq *tq, const struct tqi_group_suspect *suspect)
{
	struct tqi_tx tx;

	if (!tq->seg.ops->process_gone(tq->seg.ops->ctx, &suspect->owner) ||
	    tqi_hold_begin(tq, &tx) < 0)
		return false;
	tqi_group_orphaned(&tx, suspect);
	return tqi_hold_end(tq, &tx, 0) == 0;
}

bool tqi_bury_owners(struct tq *tq)
{
	struct tqi_group_suspect suspects[TQI_GROUP_SUSPECTS];
	bool buried = false;

	for (uint32_t i = 0; i < OWNERS_MAX; i++) {
		struct tqi_tx tx;

		if (tqi_hold_begin(tq, &tx) < 0)
			break;
		uint32_t n = tqi_group_suspects(&tx, suspects);
		bool round = !tqi_root(&tx)->group.cursor;

		if (tqi_hold_end(tq, &tx, 0) < 0)
			break;
		for (uint32_t s = 0; s < n; s++)
			buried = bury_owner(tq, &suspects[s]) || buried;
		if (round)
			break;
	}
	return buried;
}

/* Give free memory back, an extent a time, outside the lock. */
static bool punch(struct tq *tq)
{
	const struct tqi_ident self = tqi_ident_self(tq);
	struct tqi_tx tx;
	uint32_t extent;

	if (tqi_hold_begin(tq, &tx) < 0)
		return false;
	struct tqi_root *root = tqi_root(&tx);
	bool idle = !root->ready && !root->assigned && !root->running;
	uint64_t token = idle ? tqi_extent_punch_begin(&tx, &self, &extent) : 0;

	if (idle && !token && root->untidy)
		TQI_SET(&tx, root->untidy, 0u); /* nothing more to give back: sleep without limit */
	if (tqi_hold_end(tq, &tx, 0) < 0 || !token)
		return false;
	tqi_extent_punch(&tq->seg, extent);
	if (tqi_hold_begin(tq, &tx) < 0)
		return false;
	tqi_extent_punch_end(&tx, token);
	return tqi_hold_end(tq, &tx, 0) == 0;
}

/* For a schedule's run. */
static bool make_room(struct tq *tq)
{
	struct tqi_tx tx;

	if (tqi_make_room(tq, 0) < 0 || tqi_hold_begin(tq, &tx) < 0)
		return false;
	tqi_schedule_hurry(&tx);
	return tqi_hold_end(tq, &tx, 0) == 0;
}

void tqi_keep(struct tq *tq)
{
	struct tqi_look look = { .again = tqi_removal_look(tq) == 0 };

	for (int i = 0; i < LOOKS_MAX && look.again; i++) {
		struct tqi_tx tx;

		if (tqi_hold_begin(tq, &tx) < 0)
			return;
		tqi_look(&tx, &look);
		if (tqi_hold_end(tq, &tx, 0) < 0)
			return;
		if (look.wants_memory && make_room(tq))
			look.again = true;
		for (uint32_t s = 0; s < look.suspect_count; s++)
			prove_soon(tq, &look.suspects[s]);
		for (uint32_t s = 0; s < look.owner_count; s++)
			look.again = bury_owner(tq, &look.owners[s]) || look.again;
	}
	for (int i = 0; i < PUNCHES_MAX && punch(tq); i++)
		;
}
