/* SPDX-License-Identifier: MIT */
/*
 * What goes on inside calls of the library, for taskq-bench-inside: the linker puts
 * bench_probe.c between the library and its own lock and heaps, so neither the library
 * nor taskq-bench pays for it.  One thread.
 */
#ifndef TASKQ_BENCH_PROBE_H
#define TASKQ_BENCH_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* What was seen since the probe was cleared, while it was on. */
struct bench_probe {
	uint32_t holds;
	uint32_t moves;	      /* entries that went into, out of, or elsewhere in a heap */
	uint64_t longest_ns;  /* of a hold: the thread's time on a processor */
	uint64_t p999_ns;     /* 99.9 % of the holds took no longer */
};

void bench_probe_clear(void);
void bench_probe_on(bool on);
struct bench_probe bench_probe_read(void);

#endif
