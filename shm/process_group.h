/* SPDX-License-Identifier: MIT */
/* Process groups: whether anybody of one still runs. */
#ifndef TQI_SHM_PROCESS_GROUP_H
#define TQI_SHM_PROCESS_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether no process of the group led by `pgid`, started at `start`, runs any more.
 * Zombies do not count: who should reap an orphan may never do it.  False when
 * that cannot be seen.
 */
bool tqi_process_group_is_empty(uint32_t pgid, uint64_t start);

#endif
