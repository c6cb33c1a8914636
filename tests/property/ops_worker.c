/* SPDX-License-Identifier: MIT */
/* Operations of workers, sleepers and keepers. */
#include <errno.h>
#include <string.h>

#include "scheduler/due.h"
#include "scheduler/edge.h"
#include "scheduler/look.h"
#include "scheduler/rebuild.h"
#include "scheduler/sleep.h"
#include "scheduler/stop.h"
#include "scheduler/sweep.h"
#include "scheduler/wake.h"
#include "scheduler/worker.h"
#include "shm/extent.h"
#include "shm/pool.h"
#include "tests/property/world.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define WAIT_EDGES_MAX 12

/* Registration. */

struct registration {
	struct tqi_worker_request request;
	struct tqi_ident owner;
	const char *queues[MODEL_QUEUES];
	const char *kinds[MODEL_KINDS];
	uint32_t worker;
	struct model_worker model;
};

static void choose_served(struct world *w, struct registration *r)
{
	struct model_worker *m = &r->model;
	uint32_t first = below(w, MODEL_QUEUES);

	m->queue_count = 1 + below(w, 4);
	for (uint32_t i = 0; i < m->queue_count; i++) {
		m->queues[i] = 1 + (first + i) % MODEL_QUEUES;
		r->queues[i] = queue_name(m->queues[i]);
	}
	r->request.queues = r->queues;
	r->request.queue_count = m->queue_count;
	m->kinds = UINT32_MAX;
	if (!chance(w, 4))
		return;
	m->kinds = 0;
	r->request.kinds = r->kinds;
	for (uint32_t k = 1; k <= MODEL_KINDS; k++) {
		if (!chance(w, 2))
			continue;
		m->kinds |= 1u << k;
		r->kinds[r->request.kind_count++] = kind_name(k);
	}
}

static uint32_t live_workers(const struct world *w)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < w->m->worker_slots; i++)
		n += w->m->workers[i].state != TQI_WORKER_FREE;
	return n;
}

static uint32_t some_master(struct world *w)
{
	uint32_t worker = pick_worker(w);

	return worker && (w->m->workers[worker].flags & TQI_WORKER_MASTER) ? worker : 0;
}

static void choose_worker(struct world *w, struct registration *r)
{
	struct model_worker *m = &r->model;

	choose_served(w, r);
	m->state = TQI_WORKER_LIVE;
	m->flags = chance(w, 6) ? TQI_WORKER_MASTER : chance(w, 6) ? TQI_WORKER_EMPTY : 0;
	m->lease_ns = chance(w, 2) ? (1 + below(w, 6)) * SECOND : 0;
	m->grace_ns = below(w, 3) * SECOND;
	m->master = m->flags & TQI_WORKER_MASTER ? 0 : some_master(w);
	m->master_generation = m->master ? w->m->workers[m->master].generation : 0;
	m->lease_deadline_ns = m->lease_ns ? w->m->now_ns + m->lease_ns : 0;
	m->output_room = chance(w, 2) ? 2 * TQI_OUTPUT_CHUNK << below(w, 3) : 0;
	r->request.flags = m->flags;
	r->request.lease_ns = m->lease_ns;
	r->request.grace_ns = m->grace_ns;
	r->request.master = m->master;
	r->request.output_bytes = m->output_room;
	r->request.owner = &r->owner;
}

static int register_core(struct world *w, void *arg)
{
	struct registration *r = arg;

	return tqi_worker_register(&w->tx, &r->request, &r->worker);
}

void op_register(struct world *w)
{
	struct registration r = { .owner = { .pid = 100 + below(w, 10000), .tid = 1, .start = 1 } };
	char name[16] = "m";

	if (live_workers(w) >= 12)
		return;
	choose_worker(w, &r);
	name[1] = (char)('a' + below(w, 26));
	name[2] = (char)('a' + below(w, 26));
	r.request.name = name;
	int result = perform(w, register_core, &r, false);

	note(w, "register %u flags %x lease %llu: %d", r.worker, r.model.flags,
	     (unsigned long long)r.model.lease_ns, result);
	if (result == NO_ROOM || (result == -EEXIST && (r.model.flags & TQI_WORKER_MASTER)))
		return;
	expect(w, result, 0, "register");
	if (r.worker >= MODEL_WORKERS || w->m->workers[r.worker].state != TQI_WORKER_FREE)
		fail(w, "worker slot %u is in use", r.worker);
	if (r.worker >= w->m->worker_slots)
		w->m->worker_slots = r.worker + 1;
	r.model.generation = w->m->workers[r.worker].generation + 1;
	w->m->workers[r.worker] = r.model;
}

