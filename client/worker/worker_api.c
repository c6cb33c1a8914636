/* SPDX-License-Identifier: MIT */
/* Registering workers; claims and verdicts. */
#include "client/worker/worker_api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/batch.h"
#include "client/core/current_attempt.h"
#include "client/core/hold.h"
#include "client/core/options.h"
#include "client/core/removal.h"
#include "client/core/sleeper.h"
#include "client/core/stopper.h"
#include "scheduler/order/assign.h"
#include "scheduler/task/claim.h"
#include "scheduler/task/kept.h"
#include "scheduler/task/depart.h"
#include "scheduler/order/queue.h"
#include "scheduler/limit/server.h"
#include "scheduler/worker/command.h"
#include "scheduler/worker/keepers.h"
#include "scheduler/worker/stop.h"
#include "scheduler/wake/wake.h"
#include "shm/pool.h"

#define GRACE_NS 5000000000ull /* 5 s */
#define CLOSE_TRIES 10 /* lock time-outs that tq_worker_close() sits out */

struct tqi_worker *tqi_worker_record(struct tq_worker *worker)
{
	return tqi_table_peek(&worker->tq->seg, TQI_WORKERS, worker->index);
}

struct tqi_attempt *tqi_claim_record(struct tq_worker *worker, const struct tq_claim *claim)
{
	struct tqi_attempt *a = tqi_table_peek(&worker->tq->seg, TQI_ATTEMPTS, claim->slot);

	/* Its owner reads it: nobody frees an attempt behind its living owner's back. */
	return a && a->worker == worker->index && a->id == claim->id && a->epoch == claim->epoch
		       ? a
		       : NULL;
}

static bool stealing_is_valid(const struct tq_stealing *s)
{
	return (s->max_count <= TQ_BATCH_MAX || s->max_count == TQ_OFF) &&
	       (s->min_capacity <= 1000 || s->min_capacity == TQ_OFF) &&
	       s->interval_ns <= TQI_NS_MAX;
}

static uint32_t setting(uint32_t given, uint32_t normal)
{
	return given == TQ_OFF ? 0 : given ? given : normal;
}

static int check_options(const struct tq_worker_opts *o)
{
	if (o->queue_count > TQ_WORKER_QUEUES_MAX || o->kind_count > TQI_KINDS_MAX ||
	    (o->queue_count && !o->queues) || (o->kind_count && !o->kinds) ||
	    (o->flags & ~(TQ_WORKER_HEARTBEAT | TQ_WORKER_COMMANDS)) || o->kill > TQ_KILL_PROCESS ||
	    o->lease_ns > TQI_NS_MAX || o->grace_ns > TQI_NS_MAX ||
	    !stealing_is_valid(&o->stealing))
		return -EINVAL;
	for (uint32_t i = 0; i < o->queue_count; i++)
		if (!o->queues[i] || !tqi_name_is_valid(o->queues[i]))
			return -EINVAL;
	for (uint32_t i = 0; i < o->kind_count; i++)
		if (!o->kinds[i] || !tqi_name_is_valid(o->kinds[i]))
			return -EINVAL;
	return o->name && !tqi_name_is_valid(o->name) ? -EINVAL : 0;
}

struct registration {
	struct tqi_worker_request request;
	struct tq_worker *worker;
};

static int register_op(struct tqi_tx *tx, void *arg)
{
	struct registration *reg = arg;
	int r = tqi_worker_register(tx, &reg->request, &reg->worker->index);

	if (r == 0)
		reg->worker->generation = tqi_worker_at(tx, reg->worker->index)->generation;
	return r;
}

