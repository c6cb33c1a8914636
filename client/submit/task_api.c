/* SPDX-License-Identifier: MIT */
/* Submitting and steering tasks. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "client/submit/entry.h"
#include "client/core/batch.h"
#include "client/core/current_attempt.h"
#include "client/core/hold.h"
#include "client/core/options.h"
#include "client/core/removal.h"
#include "client/core/sleeper.h"
#include "client/submit/spec.h"
#include "scheduler/order/queue.h"
#include "scheduler/task/steer.h"
#include "scheduler/task/submit.h"
#include "scheduler/task/task.h"

#define BATCH_HOLD 64  /* submits in one hold ... */
#define CYCLES_HOLD 4  /* ... of which so many may look for cycles: up to some 20 us each */
#define EVICT_SLICE 16 /* records freed in one hold: journal space */

/* Whether its block is filled under the lock. */
static inline bool is_copied(const struct tq_task_spec *spec)
{
	return spec->payload_bytes <= TQI_COPY_SURE || tqi_submit_block_bytes(spec) <= TQI_COPY_MAX;
}

/* Inline: each submit comes here, and goes by submit_now(). */
static inline __attribute__((always_inline)) int prepare(struct tq *tq,
							 const struct tq_task_spec *spec,
							 struct tqi_entry *e)
{
	const bool ready = tqi_spec_is_ready(spec);
	int r = ready ? 0 : tqi_spec_in(&e->spec, spec);

	e->tq = tq;
	e->submit = (struct tqi_submit){ .spec = NULL };
	if (r < 0)
		return r;
	const struct tq_task_spec *s = ready ? spec : &e->spec;
	const char *queue = tqi_spec_queue(s), *kind = tqi_spec_kind(s);

	e->submit.spec = s;
	e->submit.queue_hint = tqi_names_find(&tq->names, TQI_QUEUES, queue);
	e->submit.kind_hint = tqi_names_find(&tq->names, TQI_KINDS, kind);
	if ((!e->submit.queue_hint && !tqi_name_is_valid(queue)) ||
	    (!e->submit.kind_hint && !tqi_name_is_valid(kind)))
		return -EINVAL;
	if (is_copied(s))
		return 0;
	void *block; /* too much to copy under the lock */

	r = tqi_block_begin(tq, tqi_submit_block_bytes(s), tqi_submit_spares(s),
			    &e->submit.block_token, &block);
	if (r == 0)
		tqi_submit_block_fill(s, block);
	return r;
}

int tqi_entry_prepare(struct tq *tq, const struct tq_task_spec *spec, struct tqi_entry *e)
{
	return prepare(tq, spec, e);
}

static inline void remember_names(struct tq *tq, const struct tqi_entry *e)
{
	const struct tqi_submit *s = &e->submit;

	if (s->queue != s->queue_hint)
		tqi_names_add(&tq->names, TQI_QUEUES, tqi_spec_queue(s->spec), s->queue);
	if (s->kind != s->kind_hint)
		tqi_names_add(&tq->names, TQI_KINDS, tqi_spec_kind(s->spec), s->kind);
}

/* After a failed try the names that it made are gone again. */
static void forget_names(struct tqi_entry *e)
{
	e->submit.queue = e->submit.kind = 0;
}

void tqi_entry_end(struct tqi_entry *e, int r)
{
	if (r >= 0)
		remember_names(e->tq, e);
	else
		forget_names(e);
}

void tqi_entry_cancel(struct tqi_entry *e)
{
	tqi_block_cancel(e->tq, e->submit.block_token);
}

void tqi_entry_begin(struct tqi_tx *tx, struct tqi_entry *e)
{
	forget_names(e);
	/* The first that waits for this clock; of one that was not asked for there is no spec. */
	if (e->submit.spec && e->submit.spec->at_ns && !tx->wall_ns)
		tx->wall_ns = tqi_wall(e->tq);
}

/* It was refused: once more, for the attempt that the caller works for, if any. */
static __attribute__((noinline)) int submit_drained(struct tqi_tx *tx, struct tqi_entry *e)
{
	int r = TQ_EDRAINING;

	tqi_tx_abort(tx);
	tqi_tx_begin(tx, tx->now_ns);
	e->submit.attempt = tqi_behalf_here(e->tq, tx);
	if (!e->submit.attempt)
		return r;
	tqi_entry_begin(tx, e);
	r = tqi_submit(tx, &e->submit, &e->id);
	e->submit.attempt = 0; /* another hold may find another one */
	return r;
}

