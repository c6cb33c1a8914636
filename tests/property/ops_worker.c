/* SPDX-License-Identifier: MIT */
/* Workers: registration, leases, deaths. */
#include <errno.h>

#include "scheduler/worker/worker.h"
#include "scheduler/task/depart.h"
#include "tests/property/world.h"

#define SECOND 1000000000ull

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
	uint32_t first = below(w, MODEL_STAYING_QUEUES);

	m->queue_count = 1 + below(w, 4);
	for (uint32_t i = 0; i < m->queue_count; i++) {
		m->queues[i] = i && chance(w, 20) ? MODEL_QUEUES
						  : 1 + (first + i) % MODEL_STAYING_QUEUES;
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
	m->flags |= chance(w, 2) ? TQI_WORKER_COMMANDS : 0;
	m->lease_ns = chance(w, 2) ? (1 + below(w, 6)) * SECOND : 0;
	m->grace_ns = below(w, 3) * SECOND;
	m->master = m->flags & TQI_WORKER_MASTER ? 0 : some_master(w);
	m->master_generation = m->master ? w->m->workers[m->master].generation : 0;
	m->lease_deadline_ns = m->lease_ns ? w->m->now_ns + m->lease_ns : 0;
	m->output_room = chance(w, 2) ? 2 * TQI_OUTPUT_CHUNK << below(w, 3) : 0;
	m->steal_max = below(w, 4);
	m->steal_capacity = below(w, 1001);
	m->steal_interval_ns = chance(w, 2) ? below(w, 3) * SECOND : 0;
	r->request.flags = m->flags;
	r->request.steal_max = m->steal_max;
	r->request.steal_capacity = m->steal_capacity;
	r->request.steal_interval_ns = m->steal_interval_ns;
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