static int open_registered(struct tq *tq, const struct tq_worker_opts *o,
			   const struct tqi_worker_extra *extra, struct tq_worker *worker)
{
	static const char *const default_queue[] = { "default" };
	const struct tqi_ident self = tqi_ident_self(tq);

	worker->tq = tq;
	worker->pid = tqi_pid_self(tq);
	worker->lease_ns = o->lease_ns;
	worker->grace_ns = o->grace_ns ? o->grace_ns : GRACE_NS;
	worker->farms = extra->master != 0;
	worker->until_empty = extra->flags & TQI_WORKER_EMPTY;
	struct registration reg = {
		.worker = worker,
		.request = {
			.owner = &self,
			.name = o->name ? o->name : "",
			.queues = o->queue_count ? o->queues : default_queue,
			.queue_count = o->queue_count ? o->queue_count : 1,
			.kinds = o->kind_count ? o->kinds : NULL,
			.kind_count = o->kind_count,
			.kill = o->kill,
			.lease_ns = o->lease_ns,
			.grace_ns = worker->grace_ns,
			.flags = extra->flags |
				 (o->flags & TQ_WORKER_COMMANDS ? TQI_WORKER_COMMANDS : 0),
			.output_bytes = extra->output_bytes,
			.steal_max = setting(o->stealing.max_count, TQ_STEAL_COUNT_DEFAULT),
			.steal_capacity =
				setting(o->stealing.min_capacity, TQ_STEAL_CAPACITY_DEFAULT),
			.steal_interval_ns = o->stealing.interval_ns,
			.master = extra->master,
		},
	};

	return tqi_run(tq, register_op, &reg);
}

int tqi_worker_open(struct tq *tq, const struct tq_worker_opts *opts,
		    const struct tqi_worker_extra *extra, struct tq_worker **ret_worker)
{
	struct tq_worker_opts o;
	int r = tqi_options_in(&o, sizeof(o), sizeof(o), opts);

	if (r == 0)
		r = check_options(&o);
	if (r < 0)
		return r;
	struct tq_worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return -ENOMEM;
	r = open_registered(tq, &o, extra, worker);
	if (r < 0) {
		free(worker);
		return r;
	}
	if (o.flags & TQ_WORKER_HEARTBEAT)
		r = tqi_heartbeat_start(worker, &worker->heartbeat);
	if (r < 0) {
		tq_worker_close(worker);
		return r;
	}
	*ret_worker = worker;
	return 0;
}

int tq_worker_open(struct tq *tq, const struct tq_worker_opts *opts, struct tq_worker **ret_worker)
{
	if (!tq || !ret_worker)
		return -EINVAL;
	static const struct tqi_worker_extra none = { 0 };

	return tqi_worker_open(tq, opts, &none, ret_worker);
}

/* The segment is destroyed: our thread must not hold a lock in memory that goes. */
static void release_life(struct tq_worker *worker)
{
	struct tqi_worker *record = tqi_worker_record(worker);
	const struct tqi_self *self = tqi_self(worker->tq);

	if (record && self && tqi_mutex_owner(&record->life) == self->thread.tid)
		pthread_mutex_unlock(&record->life);
}

static bool is_foreign(struct tq_worker *worker)
{
	const struct tqi_worker *record = tqi_worker_record(worker);
	const struct tqi_self *self = tqi_self(worker->tq);
	uint32_t owner = record ? tqi_mutex_owner(&record->life) : 0;

	return owner && (!self || owner != self->thread.tid);
}

struct tq_worker *tq_worker_close(struct tq_worker *worker)
{
	uint32_t tries = 0, locked = 0;
	bool done = false;

	if (!worker)
		return NULL;
	if (tqi_worker_usable(worker) < 0) { /* a child's copy: the worker is its parent's */
		free(worker);
		return NULL;
	}
	tqi_heartbeat_stop(worker->heartbeat);
	/* Another thread opened it: its life lock, in that thread's list, stays locked. */
	if (is_foreign(worker))
		tqi_store_relaxed32(&worker->tq->mapped, 1);
	while (!done) {
		struct tqi_tx tx;

		int r = tqi_hold_begin(worker->tq, &tx);

		if (r == TQ_EREMOVED) /* RM-3: somebody may wait for it to be gone */
			r = tqi_hold_force(worker->tq, &tx);
		if (r == TQ_ELOCKED && locked++ < CLOSE_TRIES)
			continue; /* its claims wait for this: worth more patience than a call */
		if (r < 0) {
			if (r == TQ_ESHUTDOWN)
				release_life(worker); /* nobody will look any more */
			break;
		}
		done = tqi_worker_unregister(&tx, worker->index);
		if (tqi_hold_again(worker->tq, &tx, &tries))
			done = false;
		else if (tqi_hold_end(worker->tq, &tx, 0) < 0)
			break;
	}
	free(worker);
	return NULL;
}

