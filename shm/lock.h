/* SPDX-License-Identifier: MIT */
/*
 * The one robust lock of a segment (rules: docs/crash-safety.md).
 *
 * LK-1  Taken by trylock, then by clocklock in slices: plain pthread_mutex_lock can
 *     sleep for ever on a free robust mutex (PF-1: the unlocker is killed
 *     between its exchange and its wake).
 * LK-2  Whoever gets EOWNERDEAD rolls the journal back, then marks the lock consistent:
 *     the last step, so that a killed rescuer is rescued in the same way.
 * LK-3  A lock that the kernel could not mark is repaired by a third party only if
 *     the holder's record names the TID in the word, and that thread is proved
 *     gone, by CAS from exactly the word read before the proof.
 * LK-4  The holder's own record is written after taking and left stale by unlock.
 * LK-5  Before a sleep it is waited for some 3 us: the word is looked at, not written to, at
 *     growing distances (docs/decisions/0023).  Not where one processor is all there is.
 */
#ifndef TQI_SHM_LOCK_H
#define TQI_SHM_LOCK_H

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>

#include "shm/segment.h"

/* 0.5 s: so long the lock is waited for also by who has no time left; a holder whom the
 * system has put aside comes back sooner. */
#define TQI_LOCK_LEAST_NS 500000000ull

/* The calling thread, for the holder's record. */
struct tqi_thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t start; /* of the thread; 0 unknown: then nobody may ever steal from it */
	uint64_t until_ns; /* CLOCK_MONOTONIC: what it wants the lock for ends then; 0 never */
};

int tqi_lock_init(pthread_mutex_t *mutex);

/* The word, for a futex wait that ends when the owner dies: glibc keeps it first, and the
 * fingerprint ties us to glibc. */
static inline const struct tqi_word32 *tqi_mutex_word(const pthread_mutex_t *mutex)
{
	return (const struct tqi_word32 *)(const void *)mutex;
}
/* TID in a robust mutex's word; 0 free. */
static inline uint32_t tqi_mutex_owner(const pthread_mutex_t *mutex)
{
	return tqi_load_acquire32(tqi_mutex_word(mutex)) & FUTEX_TID_MASK;
}
/* Whether the kernel marked the owner dead. */
static inline bool tqi_mutex_owner_died(const pthread_mutex_t *mutex)
{
	return tqi_load_acquire32(tqi_mutex_word(mutex)) & FUTEX_OWNER_DIED;
}
/*
 * Ask the kernel to wake a sleeper when the owner dies: sets FUTEX_WAITERS, only
 * in a word that holds a TID.  Returns the word to compare with; 0 not owned.
 */
uint32_t tqi_mutex_watch(pthread_mutex_t *mutex);
/* Repair: nobody's mutex that should be somebody's; its owner counts as dead. */
void tqi_mutex_condemn(pthread_mutex_t *mutex);
/* Try to take a mutex that only says "its owner lives"; a dead owner's is made consistent. */
int tqi_mutex_take(pthread_mutex_t *mutex);

/* The rest of tqi_lock() after a first try with this answer. */
int tqi_lock_tried(const struct tqi_segment *seg, const struct tqi_thread *self,
		   uint64_t timeout_ns, int r);
/*
 * Take the lock within `timeout_ns`, or until the thread's `until_ns` if that is sooner, but
 * TQI_LOCK_LEAST_NS at least.  On return 0 no journal is pending.
 * -EDEADLK this thread holds it (a signal handler inside taskq); TQ_ELOCKED not
 * in time; TQ_ECORRUPT the mutex is beyond use, or the journal is damaged (TX-7).
 */
static inline int tqi_lock(const struct tqi_segment *seg, const struct tqi_thread *self,
			   uint64_t timeout_ns)
{
	struct tqi_core *core = tqi_segment_core(seg);
	const int r = tqi_mutex_owner(&core->lock) ? EBUSY : pthread_mutex_trylock(&core->lock);

	/* Most have been the last holder, and nothing is left of them. */
	if (__builtin_expect(r == 0 && tqi_load_relaxed32(&core->holder_tid) == self->tid &&
				     tqi_load_relaxed64(&core->holder_start) == self->start &&
				     !core->undo,
			     1))
		return 0;
	return tqi_lock_tried(seg, self, timeout_ns, r);
}
/* The same also with a damaged journal, which is then still there: to repair the segment. */
int tqi_lock_damaged(const struct tqi_segment *seg, const struct tqi_thread *self,
		     uint64_t timeout_ns);
static inline void tqi_unlock(const struct tqi_segment *seg)
{
	pthread_mutex_unlock(&tqi_segment_core(seg)->lock);
}

#endif