/* Its sleeper, if it sleeps; 0 none. */
static uint32_t sleeper_of(const struct world *w, uint32_t worker)
{
	for (uint32_t s = 1; s < w->m->waiter_slots; s++)
		if (w->m->waiters[s].state != TQI_WAITER_FREE && !w->m->waiters[s].dead &&
		    w->m->waiters[s].interest == TQI_INTEREST_WORK &&
		    w->m->waiters[s].subject == worker)
			return s;
	return 0;
}

static int unregister_core(struct world *w, void *arg)
{
	return tqi_worker_unregister(&w->tx, ((struct registration *)arg)->worker);
}

void op_unregister(struct world *w)
{
	struct registration r = { .worker = pick_worker(w) };
	int done;

	if (!r.worker || sleeper_of(w, r.worker) || live_workers(w) < 4)
		return;
	note(w, "unregister %u", r.worker);
	do {
		done = perform(w, unregister_core, &r, false);
		expect(w, done, model_unregister(w->m, r.worker), "unregister");
	} while (!done);
}

static struct tqi_worker *worker_record(struct world *w, uint32_t worker)
{
	return tqi_table_peek(&w->box.seg, TQI_WORKERS, worker);
}

/* The process is killed: the kernel marks what it held. */
void op_die(struct world *w)
{
	uint32_t worker = pick_worker(w), sleeper = worker ? sleeper_of(w, worker) : 0;

	if (!worker)
		return;
	note(w, "worker %u dies", worker);
	tqt_mutex_die(&worker_record(w, worker)->life);
	w->m->workers[worker].dead = true;
	if (!sleeper)
		return;
	struct tqi_waiter *s = tqi_table_peek(&w->box.seg, TQI_WAITERS, sleeper);

	tqt_mutex_die(&s->mutex);
	w->m->waiters[sleeper].dead = true;
}

struct burial {
	uint32_t worker;
	struct tqi_death death;
	struct tqi_suspect suspect;
	bool groups_empty;
};

static int dead_core(struct world *w, void *arg)
{
	const struct burial *b = arg;

	return tqi_worker_dead(&w->tx, b->worker, w->m->workers[b->worker].generation, &b->death);
}

/* A master has reaped it and says why it died. */
void op_verdict_on_worker(struct world *w)
{
	static const uint32_t causes[] = { TQ_CAUSE_SIGNAL, TQ_CAUSE_EXIT, TQ_CAUSE_OOM,
					   TQ_CAUSE_RELEASED };
	struct burial b = { .worker = 0 };

	for (uint32_t i = 1; i < w->m->worker_slots; i++)
		if (w->m->workers[i].dead && chance(w, 2))
			b.worker = i;
	if (!b.worker)
		return;
	b.death.cause = causes[below(w, 4)];
	b.death.cause_arg = (int32_t)below(w, 64);
	b.death.cpu_ns = below(w, 1000);
	note(w, "verdict on dead worker %u: cause %u", b.worker, b.death.cause);
	for (bool done = false; !done;) {
		int r = perform(w, dead_core, &b, false);

		done = model_worker_dead(w->m, b.worker, &b.death);
		expect(w, r, done, "dead");
		if (!done && chance(w, 4))
			return; /* the rest another time, by another verdict */
	}
}

static int gone_core(struct world *w, void *arg)
{
	const struct burial *b = arg;

	return tqi_worker_gone(&w->tx, &b->suspect, b->groups_empty);
}

/* What client/keeper.c does with a look's suspects. */
static void prove(struct world *w, const struct tqi_suspect *suspect)
{
	struct burial b = { .suspect = *suspect, .groups_empty = !chance(w, 4) };
	const struct model_worker *m = &w->m->workers[suspect->worker];

	if (!m->dead || m->generation != suspect->generation)
		return;
	int r = perform(w, gone_core, &b, false);

	expect(w, r, model_worker_gone(w->m, suspect->worker, b.groups_empty), "gone");
}

