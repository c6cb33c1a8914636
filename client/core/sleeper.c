/* SPDX-License-Identifier: MIT */
/* The loop of a sleeper. */
#include "client/core/sleeper.h"

#include <errno.h>
#include <sched.h>

#include "client/core/current_attempt.h"
#include "client/core/removal.h"
#include "scheduler/graph/behalf.h"
#include "scheduler/graph/edge.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/worker/sleep.h"
#include "scheduler/wake/wake.h"
#include "scheduler/worker/keepers.h"
#include "shm/domain.h"

#define LIFE_WORDS 120	 /* workers' life words that the timekeeper watches; a wait takes 128 */
#define LIVES_SLICE 1024 /* workers' records looked at for them in one hold: some 50 us */
#define WALL_LOOK_NS 5000000000ull /* 5 s: a step of the wall clock is noticed no later */
#define EDGES_SLICE 8		   /* edges dropped in one hold: journal space */

/* What one sleep waits on; the words were read in the hold before (WT-2). */
struct nap {
	struct tqi_futex words[TQI_FUTEX_WAIT_MAX];
	uint32_t count;
	bool missed; /* a watched owner is dead already: do not sleep */
	bool keeper;
	uint32_t lives_at;   /* worker looked at last ... */
	uint32_t lives_left; /* ... and how many are still to be, in further holds */
	uint64_t now_ns;     /* of the hold */
	uint64_t until_ns;
	uint64_t until_wall_ns; /* by the wall clock; UINT64_MAX none */
};

static void nap_add(struct nap *nap, const struct tqi_word32 *word, uint32_t value)
{
	nap->words[nap->count++] = (struct tqi_futex){ word, value };
}

/* WT-4: the sleeper that this one queued behind. */
static void watch_older(struct tqi_tx *tx, const struct tqi_waiter *slot, struct nap *nap)
{
	if (!slot->older)
		return;
	struct tqi_waiter *older = tqi_waiter_at(tx, slot->older);
	uint32_t value = tqi_mutex_watch(&older->mutex);

	if (value)
		nap_add(nap, tqi_mutex_word(&older->mutex), value);
	else
		nap->missed = true;
}

/*
 * The timekeeper watches workers' life words: hints of death within a millisecond.  The
 * next hold goes on where this one stops.
 */
static void watch_lives(struct tqi_tx *tx, struct nap *nap)
{
	uint32_t count = tx->core->tables[TQI_WORKERS].count;

	for (uint32_t i = 0; i < LIVES_SLICE && nap->lives_left && !tx->corrupt; i++) {
		nap->lives_left--;
		nap->lives_at = nap->lives_at + 1 < count ? nap->lives_at + 1 : 1;
		struct tqi_worker *worker = tqi_worker_at(tx, nap->lives_at);

		if (worker->state != TQI_WORKER_LIVE || (!worker->attempts && !worker->command))
			continue;
		uint32_t value = tqi_mutex_watch(&worker->life);

		if (value)
			nap_add(nap, tqi_mutex_word(&worker->life), value);
		else if (!(worker->flags & TQI_WORKER_POLLED) &&
			 tqi_mutex_owner_died(&worker->life))
			nap->missed = true; /* it died before anybody watched */
		if (nap->count >= 2 + LIFE_WORDS)
			nap->lives_left = 0;
	}
}

static void begin_lives(struct tqi_tx *tx, struct nap *nap)
{
	nap->lives_at = tqi_root(tx)->worker_cursor;
	nap->lives_left = tx->core->tables[TQI_WORKERS].count - 1;
	watch_lives(tx, nap);
}

static void prepare(struct tqi_tx *tx, struct tqi_sleeper *s, struct nap *nap)
{
	uint64_t wish = s->wake_ns < s->deadline_ns ? s->wake_ns : s->deadline_ns;

	nap->count = 0;
	nap->missed = false;
	nap->lives_left = 0;
	nap->now_ns = tx->now_ns;
	nap->until_ns = tqi_sleep_again(tx, s->waiter, wish);
	struct tqi_waiter *slot = tqi_waiter_at(tx, s->waiter);
	uint32_t place = tqi_waiter_keeper(tx, s->waiter);

	nap->keeper = place < TQI_KEEPERS;
	nap->until_wall_ns = slot->until_wall_ns;
	nap_add(nap, &slot->word, tqi_load_acquire32(&slot->word));
	watch_older(tx, slot, nap);
	if (s->words) /* first: what others would tell it of late, or never */
		nap->count += s->words(s, nap->words + nap->count, TQI_FUTEX_WAIT_MAX - nap->count);
	if (place == 0 && nap->count < 2 + LIFE_WORDS)
		begin_lives(tx, nap);
}

