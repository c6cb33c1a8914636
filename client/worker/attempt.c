/* SPDX-License-Identifier: MIT */
/* What a worker does to an attempt while it runs: renew, progress, checkpoint, stop. */
#include <errno.h>
#include <string.h>

#include "client/core/current_attempt.h"
#include "client/core/sleeper.h"
#include "client/worker/worker_api.h"
#include "scheduler/task/claim.h"
#include "scheduler/task/kept.h"
#include "shm/pool.h"

#define SETTLE_TRIES 1000 /* a transaction under way that may be rolled back lasts microseconds */

int tq_renew(struct tq_worker *worker)
{
	if (!worker)
		return -EINVAL;
	struct tqi_worker *record = tqi_worker_record(worker);

	if (tqi_worker_usable(worker) < 0)
		return -ECHILD;
	if (!record || record->generation != worker->generation)
		return TQ_ELEASE;
	if (worker->lease_ns)
		tqi_store_release64(&record->lease_deadline_ns,
				    tqi_now(worker->tq) + worker->lease_ns);
	return 0;
}

/*
 * Without the lock.  A cause seen while a transaction is under way could still be
 * rolled back with it: then look again.
 */
int tq_claim_stopping(struct tq_worker *worker, const struct tq_claim *claim)
{
	if (!worker || !claim)
		return -EINVAL;
	const volatile struct tqi_attempt *attempt = tqi_claim_record(worker, claim);
	const struct tqi_core *core = tqi_segment_core(&worker->tq->seg);
	int cause = TQ_CAUSE_NONE;

	if (!attempt)
		return TQ_CAUSE_LEASE_LOST;
	for (int i = 0; i < SETTLE_TRIES; i++) {
		uint64_t before = tqi_load_acquire64(&core->version);

		cause = attempt->stop_cause;
		if (cause == TQ_CAUSE_NONE ||
		    (!(before & 1) && tqi_load_acquire64(&core->version) == before))
			break;
	}
	return cause;
}

struct stop_wait {
	struct tq_worker *worker;
	const struct tq_claim *claim;
};

static int stop_attempt(struct tqi_tx *tx, struct tqi_sleeper *s)
{
	const struct stop_wait *w = s->arg;
	const struct tqi_attempt *a = tqi_attempt_find(tx, w->worker->index, w->claim->slot,
						       w->claim->id, w->claim->epoch);

	if (!a)
		return TQ_CAUSE_LEASE_LOST;
	return a->phase == TQI_PHASE_NONE ? -EAGAIN : a->stop_cause;
}

int tq_claim_wait_stop(struct tq_worker *worker, const struct tq_claim *claim, uint64_t timeout_ns)
{
	if (!worker || !claim)
		return -EINVAL;
	struct stop_wait w = { .worker = worker, .claim = claim };
	struct tqi_sleeper s = {
		.interest = TQI_INTEREST_STOPS,
		.subject = worker->index,
		.deadline_ns = tqi_deadline(worker->tq, timeout_ns),
		.wake_ns = UINT64_MAX,
		.attempt = stop_attempt,
		.arg = &w,
	};

	if (tqi_worker_usable(worker) < 0)
		return -ECHILD;
	int r = tqi_block(worker->tq, &s);

	return r == -ETIMEDOUT ? 0 : r;
}

/* The buffer that readers do not look at; then the index.  Killed between: the old one. */
static void report(struct tqi_attempt *a, uint64_t now, uint32_t percent, const char *text)
{
	uint32_t next = tqi_load_relaxed32(&a->progress_index) + 1;
	struct tqi_progress *p = &a->progress[(next ? next : 2) & 1];
	size_t n = text ? strnlen(text, sizeof(p->text) - 1) : 0;

	p->percent = percent;
	if (n)
		memcpy(p->text, text, n);
	p->text[n] = '\0';
	tqi_store_relaxed64(&a->progress_ns, now);
	tqi_store_release32(&a->progress_index, next ? next : 2);
}

int tq_claim_progress(struct tq_worker *worker, const struct tq_claim *claim, uint32_t percent,
		      const char *text)
{
	if (!worker || !claim)
		return -EINVAL;
	struct tqi_attempt *a = tqi_claim_record(worker, claim);

	if (percent > 100)
		return -EINVAL;
	if (tqi_worker_usable(worker) < 0)
		return -ECHILD;
	if (!a)
		return TQ_ELEASE;
	report(a, tqi_now(worker->tq), percent, text);
	return 0;
}

static int take_block(struct tqi_tx *tx, struct tqi_attempt *a)
{
	uint32_t block = tqi_block_take(tx, TQI_CHECKPOINT_BLOCK);

	if (!block)
		return -ENOMEM;
	TQI_SET(tx, a->checkpoint, block);
	return 0;
}

