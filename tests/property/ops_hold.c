/* SPDX-License-Identifier: MIT */
/* What holds do besides their own: time, what is due, sweeps, looks; repair; memory. */
#include <errno.h>

#include "scheduler/time/due.h"
#include "scheduler/task/due_run.h"
#include "scheduler/graph/group.h"
#include "scheduler/task/look.h"
#include "scheduler/order/queue.h"
#include "scheduler/rebuild/rebuild.h"
#include "scheduler/worker/sleep.h"
#include "scheduler/task/sweep.h"
#include "scheduler/worker/keepers.h"
#include "scheduler/time/wall.h"
#include "scheduler/task/depart.h"
#include "tests/property/world.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define BURIALS_MAX 10000 /* many times what as many sleepers and edges as there may be need */

void op_time(struct world *w)
{
	uint64_t by = chance(w, 200)  ? 4000 * SECOND
		      : chance(w, 10) ? (1 + below(w, 5)) * SECOND
				      : below(w, 300) * MS;

	w->m->now_ns = w->box.system.now_ns += by;
	w->m->wall_ns += by;
	note(w, "time +%llu ms", (unsigned long long)(by / MS));
}

/* Somebody sets the wall clock, back or forward. */
void op_set_clock(struct world *w)
{
	int64_t by = ((int64_t)below(w, 20000) - 10000) * (int64_t)MS;

	w->box.system.wall_offset_ns += (uint64_t)by;
	w->m->wall_ns += (uint64_t)by;
	note(w, "wall clock %+lld ms", (long long)(by / (int64_t)MS));
}

static int due_core(struct world *w, void *arg)
{
	return tqi_due_run(&w->tx, *(uint32_t *)arg);
}

static bool due(struct world *w, uint32_t count)
{
	int r = perform(w, due_core, &count, false);

	expect(w, r, model_due_run(w->m, count), "due");
	return r;
}

static int wall_core(struct world *w, void *arg)
{
	return tqi_wall_run(&w->tx, *(uint32_t *)arg);
}

static bool wall(struct world *w, uint32_t count)
{
	int r = perform(w, wall_core, &count, false);

	expect(w, r, model_wall_run(w->m, count), "appointments");
	return r;
}

void op_wall(struct world *w)
{
	uint32_t count = 1 + below(w, 8);

	note(w, "appointments %u", count);
	wall(w, count);
}

void op_due(struct world *w)
{
	uint32_t count = 1 + below(w, 8);

	note(w, "due %u", count);
	due(w, count);
}

static int sweep_core(struct world *w, void *arg)
{
	(void)arg;
	tqi_sweep_slice(&w->tx);
	return tqi_sweep_has_work(tqi_root(&w->tx)); /* what is inherited is settled after it */
}

static void sweep(struct world *w)
{
	int r = perform(w, sweep_core, NULL, false);
	const struct tqi_root *root = tqi_segment_root(&w->box.seg);

	expect(w, r, model_sweep_slice(w->m, root->sweep.left, root->moving.at), "sweep");
}

static int bury_core(struct world *w, void *arg)
{
	(void)arg;
	return tqi_sleep_bury(&w->tx);
}

static bool bury(struct world *w)
{
	int r = perform(w, bury_core, NULL, false);

	const struct tqi_root *root = tqi_segment_root(&w->box.seg);
	const uint32_t slots = tqi_segment_core(&w->box.seg)->tables[TQI_WAITERS].count;

	if (slots > MODEL_WAITERS)
		fail(w, "more wait slots than the model has");
	expect(w, r, model_bury(w->m, root->waiter_cursor, slots), "burial");
	return r;
}

/* Each time it looks for them a part of the way round, and may bury a part of one. */
static void bury_all(struct world *w)
{
	for (uint32_t i = 0; bury(w) || model_has_dead(w->m); i++)
		if (i == BURIALS_MAX)
			fail(w, "the dead are not buried");
}

