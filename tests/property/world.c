/* SPDX-License-Identifier: MIT */
/* What every operation of the property test uses. */
#include "tests/property/world.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler/check/check.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/task/group_walk.h"
#include "scheduler/task/look.h"
#include "scheduler/task/task.h"
#include "scheduler/worker/keepers.h"

#define TIGHT_SPANS 8 /* free spans from which on the core may have to drop things */
#define TRIES 200
#define SURE_LINKS 60 /* the search for cycles is bounded */

void note(struct world *w, const char *format, ...)
{
	char *line = w->log[w->op % LOG_LINES];
	va_list ap;

	int n = snprintf(line, LOG_BYTES, "%llu: ", (unsigned long long)w->op);

	va_start(ap, format);
	vsnprintf(line + n, LOG_BYTES - (size_t)n, format, ap);
	va_end(ap);
}

void fail(struct world *w, const char *format, ...)
{
	va_list ap;

	for (uint64_t i = w->op < LOG_LINES ? 0 : w->op + 1 - LOG_LINES; i <= w->op; i++)
		fprintf(stderr, "  %s\n", w->log[i % LOG_LINES]);
	fprintf(stderr, "seed %llu, operation %llu: ", (unsigned long long)w->seed,
		(unsigned long long)w->op);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	longjmp(w->failed, 1);
}

void expect(struct world *w, int64_t core, int64_t model, const char *what)
{
	if (core != model)
		fail(w, "%s answered %lld, the model says %lld", what, (long long)core,
		     (long long)model);
}

bool chance(struct world *w, uint32_t one_in)
{
	return tqt_below(&w->random, one_in) == 0;
}

uint32_t below(struct world *w, uint32_t n)
{
	return tqt_below(&w->random, n);
}

uint64_t some_time(struct world *w)
{
	const uint64_t ms = 1000000;

	return chance(w, 50) ? INT64_MAX - below(w, 1000) : (1 + below(w, 5000)) * ms;
}

static uint64_t version_of(struct world *w)
{
	return tqi_load_relaxed64(&tqi_segment_core(&w->box.seg)->version);
}

static void begin(struct world *w)
{
	tqt_box_begin(&w->box, &w->tx);
	w->m->leaving = tqi_root(&w->tx)->leaving_at != 0;
}

/*
 * A submit on a full table evicts one record in a step of its own, which stays.
 * `steps`: transactions that have ended inside the operation.
 */
static void follow_steps(struct world *w, uint64_t steps)
{
	for (; steps > 0; steps--) {
		model_evict(w->m, 1);
		w->steps++;
	}
}

static void try_and_abort(struct world *w, core_op *core, void *arg)
{
	char why[160];

	tqt_image_take(&w->image, &w->box.seg);
	begin(w);
	uint64_t version = version_of(w); /* odd; each step adds 2, the abort 1 */

	core(w, arg);
	tqi_tx_abort(&w->tx);
	w->aborts++;
	uint64_t steps = (version_of(w) - version) / 2;

	if (steps == 0 && !tqt_image_same(&w->image, &w->box.seg, why))
		fail(w, "aborted, but not undone: %s", why);
	follow_steps(w, steps);
}

void commit(struct world *w)
{
	if (!w->tx.corrupt)
		tqi_wake_keepers(&w->tx);
	w->comparison.filled = tqi_tx_is_filling(&w->tx);
	w->comparison.filling |= w->comparison.filled;
	w->m->ahead = 0;
	if (!w->tx.corrupt)
		tqi_tx_commit(&w->tx);
	if (w->tx.corrupt)
		fail(w, "the transaction is corrupt");
}

static bool make_room(struct world *w)
{
	uint32_t here = tqi_segment_core(&w->box.seg)->extents_reserved;

	w->comparison.tight = true;
	if (here < w->extents_max && !chance(w, 8) && tqt_box_grow(&w->box, 1))
		return true;
	begin(w);
	uint32_t n = tqi_task_evict(&w->tx, 4);

	commit(w);
	expect(w, n, model_evict(w->m, 4), "evict");
	return n != 0;
}

static void note_tight(struct world *w)
{
	if (tqi_segment_core(&w->box.seg)->spans_free < TIGHT_SPANS)
		w->comparison.tight = true;
}

static bool settle_some(struct world *w)
{
	begin(w);
	tqi_inherit_try_again(&w->tx); /* as a keeper's look does */
	bool some = tqi_inherit_pending(&w->tx);

	if (some)
		tqi_inherit_slice(&w->tx);
	bool stuck = tqi_root(&w->tx)->stale.stuck;

	if (!some)
		tqi_tx_abort(&w->tx);
	else
		commit(w);
	w->stuck = stuck && !make_room(w) && !tqt_box_grow(&w->box, 1);
	return some && !w->stuck;
}

/*
 * A published graph's members are shown by its walk, or by whoever meets one: no operation
 * here does so by its id, but holds, ends and sweeps do while the walk is on its way.
 */
static void open_graphs(struct world *w)
{
	while (model_is_opening(w->m) && chance(w, 8)) {
		begin(w);
		tqi_group_slice(&w->tx);
		commit(w);
		model_group_slice(w->m);
	}
}