/* The half that is not valid now; then the word that names it. */
static void save(struct tqi_attempt *a, unsigned char *block, const void *data, uint64_t bytes)
{
	uint64_t number = (tqi_load_relaxed64(&a->saved) >> 32) + 1;

	memcpy(block + (number & 1) * TQ_CHECKPOINT_MAX, data, bytes);
	tqi_store_release64(&a->saved, number << 32 | bytes);
}

struct reserve {
	struct tq_worker *worker;
	const struct tq_claim *claim;
};

static int reserve_op(struct tqi_tx *tx, void *arg)
{
	const struct reserve *r = arg;
	struct tqi_attempt *a = tqi_attempt_find(tx, r->worker->index, r->claim->slot, r->claim->id,
						 r->claim->epoch);

	return a ? take_block(tx, a) : TQ_ELEASE;
}

int tq_claim_checkpoint(struct tq_worker *worker, const struct tq_claim *claim, const void *data,
			uint64_t bytes)
{
	if (!worker || !claim || (bytes && !data))
		return -EINVAL;
	struct tqi_attempt *a = tqi_claim_record(worker, claim);
	struct reserve reserve = { .worker = worker, .claim = claim };
	int r = tqi_worker_usable(worker);

	if (r < 0)
		return r;
	if (bytes > TQ_CHECKPOINT_MAX)
		return -E2BIG;
	if (!a)
		return TQ_ELEASE;
	if (!a->checkpoint)
		r = tqi_run(worker->tq, reserve_op, &reserve);
	if (r < 0)
		return r;
	save(a, worker->tq->seg.base + ((uint64_t)a->checkpoint << TQI_UNIT_SHIFT), data, bytes);
	return 0;
}

/* What somebody does for the attempt that it works for, in holds: it need not be its owner. */
struct own {
	struct tq *tq;
	uint32_t percent;
	const char *text;
	const void *data;
	void *buf;
	uint64_t bytes;
};

static struct tqi_attempt *own_attempt(struct tqi_tx *tx, const struct own *own)
{
	const uint32_t a = tqi_behalf_here(own->tq, tx);

	return a ? tqi_attempt_at(tx, a) : NULL;
}

static int own_progress(struct tqi_tx *tx, void *arg)
{
	const struct own *own = arg;
	struct tqi_attempt *a = own_attempt(tx, own);

	if (!a)
		return -ESRCH;
	report(a, tx->now_ns, own->percent, own->text);
	return 0;
}

static int own_reserve(struct tqi_tx *tx, void *arg)
{
	struct tqi_attempt *a = own_attempt(tx, arg);

	if (!a)
		return -ESRCH;
	return a->checkpoint ? 0 : take_block(tx, a);
}

static int own_save(struct tqi_tx *tx, void *arg)
{
	const struct own *own = arg;
	struct tqi_attempt *a = own_attempt(tx, own);

	if (!a || !a->checkpoint)
		return -ESRCH;
	save(a, tqi_unit(tx, a->checkpoint), own->data, own->bytes);
	return 0;
}

static int own_restore(struct tqi_tx *tx, void *arg)
{
	struct own *own = arg;
	const struct tqi_attempt *a = own_attempt(tx, own);

	if (!a)
		return -ESRCH;
	struct tqi_kept kept;
	const struct tqi_kept_view view = tqi_kept_of(tx, a, &kept);

	if (!view.checkpoint)
		return -ENODATA;
	own->bytes = view.checkpoint_bytes;
	memcpy(own->buf, view.checkpoint, view.checkpoint_bytes);
	return 0;
}

int tq_attempt_progress(struct tq *tq, uint32_t percent, const char *text)
{
	if (!tq)
		return -EINVAL;
	struct own own = { .tq = tq, .percent = percent, .text = text };

	return percent > 100 ? -EINVAL : tqi_run(tq, own_progress, &own);
}

int tq_attempt_checkpoint(struct tq *tq, const void *data, uint64_t bytes)
{
	if (!tq || (bytes && !data))
		return -EINVAL;
	struct own own = { .tq = tq, .data = data, .bytes = bytes };

	if (bytes > TQ_CHECKPOINT_MAX)
		return -E2BIG;
	int r = tqi_run(tq, own_reserve, &own);

	return r < 0 ? r : tqi_run(tq, own_save, &own);
}

int tq_attempt_restore(struct tq *tq, void *buf, uint64_t *ret_bytes)
{
	if (!tq || !buf || !ret_bytes)
		return -EINVAL;
	struct own own = { .tq = tq, .buf = buf };
	int r = tqi_run(tq, own_restore, &own);

	if (r == 0)
		*ret_bytes = own.bytes;
	return r;
}
