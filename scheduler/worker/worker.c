/* SPDX-License-Identifier: MIT */
/* Workers: registration, leases, suspects. */
#include "scheduler/worker/worker.h"

#include <errno.h>
#include <string.h>

#include "scheduler/order/assign.h"
#include "scheduler/wake/asleep.h"
#include "scheduler/worker/command.h"
#include "scheduler/order/queue.h"
#include "scheduler/record/serves.h"
#include "scheduler/worker/stop.h"
#include "scheduler/wake/wake.h"
#include "scheduler/worker/step.h"
#include "shm/lock.h"
#include "shm/pool.h"
#include "shm/span.h"

#define VERDICT_WAIT_NS 1000000000ull /* a master has 1 s to say why its worker died */
#define BUSY_MAX 8		      /* slots whose life lock a dying thread still holds */
#define BEATS_PER_LEASE 3

static int find_master(struct tqi_tx *tx, const char *name)
{
	for (uint32_t w = 1; w < tx->core->tables[TQI_WORKERS].count && !tx->corrupt; w++) {
		struct tqi_worker *worker = tqi_worker_at(tx, w);

		if (worker->state == TQI_WORKER_LIVE && (worker->flags & TQI_WORKER_MASTER) &&
		    !tqi_mutex_owner_died(&worker->life) &&
		    strncmp(worker->name, name, sizeof(worker->name)) == 0)
			return -EEXIST;
	}
	return 0;
}

static bool take_life(struct tqi_worker *worker)
{
	if (worker->life_made == 0) {
		tqi_lock_init(&worker->life);
		TQI_INIT(worker->life_made, 1);
	}
	return tqi_mutex_take(&worker->life) == 0;
}

/* A free slot whose life lock is free too. */
static uint32_t take_slot(struct tqi_tx *tx, bool *ret_full, bool *ret_polled)
{
	uint32_t busy[BUSY_MAX], count = 0, w = 0;

	while (count < BUSY_MAX) {
		w = tqi_table_take(tx, TQI_WORKERS, ret_full);
		if (!w || take_life(tqi_worker_at(tx, w)))
			break;
		if (count + 1 == BUSY_MAX) { /* held by threads that live: without a hint, then */
			*ret_polled = true;
			break;
		}
		busy[count++] = w;
	}
	while (count > 0)
		tqi_table_give(tx, TQI_WORKERS, busy[--count]);
	return w;
}

/* Names stay, whatever comes of who wanted them: many are made in several transactions. */
static int make_names(struct tqi_tx *tx, const char *const *names, uint32_t count,
		      uint32_t (*make)(struct tqi_tx *tx, const char *name, bool *ret_full),
		      int full_error)
{
	for (uint32_t i = 0; i < count; i++) {
		bool full;

		if (!make(tx, names[i], &full))
			return full ? full_error : -ENOMEM;
		if (tqi_tx_is_filling(tx))
			tqi_step(tx);
	}
	return 0;
}

int tqi_worker_make_kinds(struct tqi_tx *tx, const char *const *kinds, uint32_t count)
{
	return make_names(tx, kinds, count, tqi_kind_make, TQ_EKINDS);
}

/* UN-1: what a worker names is not given back.  It names these kinds instead of those before. */
static void name_kinds(struct tqi_tx *tx, struct tqi_worker *worker, const uint64_t kinds[4])
{
	const bool had_names = !tqi_kinds_are_all(worker->kinds);
	const bool has_names = !tqi_kinds_are_all(kinds);

	for (uint32_t i = 0; i < 4; i++) {
		const uint64_t is = has_names ? kinds[i] : 0;
		const uint64_t was = had_names ? worker->kinds[i] : 0;

		for (uint64_t bits = is ^ was; bits && !tx->corrupt; bits &= bits - 1) {
			const uint32_t bit = (uint32_t)__builtin_ctzll(bits);

			TQI_ADD(tx, tqi_kind_at(tx, i * 64 + bit)->users, is >> bit & 1 ? 1 : -1);
		}
		TQI_SET(tx, worker->kinds[i], kinds[i]);
	}
}