/* What a claim or a verdict-and-claim needs over its holds. */
struct claiming {
	struct tq_worker *worker;
	struct tq_claim *claims;
	uint32_t room;
	uint32_t count;
	struct {
		uint64_t id; /* 0 none */
		uint64_t epoch;
		uint32_t slot;
	} ended; /* the claim whose verdict is still to be made */
	const struct tqi_verdict *verdict;
	uint32_t tries; /* to make room for what the verdict wants kept */
	int verdict_r;
	bool look; /* nobody has looked for the dead for a while */
};

/* What earlier attempts have left: few have. */
static inline void fill_kept(struct tqi_tx *tx, const struct tqi_attempt *a, struct tq_claim *claim)
{
	struct tqi_kept_view view = { .kept = NULL };

	if (__builtin_expect(a->inherited != 0, 0))
		view = tqi_kept_at(tx, a->inherited, a->inherited_bytes);
	const bool reported = view.kept && view.kept->reported;

	claim->checkpoint = view.checkpoint;
	claim->checkpoint_bytes = view.checkpoint_bytes;
	claim->progress_text = reported ? view.kept->report.text : NULL;
	claim->progress_percent = reported ? view.kept->report.percent : 0;
}

/* Filled under the lock: the record is the task's, and pinned from now on. */
static inline __attribute__((always_inline)) void fill_claim(struct tqi_tx *tx,
							     const struct tqi_claimed *c,
							     struct tq_claim *claim)
{
	const struct tqi_task *task = c->of;
	const struct tqi_attempt *a = c->as;

	claim->id = c->id;
	claim->epoch = task->epoch;
	claim->payload = task->payload ? tqi_unit(tx, task->payload) : NULL;
	__builtin_prefetch(claim->payload); /* the worker reads it next */
	claim->payload_bytes = task->payload_bytes;
	fill_kept(tx, a, claim);
	claim->server = a->server ? tqi_server_at(tx, a->server)->name : NULL;
	claim->timeout_at_ns = c->timeout_at_ns;
	claim->attempt = task->attempts;
	claim->slot = c->attempt;
	memcpy(claim->kind, tqi_kind_at(tx, task->kind)->name, sizeof(claim->kind));
	memcpy(claim->queue, tqi_queue_at(tx, task->queue)->name, sizeof(claim->queue));
}

static inline __attribute__((always_inline)) int claim_one(struct tqi_tx *tx, struct claiming *c)
{
	struct tqi_claimed claimed;
	int r = tqi_claim(tx, c->worker->index, &claimed);

	if (r == 0 && !tx->corrupt)
		fill_claim(tx, &claimed, &c->claims[c->count++]);
	return r;
}

/* Nothing to claim: is there ever going to be? */
static int nothing(struct tqi_tx *tx, const struct claiming *c)
{
	const struct tqi_worker *record = tqi_worker_at(tx, c->worker->index);
	bool shutdown = tqi_root(tx)->flags & TQI_ROOT_SHUTDOWN;

	if (!shutdown && !c->worker->until_empty)
		return -EAGAIN;
	if (!tqi_worker_is_idle(tx, record))
		return -EAGAIN;
	return shutdown ? TQ_ESHUTDOWN : -ENODATA;
}

