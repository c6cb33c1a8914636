/* SPDX-License-Identifier: MIT */
/*
 * Noticing fork() without a system call: a private page that the kernel wipes in
 * children (MADV_WIPEONFORK).  It catches fork, _Fork and raw clone alike, which
 * pthread_atfork() does not.
 */
#ifndef TQI_CLIENT_CORE_WIPE_H
#define TQI_CLIENT_CORE_WIPE_H

#include "shm/atomic.h"

struct tqi_wipe {
	struct tqi_word32 pid; /* 0 = not yet known in this process; stored last */
	struct tqi_word64 start;
};

/* NULL: no memory. */
struct tqi_wipe *tqi_wipe_new(void);
void tqi_wipe_free(struct tqi_wipe *wipe);
/* Read both anew; answers the pid. */
uint32_t tqi_wipe_learn(struct tqi_wipe *wipe);

/* Pid and start time of the calling process. */
static inline uint32_t tqi_wipe_pid(struct tqi_wipe *wipe)
{
	uint32_t pid = tqi_load_acquire32(&wipe->pid);

	return __builtin_expect(pid != 0, 1) ? pid : tqi_wipe_learn(wipe);
}

static inline uint64_t tqi_wipe_start(struct tqi_wipe *wipe)
{
	tqi_wipe_pid(wipe);
	return tqi_load_relaxed64(&wipe->start);
}

#endif