static inline int submit_entry(struct tqi_tx *tx, struct tqi_entry *e)
{
	tqi_entry_begin(tx, e);
	const int r = tqi_submit(tx, &e->submit, &e->id);

	return __builtin_expect(r == TQ_EDRAINING, 0) ? submit_drained(tx, e) : r;
}

int tqi_entry_submit(struct tqi_tx *tx, struct tqi_entry *e)
{
	return submit_entry(tx, e);
}

static inline __attribute__((always_inline)) int submit_now(struct tq *tq, struct tqi_entry *e)
{
	for (;;) {
		struct tqi_tx tx;
		int r = tqi_hold_begin_inline(tq, &tx);

		if (r < 0)
			return r;
		tqi_tend(&tx);
		r = tqi_hold_end_inline(tq, &tx, submit_entry(&tx, e));
		tqi_entry_end(e, r);
		if (!tqi_is_lacking(r))
			return tqi_removal_check(tq, tx.now_ns, r);
		r = tqi_make_up(tq, r);
		if (r < 0)
			return r;
	}
}

/* A queue whose depth may be what is full, so somebody has set it, and it stays; 0 it is not. */
static uint32_t bounded_queue(struct tqi_tx *tx, const char *name)
{
	const uint32_t q = tqi_queue_find(tx, name);

	return q && tqi_queue_at(tx, q)->depth_max != UINT64_MAX ? q : 0;
}

/* Asleep until a record or memory becomes free; the failed try is undone, the sleep is not. */
static int room_attempt(struct tqi_tx *tx, struct tqi_sleeper *s)
{
	struct tqi_entry *e = s->arg;

	tqi_step(tx);
	int r = submit_entry(tx, e);

	if (r < 0) {
		tqi_tx_abort(tx);
		tqi_tx_begin(tx, tx->now_ns);
		forget_names(e);
	}
	s->subject = bounded_queue(tx, tqi_spec_queue(e->submit.spec));
	if (r == -ENOMEM && tqi_task_evict(tx, EVICT_SLICE))
		return -EINPROGRESS;
	return r == TQ_EFULL || r == -ENOMEM ? -EAGAIN : r;
}

static int submit_waiting(struct tq *tq, struct tqi_entry *e)
{
	struct tqi_sleeper s = {
		.interest = TQI_INTEREST_ROOM,
		.deadline_ns = tqi_deadline(tq, e->submit.spec->full_timeout_ns),
		.wake_ns = UINT64_MAX,
		.attempt = room_attempt,
		.arg = e,
	};
	int r = tqi_block(tq, &s);

	return r == -ETIMEDOUT ? TQ_EFULL : r;
}

int tq_submit(struct tq *tq, const struct tq_task_spec *spec, uint64_t *ret_id)
{
	if (!tq)
		return -EINVAL;
	struct tqi_entry e;
	int r = prepare(tq, spec, &e);

	if (r == 0)
		r = submit_now(tq, &e);
	if ((r == TQ_EFULL || r == -ENOSPC) && e.submit.spec && e.submit.spec->full_timeout_ns)
		r = submit_waiting(tq, &e);
	if (r < 0) {
		tqi_block_cancel(tq, e.submit.block_token);
		return r;
	}
	if (ret_id)
		*ret_id = e.id;
	return r;
}

/* Whether it looks for cycles: that takes long, and is not done twice for another's sake. */
static bool searches(const struct tqi_entry *e)
{
	return e->submit.spec->group && e->submit.spec->after_count;
}

/* Who names by the same texts what the one before it names need not ask for it again. */
static inline void share_names(struct tqi_entry *e, const struct tqi_entry *before)
{
	const struct tq_task_spec *spec = e->submit.spec, *other = before->submit.spec;

	if (spec->queue != other->queue || spec->kind != other->kind)
		return;
	e->submit.queue = before->submit.queue;
	e->submit.kind = before->submit.kind;
}

/* Also to a drained queue, where nothing goes with it that would have to be undone. */
static int submit_one(struct tqi_tx *tx, struct tqi_entry *entries, uint32_t n,
		      const struct tqi_batch *batch)
{
	struct tqi_entry *e = &entries[n];

	if (batch->alone)
		return tqi_entry_submit(tx, e);
	tqi_entry_begin(tx, e);
	if (n)
		share_names(e, e - 1);
	return tqi_submit(tx, &e->submit, &e->id);
}