/* Holds of others. */

void op_time(struct world *w)
{
	uint64_t by = chance(w, 200)  ? 4000 * SECOND
		      : chance(w, 10) ? (1 + below(w, 5)) * SECOND
				      : below(w, 300) * MS;

	w->m->now_ns = w->box.now_ns += by;
	note(w, "time +%llu ms", (unsigned long long)(by / MS));
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

void op_due(struct world *w)
{
	uint32_t count = 1 + below(w, 8);

	note(w, "due %u", count);
	due(w, count);
}

static int sweep_core(struct world *w, void *arg)
{
	(void)arg;
	return tqi_sweep_slice(&w->tx);
}

static void sweep(struct world *w)
{
	int r = perform(w, sweep_core, NULL, false);
	const struct tqi_root *root = tqi_segment_root(&w->box.seg);

	expect(w, r, model_sweep_slice(w->m, root->sweep_left), "sweep");
}

static int bury_core(struct world *w, void *arg)
{
	(void)arg;
	return tqi_sleep_bury(&w->tx);
}

static bool bury(struct world *w)
{
	int r = perform(w, bury_core, NULL, false);

	expect(w, r, model_bury(w->m), "burial");
	return r;
}

/* What every hold does first, part by part. */
void op_tend(struct world *w)
{
	note(w, "tend");
	due(w, 8);
	if (model_sweep_pending(w->m))
		sweep(w);
}

/* The parts of a hold that are sliced are run out first, each in its own operation. */
static void run_out(struct world *w)
{
	while (due(w, 8))
		;
	while (model_sweep_pending(w->m))
		sweep(w);
	while (bury(w))
		;
}

void op_look(struct world *w)
{
	struct tqi_look look;

	note(w, "look");
	run_out(w);
	tqt_box_begin(&w->box, &w->tx);
	tqi_look(&w->tx, &look);
	tqi_wake_keepers(&w->tx);
	if (w->tx.corrupt)
		fail(w, "the look is corrupt");
	tqi_tx_commit(&w->tx);
	model_look(w->m);
	for (uint32_t i = 0; i < look.suspect_count; i++) {
		bool dead = w->m->workers[look.suspects[i].worker].dead;

		if (dead != look.suspects[i].hinted)
			fail(w, "worker %u: wrong hint", look.suspects[i].worker);
		prove(w, &look.suspects[i]);
	}
}

/* On a sound segment: nothing that a user sees may change. */
void op_rebuild(struct world *w)
{
	note(w, "rebuild");
	tqt_box_begin(&w->box, &w->tx);
	if (tqi_rebuild(&w->tx, scratch(w)) < 0)
		fail(w, "no memory to rebuild");
	tqi_tx_commit(&w->tx);
	model_rebuild(w->m);
	w->compare_now = true;
}

/* What a worker's process writes by itself. */

void op_renew(struct world *w)
{
	uint32_t worker = pick_worker(w);
	struct model_worker *m = &w->m->workers[worker];

	if (!worker || !m->lease_ns)
		return;
	note(w, "renew %u", worker);
	m->lease_deadline_ns = w->m->now_ns + m->lease_ns;
	tqi_store_release64(&worker_record(w, worker)->lease_deadline_ns, m->lease_deadline_ns);
}

static struct tqi_attempt *attempt_record(struct world *w, uint32_t task)
{
	return tqi_table_peek(&w->box.seg, TQI_ATTEMPTS, w->m->tasks[task].attempt.record);
}

void op_progress(struct world *w)
{
	uint32_t task = pick_task(w, TQ_RUNNING);

	if (!task)
		return;
	note(w, "progress of %u", task);
	w->m->tasks[task].attempt.progress_ns = w->m->now_ns;
	tqi_store_release64(&attempt_record(w, task)->progress_ns, w->m->now_ns);
}

static int checkpoint_core(struct world *w, void *arg)
{
	struct tqi_attempt *a =
		tqi_attempt_at(&w->tx, w->m->tasks[*(uint32_t *)arg].attempt.record);
	uint32_t block = tqi_block_take(&w->tx, TQI_CHECKPOINT_BLOCK);

	if (!block)
		return -ENOMEM;
	TQI_SET(&w->tx, a->checkpoint, block);
	return 0;
}

void op_checkpoint(struct world *w)
{
	uint32_t task = pick_task(w, TQ_RUNNING);
	struct model_attempt *m = &w->m->tasks[task].attempt;

	if (!task)
		return;
	note(w, "checkpoint of %u", task);
	if (!m->has_block && perform(w, checkpoint_core, &task, false) < 0)
		return;
	m->has_block = true;
	m->saves++;
	m->saved = pattern_make(w, 3000);
	struct tqi_attempt *a = attempt_record(w, task);
	unsigned char *half = w->box.seg.base + ((uint64_t)a->checkpoint << TQI_UNIT_SHIFT) +
			      (m->saves & 1) * TQ_CHECKPOINT_MAX;

	pattern_fill(m->saved, half);
	tqi_store_release64(&a->saved, (uint64_t)m->saves << 32 | m->saved.bytes);
}

/* A command writes into its worker's ring. */
void op_output(struct world *w)
{
	uint32_t task = pick_task(w, TQ_RUNNING);
	struct model_task *t = &w->m->tasks[task];
	struct model_worker *m = &w->m->workers[t->attempt.worker];

	if (!task || !m->output_room || m->dead)
		return;
	struct tqi_worker *record = worker_record(w, t->attempt.worker);
	unsigned char *ring = w->box.seg.base + ((uint64_t)record->output << TQI_UNIT_SHIFT);

	note(w, "output of %u", task);
	m->output_seed = below(w, 1000);
	m->output_serial = t->attempt.serial;
	m->output_head = below(w, 3 * m->output_room);
	uint64_t from = m->output_head < m->output_room ? 0 : m->output_head - m->output_room;

	for (uint64_t i = from; i < m->output_head; i++)
		ring[i % m->output_room] = pattern_byte(m->output_seed, i);
	tqi_store_release32(&record->output_serial, t->attempt.serial);
	tqi_store_release64(&record->output_head, m->output_head);
}

static int stop_core(struct world *w, void *arg)
{
	return tqi_stop_step(&w->tx, w->m->tasks[*(uint32_t *)arg].attempt.record);
}

void op_stop_step(struct world *w)
{
	uint32_t task = pick_task(w, TQ_RUNNING);

	if (!task)
		return;
	int r = perform(w, stop_core, &task, false);

	note(w, "stop step of %u: signal %d", task, r);
	expect(w, r, model_stop_step(w->m, task), "stop step");
}

/* Sleepers. */

struct sleep {
	uint32_t interest;
	uint32_t subject;
	uint32_t waiter;
	uint32_t tasks[WAIT_EDGES_MAX];
	uint32_t count;
};

static int sleep_core(struct world *w, void *arg)
{
	static const struct tqi_ident self = { .pid = 1, .tid = 1, .start = 1 };
	struct sleep *s = arg;
	bool full;

	s->waiter = tqi_sleep_enter(&w->tx, &self, s->interest, s->subject, &full);
	if (!s->waiter)
		return full ? TQ_EFULL : -ENOMEM;
	for (uint32_t i = 0; i < s->count; i++)
		if (!tqi_edge_add(&w->tx, s->waiter, s->tasks[i]))
			return -ENOMEM;
	tqi_sleep_again(&w->tx, s->waiter, UINT64_MAX);
	return tqi_wake_any(&w->tx);
}

static uint32_t waiters_in_use(const struct world *w)
{
	uint32_t n = 0;

	for (uint32_t s = 1; s < w->m->waiter_slots; s++)
		n += w->m->waiters[s].state != TQI_WAITER_FREE;
	return n;
}

static uint32_t edges_in_use(const struct world *w)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < w->m->edge_slots; e++)
		n += w->m->edges[e].waiter != 0;
	return n;
}

