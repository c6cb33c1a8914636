/* SPDX-License-Identifier: MIT */
/*
 * What the library asks of the operating system while a segment is in use:
 * clock, futex, liveness.  Tests put their own table in place.
 */
#ifndef TQI_SHM_OPS_H
#define TQI_SHM_OPS_H

#include <stdint.h>

#include "shm/atomic.h"
#include "shm/ident.h"

/* One word to sleep on: asleep while *word == value. */
struct tqi_futex {
	const struct tqi_word32 *word;
	uint32_t value;
};

#define TQI_FUTEX_WAIT_MAX 128 /* words of one wait: the kernel's FUTEX_WAITV_MAX */

struct tqi_ops {
	/* CLOCK_MONOTONIC, nanoseconds. */
	uint64_t (*now)(void *ctx);
	/*
	 * Sleep until a word differs, is woken, or `until_ns` (CLOCK_MONOTONIC;
	 * UINT64_MAX = no limit).  0 woken or different, -ETIMEDOUT, -EINTR.
	 */
	int (*futex_wait)(void *ctx, const struct tqi_futex *words, uint32_t count,
			  uint64_t until_ns);
	/* CLOCK_REALTIME, nanoseconds since 1970; whoever sets the clock makes it step. */
	uint64_t (*wall)(void *ctx);
	/* As futex_wait, until a time of CLOCK_REALTIME: it ends when a step passes it, too. */
	int (*futex_wait_wall)(void *ctx, const struct tqi_futex *words, uint32_t count,
			       uint64_t until_ns);
	void (*futex_wake)(void *ctx, struct tqi_word32 *word, uint32_t count);
	/* Whether the process has been proved gone; false when alive or unknown. */
	bool (*process_gone)(void *ctx, const struct tqi_ident *who);
	/* The same for a thread, by tid and its own start time. */
	bool (*thread_gone)(void *ctx, uint32_t tid, uint64_t tid_start);
	/* Whether no process is left in the group led by `pgid`, started at `start`. */
	bool (*group_empty)(void *ctx, uint32_t pgid, uint64_t start);
	/* Whether this open file has no name any more. */
	bool (*is_unlinked)(void *ctx, int fd);
	/*
	 * How often caa_cpu_relax() goes into `ns`, about; 0 where this process may use one
	 * processor only: nobody else gets anywhere meanwhile.  Takes up to 0.1 ms.
	 */
	uint32_t (*pauses)(void *ctx, uint64_t ns);
	void *ctx;
};

extern const struct tqi_ops tqi_ops_linux;

#endif
