/* SPDX-License-Identifier: MIT */
/* The lock: spin, slices, rescue, careful repair. */
#include "shm/lock.h"

#include <time.h>
#include <urcu/arch.h>

#include "shm/tx.h"
#include "taskq/error.h"

#define LOOKS_FIRST                                                                                \
	32u /* parts of a spin: between two looks one passes, then ever twice as much ... */
#define LOOKS_LAST 4u /* ... up to one of these: the holder keeps its cache line for a while */
#define SLICE_FIRST_NS 2000000ull  /* 2 ms: a lost wake-up costs at most this at first ... */
#define SLICE_LAST_NS 100000000ull /* ... and never more than 100 ms */
#define NS_PER_S 1000000000ull

int tqi_lock_init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;
	int r = pthread_mutexattr_init(&attr);

	if (r)
		return -r;
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	r = pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return -r;
}

static struct tqi_word32 *mutex_word(pthread_mutex_t *mutex)
{
	return (struct tqi_word32 *)(void *)mutex;
}

uint32_t tqi_mutex_watch(pthread_mutex_t *mutex)
{
	struct tqi_word32 *word = mutex_word(mutex);
	uint32_t v = tqi_load_acquire32(word);

	while ((v & FUTEX_TID_MASK) && !(v & FUTEX_WAITERS)) {
		if (tqi_cas_acq_rel32(word, v, v | FUTEX_WAITERS))
			return v | FUTEX_WAITERS;
		v = tqi_load_acquire32(word);
	}
	return v & FUTEX_TID_MASK ? v : 0;
}

void tqi_mutex_condemn(pthread_mutex_t *mutex)
{
	struct tqi_word32 *word = mutex_word(mutex);
	uint32_t v = tqi_load_acquire32(word);

	if (!(v & FUTEX_TID_MASK))
		tqi_cas_acq_rel32(word, v, FUTEX_OWNER_DIED);
}

int tqi_mutex_take(pthread_mutex_t *mutex)
{
	int r = pthread_mutex_trylock(mutex);

	if (r == EOWNERDEAD)
		r = pthread_mutex_consistent(mutex);
	return -r;
}

static __attribute__((noinline)) void write_holder(struct tqi_core *core,
						   const struct tqi_thread *self)
{
	tqi_store_relaxed32(&core->holder_tid, 0);
	tqi_compiler_barrier();
	tqi_store_relaxed32(&core->holder_pid, self->pid);
	tqi_store_relaxed64(&core->holder_start, self->start);
	tqi_store_release32(&core->holder_tid, self->tid);
}

static inline void record_holder(struct tqi_core *core, const struct tqi_thread *self)
{
	if (tqi_load_relaxed32(&core->holder_tid) != self->tid ||
	    tqi_load_relaxed64(&core->holder_start) != self->start)
		write_holder(core, self);
}

/* LK-2. */
static int taken(const struct tqi_segment *seg, const struct tqi_thread *self, int r)
{
	struct tqi_core *core = tqi_segment_core(seg);

	record_holder(core, self);
	if (r == 0)
		return 0;
	tqi_store_relaxed64(&core->rollbacks, tqi_load_relaxed64(&core->rollbacks) + 1);
	r = TQI_PLANTED(early_forget) ? pthread_mutex_consistent(&core->lock) : 0;
	(void)tqi_tx_rollback(seg); /* damaged: it stays, and tqi_lock() finds it */
	tqi_compiler_barrier();
	if (!TQI_PLANTED(early_forget))
		r = pthread_mutex_consistent(&core->lock);
	return r ? TQ_ECORRUPT : 0;
}

/* LK-3: what the kernel would have done. */
static void repair(const struct tqi_segment *seg)
{
	struct tqi_core *core = tqi_segment_core(seg);
	struct tqi_word32 *word = mutex_word(&core->lock);
	uint32_t seen = tqi_load_acquire32(word);
	uint32_t tid = seen & FUTEX_TID_MASK;
	uint32_t holder = tqi_load_acquire32(&core->holder_tid);
	uint64_t start = tqi_load_relaxed64(&core->holder_start);

	if (tid == 0 || (tid != holder && !TQI_PLANTED(stale_holder)) || start == 0)
		return;
	if (!seg->ops->thread_gone(seg->ops->ctx, TQI_PLANTED(stale_holder) ? holder : tid, start))
		return;
	if (tqi_cas_acq_rel32(word, seen, (seen & FUTEX_WAITERS) | FUTEX_OWNER_DIED))
		seg->ops->futex_wake(seg->ops->ctx, word, 1);
}

