/* SPDX-License-Identifier: MIT */
/*
 * Rare settings (struct tqi_extra) for a task that came in without: its block is copied
 * into one with room for them, under the lock.  So what has a large payload has them from
 * the start.
 */
#ifndef TQI_SCHEDULER_EXTRA_H
#define TQI_SCHEDULER_EXTRA_H

#include "scheduler/records.h"

#define TQI_EXTRA_COPY_MAX 65536u /* payload bytes that are copied under the lock: some 10 us */

/* See that a waiting task has them.  -ENOMEM: nothing was changed. */
int tqi_extra_make(struct tqi_tx *tx, struct tqi_task *task);

#endif
