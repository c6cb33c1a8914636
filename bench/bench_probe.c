/* SPDX-License-Identifier: MIT */
/*
 * A hold is timed from the lock's being taken to its release, by the clock of the thread
 * itself: others that have the processor meanwhile do not count.  That clock is a system
 * call, of which about one is in each figure.
 */
#include "bench_probe.h"

#include <time.h>

#include "bench.h"
#include "shm/heap.h"
#include "shm/lock.h"

#define HOLDS_MAX (1u << 21) /* sampled; 16 MiB.  Of later ones only the longest counts */
#define NS_PER_S 1000000000ull

/* The linker's names: what callers called, and what they get to. */
int __real_tqi_lock(const struct tqi_segment *seg, const struct tqi_thread *self,
		    uint64_t timeout_ns);
int __wrap_tqi_lock(const struct tqi_segment *seg, const struct tqi_thread *self,
		    uint64_t timeout_ns);
void __real_tqi_unlock(const struct tqi_segment *seg);
void __wrap_tqi_unlock(const struct tqi_segment *seg);
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

int __wrap_tqi_lock(const struct tqi_segment *seg, const struct tqi_thread *self,
		    uint64_t timeout_ns)
{
	int r = __real_tqi_lock(seg, self, timeout_ns);

	if (probe.on)
		probe.begin_ns = thread_ns();
	return r;
}

void __wrap_tqi_unlock(const struct tqi_segment *seg)
{
	uint64_t ns = probe.on ? thread_ns() - probe.begin_ns : 0;

	__real_tqi_unlock(seg);
	if (!probe.on)
		return;
	if (probe.seen.holds < HOLDS_MAX)
		probe.holds[probe.seen.holds++] = ns;
	if (ns > probe.seen.longest_ns)
		probe.seen.longest_ns = ns;
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