static int end_first(struct tqi_tx *tx, struct claiming *c)
{
	int r = tqi_end(tx, c->worker->index, c->ended.slot, c->ended.id, c->ended.epoch,
			c->verdict);

	if (r == 0 && tx->lacked && c->tries < TQI_ROOM_TRIES) { /* room first, then once more */
		tqi_tx_abort(tx);
		tqi_tx_begin(tx, tx->now_ns);
		return -ENOMEM;
	}
	c->verdict_r = r;
	c->ended.id = 0;
	return r;
}

/*
 * One more, in the transaction of those before it (BA-1).  If it finds much to clear away
 * first, it does so in one of its own, as any other (LM-6).
 */
static __attribute__((noinline)) int claim_more(struct tqi_tx *tx, struct claiming *c)
{
	for (bool again = false;; again = true) {
		const bool begins = again || c->count % TQI_BATCH_SHARED == 0 ||
				    tqi_tx_is_filling(tx);

		if (begins)
			tqi_step(tx);
		const int r = claim_one(tx, c);

		if (begins || (r != -EALREADY && r != -EINPROGRESS))
			return r;
	}
}

/* As many as there is room for; 0: at least one. */
static inline int claim_some(struct tqi_tx *tx, struct claiming *c)
{
	int r = claim_one(tx, c);

	while (r == 0 && c->count < c->room)
		r = claim_more(tx, c);
	if (c->count && c->worker->lease_ns)
		tqi_store_release64(&tqi_worker_at(tx, c->worker->index)->lease_deadline_ns,
				    tx->now_ns + c->worker->lease_ns);
	return c->count ? 0 : r;
}

/* Tasks are left to others. */
static int claim_command(struct tqi_tx *tx, const struct claiming *c)
{
	return tqi_command_take(tx, c->worker->index) ? TQ_ECOMMAND : -EAGAIN;
}

/*
 * In one hold; *ret_wake_ns: when there may be something to steal, if there is nothing else.
 * `listed`: asleep, and woken for another reason than that there be work for it (WT-7).
 */
TQI_TWICE int try_claim(struct tqi_tx *tx, struct claiming *c, bool listed, uint64_t *ret_wake_ns)
{
	int r = c->ended.id ? end_first(tx, c) : 0;

	*ret_wake_ns = UINT64_MAX;
	if (r < 0 && r != TQ_ELEASE)
		return r;
	struct tqi_worker *record = tqi_worker_at(tx, c->worker->index);

	tqi_worker_relive(tx, record);
	if (record->flags & TQI_WORKER_STOP)
		return -ECANCELED; /* our farm's: told to end */
	c->look = tqi_look_is_due(tx);
	r = listed && tqi_work_is_covered(tx) ? claim_command(tx, c) : claim_some(tx, c);
	if (r == -EAGAIN && tqi_root(tx)->assigned)
		*ret_wake_ns = tqi_steal_due(tx, c->worker->index);
	if (r == -EALREADY)
		return -EINPROGRESS; /* others first */
	return r == -EAGAIN ? nothing(tx, c) : r;
}

static int claim_attempt(struct tqi_tx *tx, struct tqi_sleeper *s)
{
	const bool listed = s->waiter && tqi_waiter_at(tx, s->waiter)->state == TQI_WAITER_LISTED;

	return try_claim(tx, s->arg, listed, &s->wake_ns);
}

/* -ENOMEM: try again.  A verdict goes on without room; a claim does not. */
static int more_room(struct tq *tq, struct claiming *c)
{
	int r = tqi_make_room(tq, 0);

	if (c->ended.id)
		c->tries = r < 0 ? TQI_ROOM_TRIES : c->tries + 1;
	return r < 0 && !c->ended.id ? TQ_EFULL : -ENOMEM;
}

/* Nothing was found at once, for this reason: asleep, until there is something. */
static __attribute__((noinline)) int await_claim(struct claiming *c, uint64_t timeout_ns,
						 struct tqi_tx *tx, int r, uint64_t wake_ns)
{
	struct tqi_sleeper s = {
		.interest = TQI_INTEREST_WORK,
		.subject = c->worker->index,
		.deadline_ns = timeout_ns ? tqi_deadline(c->worker->tq, timeout_ns) : 0,
		.wake_ns = wake_ns,
		.attempt = claim_attempt,
		.arg = c,
	};