/* Whatever comes between these holds shows in the words that were read before. */
static void watch_other_lives(struct tq *tq, struct nap *nap)
{
	while (nap->lives_left) {
		struct tqi_tx tx;

		if (tqi_hold_begin(tq, &tx) < 0)
			return;
		watch_lives(&tx, nap);
		if (tqi_hold_commit(tq, &tx, 0) < 0)
			return;
	}
}

static int enter(struct tqi_tx *tx, struct tq *tq, struct tqi_sleeper *s)
{
	const struct tqi_ident self = tqi_ident_self(tq);
	bool full;

	s->waiter = tqi_sleep_enter(tx, &self, s->interest, s->subject, &full);
	if (!s->waiter)
		return full ? TQ_EFULL : -ENOMEM;
	if (s->lends)
		tqi_inherit_lend(tx, s->waiter,
				 &(struct tqi_worth){ UINT64_MAX, s->priority, 0, 0 });
	if (s->on_behalf)
		tqi_behalf_enter(tx, s->waiter, tqi_behalf_here(tq, tx));
	return 0;
}

/* What was done so far stands, whatever becomes of the rest; nothing costs nothing. */
static void step_if_changed(struct tqi_tx *tx)
{
	if (tx->undo_count || tx->wake_count || tx->nudge)
		tqi_step(tx);
}

/* The journal for what comes, unless there is room for both: one commit is less than two. */
static void step_if_filling(struct tqi_tx *tx)
{
	if (tqi_tx_is_filling(tx))
		tqi_step(tx);
}

/* Drop the edges, a slice in each hold, then the slot; the lock is held on entry and exit. */
static int leave(struct tq *tq, struct tqi_tx *tx, struct tqi_sleeper *s, int r)
{
	step_if_filling(tx);
	while (!tqi_edge_drop(tx, s->waiter, EDGES_SLICE) && !tx->corrupt)
		tqi_step(tx);
	step_if_filling(tx);
	bool popped = tqi_waiter_at(tx, s->waiter)->state == TQI_WAITER_TRANSIT;

	tqi_sleep_leave(tx, s->waiter);
	if (popped)
		tqi_wake_next(tx); /* WT-7 */
	tqi_wake_room(tx);
	int e = tqi_hold_commit(tq, tx, r);

	if (e != TQ_ECORRUPT)
		s->waiter = 0;
	return e;
}

/* First time in this sleep: -ENOMEM makes room outside the lock, then all is tried again. */
static int queue_up(struct tq *tq, struct tqi_tx *tx, struct tqi_sleeper *s)
{
	int r = enter(tx, tq, s);

	if (r == 0 && !tx->corrupt)
		return 0;
	s->waiter = 0;
	r = tqi_hold_end(tq, tx, r < 0 ? r : TQ_ECORRUPT);
	return r == -ENOMEM ? (r = tqi_make_room(tq, 0)) < 0 ? r : -EAGAIN : r;
}

/*
 * The rest of a hold after an attempt with this answer.  1 = sleep now on `nap`; 0 = again at
 * once; in `ret_r` the end otherwise (-1).
 */
static int conclude(struct tq *tq, struct tqi_sleeper *s, struct tqi_tx *tx, struct nap *nap,
		    bool interrupted, int r, int *ret_r)
{
	if (r == -EAGAIN && tx->now_ns >= s->deadline_ns && (s->waiter || !s->again))
		r = -ETIMEDOUT;
	if (r == -EAGAIN && interrupted && !s->handle_intr)
		r = -EINTR;
	if (!s->waiter && r != -EAGAIN && r != -EINPROGRESS) {
		*ret_r = tqi_hold_commit(tq, tx, r); /* the common case: nobody sleeps */
		return -1;
	}
	if (r == -EINPROGRESS) {
		*ret_r = tqi_hold_commit(tq, tx, 0);
		return *ret_r < 0 ? -1 : 0;
	}
	if (r != -EAGAIN) {
		*ret_r = leave(tq, tx, s, r);
		return -1;
	}
	step_if_changed(tx); /* queuing up may fail, and is undone then */
	if (!s->waiter) {
		r = queue_up(tq, tx, s);
		*ret_r = r;
		if (r < 0)
			return r == -EAGAIN ? 0 : -1;
		if (s->again) {
			*ret_r = tqi_hold_commit(tq, tx, 0);
			return *ret_r < 0 ? -1 : 0;
		}
	}
	bool popped = tqi_waiter_at(tx, s->waiter)->state == TQI_WAITER_TRANSIT;

	prepare(tx, s, nap);
	if (popped)
		tqi_wake_next(tx); /* WT-7 */
	*ret_r = tqi_hold_commit(tq, tx, 0);
	return *ret_r < 0 ? -1 : 1;
}

/* One hold; likewise. */
static int hold(struct tq *tq, struct tqi_sleeper *s, struct nap *nap, bool interrupted, int *ret_r)
{
	struct tqi_tx tx;
	int r = tqi_hold_begin(tq, &tx);

	*ret_r = r;
	if (r < 0)
		return -1;
	tqi_tend(&tx);
	if (s->waiter) {
		tqi_sleep_bury_older(&tx, s->waiter);
		step_if_changed(&tx);
	}
	return conclude(tq, s, &tx, nap, interrupted, s->attempt(&tx, s), ret_r);
}