/* What every hold does first, part by part. */
void op_tend(struct world *w)
{
	note(w, "tend");
	due(w, 8);
	wall(w, 8);
	if (model_sweep_pending(w->m))
		sweep(w);
}

/* The parts of a hold that are sliced are run out first, each in its own operation. */
static void run_out(struct world *w)
{
	do {
		while (due(w, 8))
			;
		while (wall(w, 8))
			;
		while (model_sweep_pending(w->m))
			sweep(w);
		bury_all(w);
		/* A sweep may have ended a run that the next one waits for; a burial is told of. */
	} while (schedule_run(w) || model_sweep_pending(w->m) || model_is_due(w->m));
	model_pass_on(w->m);
}

struct proof {
	struct tqi_suspect suspect;
	bool groups_empty;
};

static int gone_core(struct world *w, void *arg)
{
	const struct proof *p = arg;

	return tqi_worker_gone(&w->tx, &p->suspect, p->groups_empty);
}

/* What client/core/keeper.c does with a look's suspects. */
static void prove(struct world *w, const struct tqi_suspect *suspect)
{
	struct proof p = { .suspect = *suspect, .groups_empty = !chance(w, 4) };
	const struct model_worker *m = &w->m->workers[suspect->worker];

	if (!m->dead || m->generation != suspect->generation)
		return;
	int r = perform(w, gone_core, &p, false);

	expect(w, r, model_worker_gone(w->m, suspect->worker, p.groups_empty), "gone");
}

static int orphaned_core(struct world *w, void *arg)
{
	tqi_group_orphaned(&w->tx, arg);
	return 0;
}

/* The same for owners of groups. */
static void prove_owner(struct world *w, struct tqi_group_suspect *suspect)
{
	const struct model_group *g = &w->m->groups[suspect->group];

	if (!g->owner_dead || g->generation != suspect->generation)
		return;
	perform(w, orphaned_core, suspect, false);
	model_group_orphaned(w->m, suspect->group);
}

void op_look(struct world *w)
{
	struct tqi_look look;

	note(w, "look");
	run_out(w);
	settle(w);
	tqt_box_begin(&w->box, &w->tx);
	tqi_look(&w->tx, &look);
	if (w->tx.corrupt)
		fail(w, "the look is corrupt");
	commit(w);
	model_look(w->m, tqi_root(&w->tx)->waiter_cursor);
	for (uint32_t i = 0; i < look.suspect_count; i++) {
		bool dead = w->m->workers[look.suspects[i].worker].dead;

		if (dead != look.suspects[i].hinted)
			fail(w, "worker %u: wrong hint", look.suspects[i].worker);
		prove(w, &look.suspects[i]);
	}
	for (uint32_t i = 0; i < look.owner_count; i++)
		prove_owner(w, &look.owners[i]);
}

/* On a sound segment: nothing that a user sees may change. */
void op_rebuild(struct world *w)
{
	int r = -ENOMEM;

	bool wiped = chance(w, 2);

	note(w, wiped ? "rebuild from truth" : "rebuild");
	while (w->m->telling_count && w->m->dependency_slots > 1)
		sweep(w); /* what is told of dependencies need not be told again */
	settle(w);
	if (wiped)
		wipe(w);
	while (r == -ENOMEM) { /* as client/observe/check_api.c does */
		tqt_box_begin(&w->box, &w->tx);
		r = tqi_rebuild(&w->tx, scratch(w));
		tqi_tx_commit(&w->tx);
		if (r == -ENOMEM && !tqt_box_grow(&w->box, 1)) {
			w->stuck = true; /* full to the last span: only a larger segment helps */
			return;
		}
	}
	model_rebuild(w->m);
	w->compare_now = true;
}

void op_punch(struct world *w)
{
	note(w, "punch: %d", tqt_box_punch(&w->box));
}

void op_grow(struct world *w)
{
	uint32_t here = tqi_segment_core(&w->box.seg)->extents_reserved;

	if (here < w->extents_max)
		note(w, "grow: %d", tqt_box_grow(&w->box, 1));
}
