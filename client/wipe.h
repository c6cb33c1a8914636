/* SPDX-License-Identifier: MIT */
/*
 * Noticing fork() without a system call: a private page that the kernel wipes in
 * children (MADV_WIPEONFORK).  It catches fork, _Fork and raw clone alike, which
 * pthread_atfork() does not.
 */
#ifndef TQI_CLIENT_WIPE_H
#define TQI_CLIENT_WIPE_H

#include <stdint.h>

struct tqi_wipe;

/* NULL: no memory. */
struct tqi_wipe *tqi_wipe_new(void);
void tqi_wipe_free(struct tqi_wipe *wipe);
/* Pid and start time of the calling process. */
uint32_t tqi_wipe_pid(struct tqi_wipe *wipe);
uint64_t tqi_wipe_start(struct tqi_wipe *wipe);

#endif