/*
 * One wait has one clock.  With nothing to wait for by the monotonic one, the kernel
 * itself notices that the wall clock is set.  Else it is the monotonic clock, to which
 * the wall-clock time is carried over; a step shows at the next look.
 */
static int sleep_on(struct tq *tq, const struct nap *nap)
{
	const struct tqi_ops *ops = tq->seg.ops;
	uint64_t until = nap->until_ns, wall = nap->until_wall_ns;

	if (wall == UINT64_MAX)
		return ops->futex_wait(ops->ctx, nap->words, nap->count, until);
	if (until == UINT64_MAX)
		return ops->futex_wait_wall(ops->ctx, nap->words, nap->count, wall);
	uint64_t wall_now = tqi_wall(tq), left = wall > wall_now ? wall - wall_now : 0;
	uint64_t look = tqi_deadline(tq, left < WALL_LOOK_NS ? left : WALL_LOOK_NS);

	return ops->futex_wait(ops->ctx, nap->words, nap->count, look < until ? look : until);
}

/*
 * Wakers call the kernel under the lock (WT-3), and where processors are busy the kernel
 * puts the waker aside for the woken.  Then the waker goes first: to queue for the lock
 * would cost both another call, and another sleep.
 */
static void yield_to_waker(const struct tqi_segment *seg)
{
	if (tqi_mutex_owner(&tqi_segment_core(seg)->lock))
		sched_yield();
}

/* Whatever but its own word woke it may mean a death, or a keeper's time that has come. */
static bool must_look(const struct nap *nap, int r)
{
	if (nap->missed || (nap->keeper && r == -ETIMEDOUT))
		return true;
	for (uint32_t i = 1; i < nap->count; i++)
		if (tqi_load_acquire32(nap->words[i].word) != nap->words[i].value)
			return true;
	return false;
}

/*
 * A hold that failed left our slot queued: if it is ours still, it is left with the
 * next hold.  In a lost segment there is none: its mutex is just released.
 */
static void keep_orphan(struct tq *tq, uint32_t waiter, int r)
{
	struct tqi_waiter *slot = tqi_table_peek(&tq->seg, TQI_WAITERS, waiter);
	struct tqi_self *self = tqi_self(tq);

	if (!slot || !self || tqi_mutex_owner(&slot->mutex) != self->thread.tid)
		return;
	if (r == TQ_ESHUTDOWN || r == TQ_EREMOVED)
		pthread_mutex_unlock(&slot->mutex);
	else
		self->orphan = waiter;
}

/* It is over. */
static int end(struct tq *tq, struct tqi_sleeper *s, int r)
{
	if (s->waiter)
		keep_orphan(tq, s->waiter, r);
	if (r == TQ_EREMOVED)
		tqi_dismiss(tq, TQI_LOST_REMOVED); /* RM-1 */
	return r;
}

/* As its last hold has said, asleep or not, until it is over. */
static int go_on(struct tq *tq, struct tqi_sleeper *s, struct nap *nap, int next, int r)
{
	for (; next >= 0; next = hold(tq, s, nap, r == -EINTR, &r)) {
		if (next == 0)
			continue;
		if (!nap->missed)
			watch_other_lives(tq, nap);
		if (tqi_removal_check(tq, nap->now_ns, 0) < 0)
			continue;
		if (!nap->missed)
			r = sleep_on(tq, nap);
		if (r == 0)
			yield_to_waker(&tq->seg);
		if (must_look(nap, r))
			tqi_keep(tq);
	}
	return end(tq, s, r);
}

int tqi_block(struct tq *tq, struct tqi_sleeper *s)
{
	struct nap nap; /* 2 KiB that only who sleeps needs: prepare() fills it */
	int r;

	s->waiter = 0;
	int next = hold(tq, s, &nap, false, &r);

	return go_on(tq, s, &nap, next, r);
}

int tqi_block_from(struct tq *tq, struct tqi_sleeper *s, struct tqi_tx *tx, int r)
{
	struct nap nap;

	s->waiter = 0;
	int next = conclude(tq, s, tx, &nap, false, r, &r);

	return go_on(tq, s, &nap, next, r);
}

int tqi_block_in_time(struct tq *tq, struct tqi_sleeper *s)
{
	struct tqi_self *self = tqi_self(tq);

	if (!self)
		return -ENOMEM;
	self->thread.until_ns = s->deadline_ns | 1; /* 0 would be none */
	int r = tqi_block(tq, s);

	self->thread.until_ns = 0;
	return r == TQ_ELOCKED && tqi_now(tq) >= s->deadline_ns ? -ETIMEDOUT : r;
}
