/* SPDX-License-Identifier: MIT */
/*
 * Whether the kernel has killed for want of memory.
 *
 * It leaves no mark on the victim: a SIGKILL that nobody of us sent, while the
 * counter of kills of the own cgroup (or, without one, of the machine) grew, is
 * taken for it.  Sure in a cgroup of its own; else it is wrong when somebody sends
 * SIGKILL in the same moments in which another process is the kernel's victim.
 */
#ifndef TQI_CLIENT_FARM_OOM_H
#define TQI_CLIENT_FARM_OOM_H

#include <stdint.h>

/* Kills so far; 0 unknown. */
uint64_t tqi_oom_kills(void);

#endif