/* How many of them, from the first on, are in, or will be with the next commit. */
static uint32_t submit_each(struct tqi_tx *tx, struct tqi_entry *entries, uint32_t count,
			    struct tqi_batch *batch, int *ret_r)
{
	uint32_t n = 0, cycles = 0;

	*ret_r = 0;
	while (n < count && cycles < CYCLES_HOLD) {
		const bool alone = searches(&entries[n]);

		if (alone)
			tqi_batch_part(batch, tx, n);
		cycles += alone;
		*ret_r = submit_one(tx, entries, n, batch);
		tqi_batch_tried(batch, tx, n);
		if (tx->corrupt || (*ret_r < 0 && batch->alone))
			break;
		n = *ret_r < 0 ? tqi_batch_again(batch, tx) : tqi_batch_made(batch, tx, n);
	}
	return n;
}

/* Up to BATCH_HOLD small tasks in one hold. */
static int submit_some(struct tq *tq, struct tqi_entry *entries, uint32_t count, uint64_t *ret_ids)
{
	struct tqi_tx tx;
	int r = tqi_hold_begin(tq, &tx);

	if (r < 0)
		return r;
	tqi_tend(&tx);
	struct tqi_batch batch = tqi_batch_begin(&tx);
	uint32_t n = submit_each(&tx, entries, count, &batch, &r);

	r = tqi_hold_end(tq, &tx, r);
	if (tx.corrupt)
		n = batch.kept;
	for (uint32_t i = 0; i < n; i++) {
		remember_names(tq, &entries[i]);
		if (ret_ids)
			ret_ids[i] = entries[i].id;
	}
	return n ? tqi_removal_check(tq, tx.now_ns, (int)n) : r;
}

/* A run of tasks that are small and do not wait for room; one that does goes alone. */
static uint32_t prepare_some(struct tq *tq, const struct tq_task_spec *specs, uint32_t count,
			     struct tqi_entry *entries, int *ret_r)
{
	uint32_t n = 0;

	*ret_r = 0;
	while (n < count && n < BATCH_HOLD) {
		const struct tq_task_spec *spec = &specs[n];

		if (spec->size != sizeof(*spec)) {
			*ret_r = -EINVAL; /* an array has one stride */
			break;
		}
		if (spec->full_timeout_ns || !is_copied(spec))
			break;
		*ret_r = prepare(tq, spec, &entries[n]);
		if (*ret_r < 0)
			break;
		n++;
	}
	return n;
}

int tq_submit_many(struct tq *tq, const struct tq_task_spec *specs, uint32_t count,
		   uint64_t *ret_ids)
{
	if (!tq)
		return -EINVAL;
	struct tqi_entry entries[BATCH_HOLD];
	uint32_t done = 0;
	int r = count && !specs ? -EINVAL : 0;

	while (done < count && r >= 0) {
		uint64_t *ids = ret_ids ? ret_ids + done : NULL;
		uint32_t n = prepare_some(tq, specs + done, count - done, entries, &r);

		if (n)
			r = submit_some(tq, entries, n, ids);
		else if (r == 0)
			r = tq_submit(tq, specs + done, ids);
		if (n && tqi_is_lacking(r))
			r = tqi_make_up(tq, r); /* then once more */
		else if (r >= 0)
			done += n ? (uint32_t)r : 1;
	}
	return done ? (int)done : r;
}

struct steer {
	struct tq *tq;
	uint64_t id;
	enum tq_task_action action;
	const struct tq_task_update *update;
};

static int steer_op(struct tqi_tx *tx, void *arg)
{
	const struct steer *s = arg;

	switch (s->action) {
	case TQ_TASK_ACTION_HOLD:
		return tqi_steer_hold(tx, s->id, true);
	case TQ_TASK_ACTION_UNHOLD:
		return tqi_steer_hold(tx, s->id, false);
	case TQ_TASK_ACTION_RETRY:
		return tqi_steer_retry(tx, s->id);
	case TQ_TASK_ACTION_FORGET:
		return tqi_steer_forget(tx, s->id);
	case TQ_TASK_ACTION_RETRY_DEPENDANTS:
		return tqi_steer_revive(tx, s->id);
	case TQ_TASK_ACTION_CANCEL:
		return tqi_steer_cancel(tx, s->id);
	case TQ_TASK_ACTION_CANCEL_DEPENDANTS:
		return tqi_steer_cancel_dependants(tx, s->id);
	}
	return -EINVAL;
}

