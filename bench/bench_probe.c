/* SPDX-License-Identifier: MIT */
/*
 * A hold is timed from the lock's being taken to its release, by the clock of the thread
 * itself: others that have the processor meanwhile do not count.  That clock is a system
 * call, of which about one is in each figure.
 */
#include "bench_probe.h"

#include <pthread.h>
#include <time.h>

#include "bench.h"
#include "shm/heap.h"

#define HOLDS_MAX (1u << 21) /* sampled; 16 MiB.  Of later ones only the longest counts */
#define NS_PER_S 1000000000ull
#define PAGE_BYTES 4096u /* the layout's, on all machines */

/* The linker's names: what callers called, and what they get to. */
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
void __real_tqi_heap_push(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			  struct tqi_heap_entry entry);
void __wrap_tqi_heap_push(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			  struct tqi_heap_entry entry);
void __real_tqi_heap_remove(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			    uint32_t index);
void __wrap_tqi_heap_remove(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			    uint32_t index);
void __real_tqi_heap_rekey(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			   uint32_t index, struct tqi_heap_entry entry);
void __wrap_tqi_heap_rekey(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			   uint32_t index, struct tqi_heap_entry entry);

static struct {
	bool on;
	uint64_t begin_ns;
	struct bench_probe seen;
	uint64_t holds[HOLDS_MAX];
} probe;

static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* The segment's lock, which is the first of a page; here nobody else ever has it. */
static bool is_probed(const pthread_mutex_t *mutex)
{
	return probe.on && (uintptr_t)mutex % PAGE_BYTES == 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int r = __real_pthread_mutex_trylock(mutex);

	if (is_probed(mutex))
		probe.begin_ns = thread_ns();
	return r;
}

static void add_hold(uint64_t ns)
{
	if (probe.seen.holds < HOLDS_MAX)
		probe.holds[probe.seen.holds++] = ns;
	if (ns > probe.seen.longest_ns)
		probe.seen.longest_ns = ns;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const uint64_t ns = is_probed(mutex) ? thread_ns() - probe.begin_ns : 0;
	int r = __real_pthread_mutex_unlock(mutex);

	if (is_probed(mutex))
		add_hold(ns);
	return r;
}

void __wrap_tqi_heap_push(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			  struct tqi_heap_entry entry)
{
	probe.seen.moves += probe.on;
	__real_tqi_heap_push(tx, heap, family, entry);
}

void __wrap_tqi_heap_remove(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			    uint32_t index)
{
	probe.seen.moves += probe.on;
	__real_tqi_heap_remove(tx, heap, family, index);
}

void __wrap_tqi_heap_rekey(struct tqi_tx *tx, struct tqi_heap *heap, uint32_t family,
			   uint32_t index, struct tqi_heap_entry entry)
{
	probe.seen.moves += probe.on;
	__real_tqi_heap_rekey(tx, heap, family, index, entry);
}

void bench_probe_clear(void)
{
	probe.seen = (struct bench_probe){ 0 };
}

void bench_probe_on(bool on)
{
	probe.on = on;
}

struct bench_probe bench_probe_read(void)
{
	if (probe.seen.holds)
		probe.seen.p999_ns = bench_quantile(probe.holds, probe.seen.holds, 0.999);
	return probe.seen;
}
