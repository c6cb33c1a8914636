/* SPDX-License-Identifier: MIT */
/*
 * The only place where atomics are spelt out.  The order is in the name.
 *
 * Two sorts of words live in the segment.  Fields changed in a transaction are
 * plain fields behind TQI_SET (shm/tx.h).  Words written without the lock are
 * struct tqi_word32 / tqi_word64: a struct, so that TQI_SET refuses them, and on
 * a cache line of their own, so that a rollback cannot touch them.
 */
#ifndef TQI_SHM_ATOMIC_H
#define TQI_SHM_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tqi_word32 {
	_Atomic uint32_t v;
};

struct tqi_word64 {
	_Atomic uint64_t v;
};

static inline uint32_t tqi_load_relaxed32(const struct tqi_word32 *w)
{
	return atomic_load_explicit(&w->v, memory_order_relaxed);
}

static inline uint32_t tqi_load_acquire32(const struct tqi_word32 *w)
{
	return atomic_load_explicit(&w->v, memory_order_acquire);
}

static inline void tqi_store_relaxed32(struct tqi_word32 *w, uint32_t v)
{
	atomic_store_explicit(&w->v, v, memory_order_relaxed);
}

static inline void tqi_store_release32(struct tqi_word32 *w, uint32_t v)
{
	atomic_store_explicit(&w->v, v, memory_order_release);
}

static inline uint32_t tqi_add_release32(struct tqi_word32 *w, uint32_t n)
{
	return atomic_fetch_add_explicit(&w->v, n, memory_order_release);
}

static inline bool tqi_cas_acq_rel32(struct tqi_word32 *w, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong_explicit(&w->v, &from, to, memory_order_acq_rel,
						       memory_order_acquire);
}

static inline uint64_t tqi_load_relaxed64(const struct tqi_word64 *w)
{
	return atomic_load_explicit(&w->v, memory_order_relaxed);
}

static inline uint64_t tqi_load_acquire64(const struct tqi_word64 *w)
{
	return atomic_load_explicit(&w->v, memory_order_acquire);
}

static inline void tqi_store_relaxed64(struct tqi_word64 *w, uint64_t v)
{
	atomic_store_explicit(&w->v, v, memory_order_relaxed);
}

static inline bool tqi_cas_acq_rel64(struct tqi_word64 *w, uint64_t from, uint64_t to)
{
	return atomic_compare_exchange_strong_explicit(&w->v, &from, to, memory_order_acq_rel,
						       memory_order_acquire);
}

static inline void tqi_store_release64(struct tqi_word64 *w, uint64_t v)
{
	atomic_store_explicit(&w->v, v, memory_order_release);
}

/*
 * Keeps the compiler from moving stores across it.  That is all a rescuer
 * needs: a killed process leaves a prefix of its stores, and the kernel's atomic
 * on the lock word orders them before the next owner.
 */
static inline void tqi_compiler_barrier(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * Orders the odd version before the data that follows, for observers on other
 * processors.  Free where stores are not reordered (x86).
 */
static inline void tqi_publish_barrier(void)
{
#if defined(__x86_64__) || defined(__i386__)
	tqi_compiler_barrier();
#else
	atomic_thread_fence(memory_order_release);
#endif
}

#endif