void settle(struct world *w)
{
	model_pass_on(w->m); /* of the one before */
	open_graphs(w);
	model_pass_on(w->m);
	while (settle_some(w))
		;
	model_inherit(w->m);
	model_pass_on(w->m);
}

/* Of tasks, none of which can go. */
static bool table_is_full(struct world *w)
{
	return tqi_segment_core(&w->box.seg)->tables[TQI_TASKS].live + 1 >=
		       w->box.seg.geometry.tables[TQI_TASKS].max &&
	       !model_finished(w->m);
}

int perform(struct world *w, core_op *core, void *arg, bool answers)
{
	settle(w);
	if (chance(w, (uint32_t)w->abort_every))
		try_and_abort(w, core, arg);
	for (int i = 0; i < TRIES; i++) {
		note_tight(w);
		w->full = table_is_full(w);
		begin(w);
		uint64_t version = version_of(w);
		int r = core(w, arg);

		if (w->tx.corrupt)
			fail(w, "the transaction is corrupt");
		follow_steps(w, (version_of(w) - version) / 2);
		if (r >= 0 || (answers && r != -ENOMEM)) {
			commit(w);
			note_tight(w);
			return r;
		}
		tqi_tx_abort(&w->tx);
		if (r != -ENOMEM)
			return r;
		if (!make_room(w))
			break;
	}
	w->no_room++;
	return NO_ROOM;
}

uint32_t pick_task(struct world *w, uint32_t state)
{
	uint32_t slots = w->m->task_slots, at = below(w, slots);

	for (uint32_t i = 0; i < slots; i++) {
		const struct model_task *t = &w->m->tasks[at];

		if (at && t->state != TQ_FREE && !t->shut &&
		    (state == TQ_STATE_COUNT || t->state == state))
			return at;
		at = at + 1 < slots ? at + 1 : 0;
	}
	return 0;
}

uint64_t id_of(struct world *w, uint32_t task)
{
	return tqi_id_make(task, w->m->tasks[task].generation);
}

uint32_t pick_worker(struct world *w)
{
	uint32_t slots = w->m->worker_slots, at = below(w, slots);

	for (uint32_t i = 0; i < slots; i++) {
		const struct model_worker *worker = &w->m->workers[at];

		if (worker->state == TQI_WORKER_LIVE && !worker->dead)
			return at;
		at = at + 1 < slots ? at + 1 : 0;
	}
	return 0;
}

uint32_t sleeper_of(const struct world *w, uint32_t worker)
{
	for (uint32_t s = 1; s < w->m->waiter_slots; s++)
		if (w->m->waiters[s].state != TQI_WAITER_FREE && !w->m->waiters[s].dead &&
		    w->m->waiters[s].interest == TQI_INTEREST_WORK &&
		    w->m->waiters[s].subject == worker)
			return s;
	return 0;
}

struct tqi_worker *worker_record(struct world *w, uint32_t worker)
{
	return tqi_table_peek(&w->box.seg, TQI_WORKERS, worker);
}

const char *queue_name(uint32_t queue)
{
	static const char *const names[MODEL_QUEUES + 1] = {
		"", "a", "b", "c", "d", "e", "f", "g"
	};

	return names[queue];
}

const char *kind_name(uint32_t kind)
{
	static const char *const names[MODEL_KINDS + 1] = { "", "exec", "x", "y", "z", "w", "v" };

	return names[kind];
}

struct pattern pattern_make(struct world *w, uint32_t bytes_max)
{
	uint32_t bytes = chance(w, 2) ? 0 : below(w, chance(w, 4) ? bytes_max : bytes_max / 16 + 1);

	return (struct pattern){ below(w, 1000), 0, bytes };
}

/* Its pages are zero again, and few are touched. */
void *scratch(struct world *w)
{
	uint64_t bytes = tqi_check_scratch_bytes(&w->box.seg.geometry);

	if (w->scratch) {
		madvise(w->scratch, bytes, MADV_DONTNEED);
		return w->scratch;
	}
	w->scratch = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->scratch == MAP_FAILED)
		fail(w, "no scratch memory");
	return w->scratch;
}

uint32_t pick_group(struct world *w, uint32_t state)
{
	uint32_t slots = w->m->group_slots, at = below(w, slots);

	for (uint32_t i = 0; i < slots; i++) {
		const struct model_group *g = &w->m->groups[at];

		if (g->state != TQI_GROUP_FREE && (state == TQI_GROUP_FREE || g->state == state))
			return at;
		at = at + 1 < slots ? at + 1 : 0;
	}
	return 0;
}

uint32_t pick_after(struct world *w)
{
	return TQ_AFTER_OK + (chance(w, 2) ? 0 : below(w, 3));
}

static uint32_t links_in_use(const struct world *w)
{
	uint32_t n = 0;

	for (uint32_t d = 1; d < w->m->dependency_slots; d++)
		n += w->m->dependencies[d].task != 0;
	return n;
}

bool room_for_links(const struct world *w)
{
	return links_in_use(w) + MODEL_AFTER + 1 < MODEL_DEPENDENCIES;
}

bool is_searched_whole(const struct world *w)
{
	return links_in_use(w) <= SURE_LINKS;
}