int tq_task_steer(struct tq *tq, uint64_t id, enum tq_task_action action)
{
	if (!tq)
		return -EINVAL;
	struct steer s = { .id = id, .action = action };
	int r = tqi_run(tq, steer_op, &s);

	if (r == 0 && (action == TQ_TASK_ACTION_RETRY_DEPENDANTS ||
		       action == TQ_TASK_ACTION_CANCEL_DEPENDANTS))
		tqi_sweep_out(tq); /* what is decided goes on without us, too */
	return r;
}

static int update_op(struct tqi_tx *tx, void *arg)
{
	const struct steer *s = arg;

	if ((s->update->fields & TQ_UPDATE_AT) && !tx->wall_ns)
		tx->wall_ns = tqi_wall(s->tq);
	return tqi_steer_update(tx, s->id, s->update);
}

static int check_settings(const struct tq_task_update *u)
{
	if ((u->fields & TQ_UPDATE_LABEL) && u->label &&
	    strnlen(u->label, TQ_LABEL_MAX + 1) > TQ_LABEL_MAX)
		return -EINVAL;
	if ((u->fields & TQ_UPDATE_LIMITS) &&
	    !tqi_limit_keys_are_valid(u->limits, u->limit_weights, u->limit_count))
		return -EINVAL;
	if (((u->fields & TQ_UPDATE_TIMEOUT) && !u->timeout_ns) ||
	    ((u->fields & TQ_UPDATE_TIMEOUT_TOTAL) && !u->timeout_total_ns))
		return -EINVAL;
	if ((u->fields & TQ_UPDATE_ATTEMPTS) &&
	    (u->attempts_max < 1 || u->attempts_max > TQ_ATTEMPTS_MAX))
		return -ERANGE;
	if (((u->fields & TQ_UPDATE_TIMEOUT) && !tqi_time_is_valid(u->timeout_ns)) ||
	    ((u->fields & TQ_UPDATE_TIMEOUT_TOTAL) && !tqi_time_is_valid(u->timeout_total_ns)))
		return -ERANGE;
	return 0;
}

static int check_update(const struct tq_task_update *u)
{
	const uint32_t known = TQ_UPDATE_PRIORITY | TQ_UPDATE_QUEUE | TQ_UPDATE_DELAY |
			       TQ_UPDATE_AT | TQ_UPDATE_DEADLINE | TQ_UPDATE_LABEL |
			       TQ_UPDATE_ATTEMPTS | TQ_UPDATE_TIMEOUT | TQ_UPDATE_TIMEOUT_TOTAL |
			       TQ_UPDATE_LIMITS;

	if (u->fields == 0 || (u->fields & ~known))
		return -EINVAL;
	if ((u->fields & TQ_UPDATE_QUEUE) && (!u->queue || !tqi_name_is_valid(u->queue)))
		return -EINVAL;
	if ((u->fields & TQ_UPDATE_AT) && ((u->fields & TQ_UPDATE_DELAY) || !u->at_ns))
		return -EINVAL;
	if ((u->fields & TQ_UPDATE_DEADLINE) && !u->deadline_ns)
		return -EINVAL;
	if ((u->fields & TQ_UPDATE_DELAY) && u->delay_ns > TQI_NS_MAX)
		return -ERANGE;
	if ((u->fields & TQ_UPDATE_AT) && u->at_ns > INT64_MAX)
		return -ERANGE;
	if ((u->fields & TQ_UPDATE_DEADLINE) && !tqi_time_is_valid(u->deadline_ns))
		return -ERANGE;
	return check_settings(u);
}

int tq_task_update(struct tq *tq, uint64_t id, const struct tq_task_update *update)
{
	if (!tq || !update)
		return -EINVAL;
	struct tq_task_update u;
	struct steer s = { .tq = tq, .id = id, .update = &u };
	int r = tqi_options_in(&u, sizeof(u), offsetof(struct tq_task_update, limits), update);

	if (r == 0)
		r = check_update(&u);
	return r == 0 ? tqi_run(tq, update_op, &s) : r;
}