	return tqi_block_from(c->worker->tq, &s, tx, r);
}

static inline __attribute__((always_inline)) int claim_now(struct claiming *c, uint64_t timeout_ns)
{
	struct tq *tq = c->worker->tq;
	struct tqi_tx tx;
	uint64_t wake_ns;
	int r = tqi_hold_begin_inline(tq, &tx);

	if (r == TQ_EREMOVED)
		tqi_dismiss(tq, TQI_LOST_REMOVED); /* RM-1 */
	if (r < 0)
		return r;
	tqi_tend(&tx);
	r = try_claim(&tx, c, false, &wake_ns);
	return r == 0 ? tqi_hold_commit_inline(tq, &tx, 0)
		      : await_claim(c, timeout_ns, &tx, r, wake_ns);
}

static int run_claim(struct claiming *c, uint64_t timeout_ns)
{
	struct tq *tq = c->worker->tq;
	int r;

	do {
		r = claim_now(c, timeout_ns);
		if (r == -ENOMEM)
			r = more_room(tq, c);
	} while (r == -ENOMEM);
	/* Where all are busy, nobody sleeps and keeps: then whoever claims does, once a second. */
	if (c->look)
		tqi_keep(tq);
	if (c->count) {
		if (c->worker->heartbeat)
			tqi_heartbeat_busy(c->worker->heartbeat);
		tqi_behalf_set(c->worker, c->count == 1 ? c->claims : NULL);
	}
	return r;
}

static int check_claims(struct tq_worker *worker, const struct tq_claim *claims, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (claims[i].size != sizeof(claims[i]))
			return -EINVAL;
	return tqi_worker_usable(worker);
}

int tq_claim(struct tq_worker *worker, uint64_t timeout_ns, struct tq_claim *ret_claim)
{
	if (!worker || !ret_claim)
		return -EINVAL;
	struct claiming c = { .worker = worker, .claims = ret_claim, .room = 1 };
	int r = check_claims(worker, ret_claim, 1);

	return r < 0 ? r : run_claim(&c, timeout_ns);
}

int tq_claim_many(struct tq_worker *worker, uint64_t timeout_ns, struct tq_claim *ret_claims,
		  uint32_t count)
{
	if (!worker || !ret_claims)
		return -EINVAL;
	struct claiming c = { .worker = worker, .claims = ret_claims, .room = count };

	if (count == 0)
		return -EINVAL;
	int r = check_claims(worker, ret_claims, count);

	if (r == 0)
		r = run_claim(&c, timeout_ns);
	return r < 0 ? r : (int)c.count;
}

int tq_next(struct tq_worker *worker, const struct tq_claim *claim,
	    const struct tq_verdict *verdict, uint64_t timeout_ns, struct tq_claim *ret_claim,
	    int *ret_verdict)
{
	if (!worker || !claim || !ret_claim)
		return -EINVAL;
	struct tqi_verdict v;
	struct tq_verdict copy;
	int r = check_claims(worker, ret_claim, 1);

	if (r == 0)
		r = tqi_verdict_in(&copy, &verdict);
	if (r == 0)
		r = tqi_verdict_take(worker, verdict, &v);
	if (r < 0)
		return r;
	struct claiming c = {
		.worker = worker, /* ret_claim may be the same struct as claim */
		.claims = ret_claim,
		.room = 1,
		.ended = { claim->id, claim->epoch, claim->slot },
		.verdict = &v,
	};

	r = run_claim(&c, timeout_ns);
	if (c.ended.id || c.verdict_r < 0)
		tqi_block_cancel(worker->tq, v.result_token);
	if (!c.ended.id && ret_verdict)
		*ret_verdict = c.verdict_r;
	return r;
}