static void name_queues(struct tqi_tx *tx, const struct tqi_worker *worker, int amount)
{
	for (uint32_t i = 0; i < TQ_WORKER_QUEUES_MAX && !tx->corrupt; i++)
		if (tqi_worker_has_queue(worker, i))
			TQI_ADD(tx, tqi_queue_at(tx, worker->queues[i])->users, amount);
}

void tqi_worker_unname(struct tqi_tx *tx, struct tqi_worker *worker)
{
	static const uint64_t all[4] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };

	name_queues(tx, worker, -1);
	name_kinds(tx, worker, all);
}

static int set_queues(struct tqi_tx *tx, struct tqi_worker *worker,
		      const struct tqi_worker_request *request)
{
	for (uint32_t i = 0; i < request->queue_count; i++) {
		bool full;
		uint32_t q = tqi_queue_make(tx, request->queues[i], &full);

		if (!q)
			return full ? TQ_EQUEUES : -ENOMEM;
		TQI_INIT(worker->queues[i], (uint16_t)q);
	}
	TQI_INIT(worker->queue_count, request->queue_count);
	name_queues(tx, worker, 1);
	return 0;
}

int tqi_worker_set_kinds(struct tqi_tx *tx, uint32_t w, const char *const *kinds, uint32_t count)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);
	uint64_t bits[4];

	memset(bits, kinds ? 0 : 0xff, sizeof(bits));
	for (uint32_t i = 0; i < count; i++) {
		bool full;
		uint32_t k = tqi_kind_make(tx, kinds[i], &full);

		if (!k)
			return full ? TQ_EKINDS : -ENOMEM;
		bits[k / 64 & 3] |= 1ull << (k % 64);
	}
	uint32_t asleep = worker->asleep;

	if (memcmp(worker->kinds, bits, sizeof(bits)) == 0)
		return 0;
	tqi_asleep_leave(tx, w);
	name_kinds(tx, worker, bits);
	if (asleep)
		tqi_asleep_enter(tx, w, asleep);
	return 0;
}

/* The first attempt record and its span, so that one claim can always be made. */
static int reserve_attempt(struct tqi_tx *tx)
{
	bool full;
	uint32_t a = tqi_table_take(tx, TQI_ATTEMPTS, &full);

	if (!a)
		return full ? TQ_EFULL : -ENOMEM;
	tqi_table_give(tx, TQI_ATTEMPTS, a);
	return 0;
}

static void fill(struct tqi_tx *tx, struct tqi_worker *worker,
		 const struct tqi_worker_request *request)
{
	TQI_INIT(worker->owner, *request->owner);
	TQI_INIT(worker->flags, request->flags);
	TQI_INIT(worker->kill, request->kill);
	TQI_INIT(worker->attempts, 0);
	TQI_INIT(worker->attempt_count, 0);
	TQI_INIT(worker->waiting, 0);
	TQI_INIT(worker->master, request->master);
	TQI_INIT(worker->master_generation,
		 request->master ? tqi_worker_at(tx, request->master)->generation : 0);
	TQI_INIT(worker->lease_ns, request->lease_ns);
	TQI_INIT(worker->grace_ns, request->grace_ns);
	TQI_INIT(worker->registered_ns, tx->now_ns);
	TQI_INIT(worker->suspect_ns, 0);
	TQI_INIT(worker->dying_ns, 0);
	TQI_INIT(worker->tasks, 0);
	TQI_INIT(worker->assigned, 0);
	TQI_INIT(worker->assigned_last, 0);
	TQI_INIT(worker->assigned_count, 0);
	TQI_INIT(worker->steal_max, request->steal_max);
	TQI_INIT(worker->steal_capacity, request->steal_capacity);
	TQI_INIT(worker->steal_interval_ns, request->steal_interval_ns);
	TQI_INIT(worker->stole_ns, 0);
	TQI_INIT(worker->stolen, 0);
	TQI_INIT(worker->command, 0);
	TQI_INIT(worker->command_seen, 0);
	TQI_INIT(worker->output, 0);
	TQI_INIT(worker->output_bytes, 0);
	memset(worker->name, 0, sizeof(worker->name));
	memcpy(worker->name, request->name, strnlen(request->name, TQ_NAME_MAX));
	tqi_store_relaxed64(&worker->lease_deadline_ns,
			    request->lease_ns ? tx->now_ns + request->lease_ns : 0);
	tqi_store_relaxed64(&worker->output_head, 0);
	tqi_store_relaxed32(&worker->output_serial, 0);
	for (int i = 0; i < TQI_READERS; i++)
		tqi_store_relaxed64(&worker->readers[i].name, 0);
}