static void sleep(struct world *w, struct sleep *s)
{
	if (waiters_in_use(w) > 80 || edges_in_use(w) > MODEL_EDGES - 2 * WAIT_EDGES_MAX)
		return;
	int r = perform(w, sleep_core, s, false);

	note(w, "sleep interest %u of %u, %u tasks: %d, waiter %u", s->interest, s->subject,
	     s->count, r, s->waiter);
	if (r == NO_ROOM)
		return;
	if (s->waiter >= MODEL_WAITERS)
		fail(w, "wait slot %u", s->waiter);
	model_enter(w->m, s->waiter, s->interest, s->subject);
	for (uint32_t i = 0; i < s->count; i++)
		model_edge(w->m, s->waiter, s->tasks[i]);
	expect(w, r, model_wake_any(w->m), "wake on the way to sleep");
}

void op_sleep(struct world *w)
{
	struct sleep s = { .interest = TQI_INTEREST_WORK, .subject = pick_worker(w) };

	if (s.subject && !sleeper_of(w, s.subject))
		sleep(w, &s);
}

/* Many on one task at times, so that telling takes more than one slice. */
void op_wait(struct world *w)
{
	struct sleep s = { .interest = TQI_INTEREST_TASKS };
	uint32_t count = chance(w, 3) ? 1 + below(w, WAIT_EDGES_MAX) : 1;
	uint32_t favourite = 1 + (uint32_t)(w->op / 2000) % w->m->task_slots;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t task = pick_task(w, chance(w, 4) ? TQ_STATE_COUNT : TQ_READY);

		if (chance(w, 2) && favourite < w->m->task_slots &&
		    w->m->tasks[favourite].state != TQ_FREE)
			task = favourite;
		if (task)
			s.tasks[s.count++] = task;
	}
	if (s.count)
		sleep(w, &s);
}