static int lock_slice(pthread_mutex_t *mutex, uint64_t until_ns)
{
	const struct timespec ts = { .tv_sec = (time_t)(until_ns / NS_PER_S),
				     .tv_nsec = (long)(until_ns % NS_PER_S) };

#ifdef __SANITIZE_THREAD__ /* TSan does not know clocklock */
	int r = pthread_mutex_trylock(mutex);

	if (r == EBUSY) {
		const struct timespec pause = { .tv_nsec = 100000 };

		(void)ts;
		nanosleep(&pause, NULL);
		r = pthread_mutex_trylock(mutex);
	}
	return r == EBUSY ? ETIMEDOUT : r;
#else
	return TQI_PLANTED(plain_lock) ? pthread_mutex_lock(mutex)
				       : pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &ts);
#endif
}

/* Until when the lock is waited for: the caller's own time wins, if it is sooner. */
static uint64_t deadline_of(const struct tqi_thread *self, uint64_t now, uint64_t timeout_ns)
{
	uint64_t deadline = now + timeout_ns < now ? UINT64_MAX : now + timeout_ns;
	uint64_t least = now + TQI_LOCK_LEAST_NS, own = self->until_ns;

	if (own == 0 || own >= deadline)
		return deadline;
	return own > least ? own : least < deadline ? least : deadline;
}

static int lock_slowly(const struct tqi_segment *seg, const struct tqi_thread *self,
		       uint64_t timeout_ns, int *ret_r)
{
	pthread_mutex_t *mutex = &tqi_segment_core(seg)->lock;
	uint64_t now = tqi_ops_linux.now(NULL); /* clocklock knows no other clock */
	uint64_t deadline = deadline_of(self, now, timeout_ns);

	for (uint64_t slice = SLICE_FIRST_NS;;
	     slice = slice < SLICE_LAST_NS / 2 ? slice * 2 : SLICE_LAST_NS) {
		uint64_t until = now + slice < deadline ? now + slice : deadline;
		int r = lock_slice(mutex, until);

		if (r != ETIMEDOUT) {
			*ret_r = r;
			return 0;
		}
		repair(seg);
		now = tqi_ops_linux.now(NULL);
		if (now >= deadline)
			return TQ_ELOCKED;
	}
}

static uint32_t pause_some(uint32_t pauses, uint32_t left)
{
	uint32_t n = pauses < left ? pauses : left;

	for (uint32_t i = 0; i < n; i++)
		caa_cpu_relax();
	return n;
}

/*
 * LK-5.  EBUSY: it is worth no more spinning, or none at all, for the word has `tid`.  A try
 * that finds the lock taken costs its holder the cache line, and all who wait the time: so
 * the word is read first, and ever more rarely.
 */
static int lock_quickly(pthread_mutex_t *mutex, uint32_t tid, uint32_t spin)
{
	uint32_t left = spin, pauses = spin / LOOKS_FIRST + 1;

	for (;;) {
		uint32_t owner = tqi_mutex_owner(mutex);
		int r = owner ? EBUSY : pthread_mutex_trylock(mutex);

		if (r != EBUSY || left == 0 || owner == tid)
			return r;
		left -= pause_some(pauses, left);
		if (pauses < spin / LOOKS_LAST)
			pauses *= 2;
	}
}

/* Somebody has it, or died with it. */
static __attribute__((noinline)) int lock_taken(const struct tqi_segment *seg,
						const struct tqi_thread *self, uint64_t timeout_ns,
						int r)
{
	pthread_mutex_t *mutex = &tqi_segment_core(seg)->lock;

	if (r == EBUSY)
		r = lock_quickly(mutex, self->tid, seg->spin);
	if (r == EBUSY) {
		if (tqi_mutex_owner(mutex) == self->tid)
			return -EDEADLK;
		int e = lock_slowly(seg, self, timeout_ns, &r);

		if (e < 0)
			return e;
	}
	if (r != 0 && r != EOWNERDEAD)
		return r == EDEADLK ? -EDEADLK : TQ_ECORRUPT;
	return taken(seg, self, r);
}

/* After a first try with this answer: taken, if it is 0 then, and the holder's record ours. */
static int lock_tried(const struct tqi_segment *seg, const struct tqi_thread *self,
		      uint64_t timeout_ns, int r)
{
	if (r != 0)
		return lock_taken(seg, self, timeout_ns, r);
	record_holder(tqi_segment_core(seg), self);
	return 0;
}

int tqi_lock_damaged(const struct tqi_segment *seg, const struct tqi_thread *self,
		     uint64_t timeout_ns)
{
	pthread_mutex_t *mutex = &tqi_segment_core(seg)->lock;

	return lock_tried(seg, self, timeout_ns,
			  tqi_mutex_owner(mutex) ? EBUSY : pthread_mutex_trylock(mutex));
}

int tqi_lock_tried(const struct tqi_segment *seg, const struct tqi_thread *self,
		   uint64_t timeout_ns, int r)
{
	r = lock_tried(seg, self, timeout_ns, r);
	if (r < 0 || !tqi_segment_core(seg)->undo)
		return r;
	tqi_unlock(seg);
	return TQ_ECORRUPT;
}