int tqi_worker_register(struct tqi_tx *tx, const struct tqi_worker_request *request,
			uint32_t *ret_worker)
{
	bool full = true, polled = false;

	if (tqi_root(tx)->flags & TQI_ROOT_DESTROYED)
		return TQ_ESHUTDOWN;
	int r = request->flags & TQI_WORKER_MASTER ? find_master(tx, request->name) : 0;

	if (r == 0)
		r = make_names(tx, request->queues, request->queue_count, tqi_queue_make,
			       TQ_EQUEUES);
	if (r == 0)
		r = tqi_worker_make_kinds(tx, request->kinds, request->kind_count);
	if (r == 0)
		r = reserve_attempt(tx);
	if (r < 0)
		return r;
	/* Many can have the least ring out of the last memory, and nobody more. */
	tx->spares = request->output_bytes > TQI_OUTPUT_LEAST ? TQI_SPARES_ALL : TQI_SPARES_NOTHING;
	uint32_t output = request->output_bytes ? tqi_block_take(tx, request->output_bytes) : 0;

	tx->spares = TQI_SPARES_NOTHING;
	if (request->output_bytes && !output)
		return -ENOMEM;
	uint32_t w = take_slot(tx, &full, &polled);

	if (!w)
		return full ? TQ_EFULL : -ENOMEM;
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	if (!polled)
		tx->taken = &worker->life; /* released again if this transaction is aborted */
	fill(tx, worker, request);
	if (polled)
		TQI_INIT(worker->flags, worker->flags | TQI_WORKER_POLLED);
	TQI_INIT(worker->output, output);
	TQI_INIT(worker->output_bytes, request->output_bytes);
	r = tqi_heap_reserve(tx, &tqi_root(tx)->owners, tx->core->tables[TQI_WORKERS].live);
	if (r == 0)
		r = set_queues(tx, worker, request);
	if (r == 0)
		r = tqi_worker_set_kinds(tx, w, request->kinds, request->kind_count);
	if (r < 0)
		return r;
	TQI_ADD(tx, worker->generation, 1);
	TQI_SET(tx, worker->state, TQI_WORKER_LIVE);
	if (request->flags & TQI_WORKER_EMPTY)
		TQI_ADD(tx, tqi_root(tx)->empty_workers, 1);
	*ret_worker = w;
	return 0;
}

void tqi_worker_relive_now(struct tqi_tx *tx, struct tqi_worker *worker)
{
	if (tqi_mutex_take(&worker->life) < 0)
		return;
	if (worker->flags & TQI_WORKER_POLLED)
		TQI_SET(tx, worker->flags, worker->flags & ~TQI_WORKER_POLLED);
}

static void note_group(struct tqi_suspect *suspect, uint32_t pgid, uint64_t start, uint64_t id)
{
	uint32_t i = suspect->group_count++;

	if (i >= TQI_GROUPS_MAX)
		return;
	suspect->groups[i].pgid = pgid;
	suspect->groups[i].start = start;
	suspect->groups[i].id = id;
}

/* What a handler forked is in the worker's group, what a command did in the command's. */
static void note_groups(struct tqi_tx *tx, const struct tqi_worker *worker,
			struct tqi_suspect *suspect)
{
	uint32_t steps = 0;

	suspect->group_count = 0;
	if (worker->flags & TQI_WORKER_GROUP)
		note_group(suspect, worker->owner.pid, worker->owner.start, 0);
	for (uint32_t a = worker->attempts; a && tqi_table_walks(tx, TQI_ATTEMPTS, &steps);) {
		struct tqi_attempt *attempt = tqi_attempt_at(tx, a);
		uint32_t pgid = tqi_load_acquire32(&attempt->pgid);

		if (pgid)
			note_group(suspect, pgid, tqi_load_relaxed64(&attempt->pgid_start),
				   attempt->id);
		a = attempt->next;
	}
}