void op_wait_room(struct world *w)
{
	struct sleep s = { .interest = TQI_INTEREST_ROOM,
			   .subject = chance(w, 2) ? 1 + below(w, MODEL_QUEUES) : 0 };

	sleep(w, &s);
}

static uint32_t pick_sleeper(struct world *w)
{
	uint32_t slots = w->m->waiter_slots, at = below(w, slots);

	for (uint32_t i = 0; i < slots; i++) {
		const struct model_waiter *s = &w->m->waiters[at];

		/* Those in transit are on their way: more often. */
		if (s->state != TQI_WAITER_FREE && !s->dead &&
		    (s->state == TQI_WAITER_TRANSIT || chance(w, 4)))
			return at;
		at = at + 1 < slots ? at + 1 : 0;
	}
	return 0;
}

static int again_core(struct world *w, void *arg)
{
	tqi_sleep_again(&w->tx, *(uint32_t *)arg, UINT64_MAX);
	return tqi_wake_any(&w->tx);
}

static int drop_core(struct world *w, void *arg)
{
	return tqi_edge_drop(&w->tx, *(uint32_t *)arg, 8);
}

static int leave_core(struct world *w, void *arg)
{
	tqi_sleep_leave(&w->tx, *(uint32_t *)arg);
	return tqi_wake_any(&w->tx);
}

static void leave(struct world *w, uint32_t waiter)
{
	for (bool done = false; !done;) {
		int r = perform(w, drop_core, &waiter, false);

		done = model_edges_drop(w->m, waiter, 8);
		expect(w, r, done, "drop of edges");
	}
	int r = perform(w, leave_core, &waiter, false);

	model_leave(w->m, waiter);
	expect(w, r, model_wake_any(w->m), "wake on leaving");
}

/* A sleeper comes back: to sleep again, or to leave. */
void op_back(struct world *w)
{
	uint32_t waiter = pick_sleeper(w);

	if (!waiter)
		return;
	if (chance(w, 2)) {
		note(w, "waiter %u leaves", waiter);
		leave(w, waiter);
		return;
	}
	note(w, "waiter %u sleeps again", waiter);
	int r = perform(w, again_core, &waiter, false);

	model_relink(w->m, waiter);
	expect(w, r, model_wake_any(w->m), "wake on the way to sleep");
}

void op_sleeper_dies(struct world *w)
{
	uint32_t waiter = pick_sleeper(w);

	if (!waiter || w->m->waiters[waiter].interest == TQI_INTEREST_WORK)
		return; /* a worker's sleeper dies with its process: op_die() */
	struct tqi_waiter *s = tqi_table_peek(&w->box.seg, TQI_WAITERS, waiter);

	note(w, "waiter %u dies", waiter);
	tqt_mutex_die(&s->mutex);
	w->m->waiters[waiter].dead = true;
}

/* Memory. */

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