static bool master_is_alive(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	if (!worker->master)
		return false;
	struct tqi_worker *master = tqi_worker_at(tx, worker->master);

	return master->state == TQI_WORKER_LIVE &&
	       master->generation == worker->master_generation &&
	       !tqi_mutex_owner_died(&master->life);
}

bool tqi_worker_suspect(struct tqi_tx *tx, uint32_t w, struct tqi_suspect *ret_suspect)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);

	if (tx->corrupt || worker->state == TQI_WORKER_FREE)
		return false;
	ret_suspect->worker = w;
	ret_suspect->generation = worker->generation;
	ret_suspect->owner = worker->owner;
	ret_suspect->hinted = false;
	ret_suspect->orphaned = !master_is_alive(tx, worker);
	note_groups(tx, worker, ret_suspect);
	return true;
}

struct tqi_worker *tqi_worker_find(struct tqi_tx *tx, uint32_t w, uint64_t generation)
{
	if (w == 0 || w >= tx->core->tables[TQI_WORKERS].count)
		return NULL;
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	return worker->state != TQI_WORKER_FREE && worker->generation == generation ? worker : NULL;
}

void tqi_worker_stop(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	if (worker->flags & TQI_WORKER_STOP)
		return;
	TQI_SET(tx, worker->flags, worker->flags | TQI_WORKER_STOP);
	tqi_wake_worker(tx, w);
}

uint32_t tqi_worker_of(struct tqi_tx *tx, uint32_t master, uint32_t pid)
{
	const uint64_t generation = tqi_worker_at(tx, master)->generation;

	for (uint32_t w = 1; w < tx->core->tables[TQI_WORKERS].count && !tx->corrupt; w++) {
		const struct tqi_worker *worker = tqi_worker_at(tx, w);

		if (worker->state != TQI_WORKER_FREE && worker->owner.pid == pid &&
		    worker->master == master && worker->master_generation == generation)
			return w;
	}
	return 0;
}

void tqi_worker_poll(struct tqi_tx *tx, const struct tqi_suspect *suspect)
{
	struct tqi_worker *worker = tqi_worker_find(tx, suspect->worker, suspect->generation);

	if (worker && worker->state == TQI_WORKER_LIVE)
		TQI_SET(tx, worker->flags, worker->flags | TQI_WORKER_POLLED);
}

bool tqi_worker_waits_for_master(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);

	return worker->state == TQI_WORKER_DYING && master_is_alive(tx, worker) &&
	       tx->now_ns - worker->dying_ns < VERDICT_WAIT_NS;
}

/* All attempts of a worker whose lease has run out are asked to stop. */
static void lose_lease(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	uint32_t steps = 0;

	for (uint32_t a = worker->attempts;
	     a && tqi_table_walks(tx, TQI_ATTEMPTS, &steps) && !tqi_tx_is_filling(tx);
	     a = tqi_attempt_at(tx, a)->next)
		tqi_stop_ask(tx, a, TQ_CAUSE_LEASE_LOST);
}

void tqi_worker_judge(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);
	uint64_t deadline = tqi_load_acquire64(&worker->lease_deadline_ns);
	uint64_t unbroken = tqi_root(tx)->unbroken_ns;

	if (!worker->lease_ns || !worker->attempts || deadline >= tx->now_ns) {
		if (worker->flags & TQI_WORKER_SUSPECT)
			TQI_SET(tx, worker->flags, worker->flags & ~TQI_WORKER_SUSPECT);
		return;
	}
	if (!(worker->flags & TQI_WORKER_SUSPECT)) {
		TQI_SET(tx, worker->flags, worker->flags | TQI_WORKER_SUSPECT);
		TQI_SET(tx, worker->suspect_ns, tx->now_ns);
		return;
	}
	/* One more beat, of time in which the judge itself was never stopped. */
	uint64_t since = worker->suspect_ns > unbroken ? worker->suspect_ns : unbroken;

	if (tx->now_ns - since >= worker->lease_ns / BEATS_PER_LEASE)
		lose_lease(tx, worker);
}
