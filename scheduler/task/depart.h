/* SPDX-License-Identifier: MIT */
/* Workers that leave, or have been proved dead: their attempts end, and they are taken apart. */
#ifndef TQI_SCHEDULER_TASK_DEPART_H
#define TQI_SCHEDULER_TASK_DEPART_H

#include "scheduler/task/claim.h"
#include "scheduler/worker/worker.h"

/* Leave; claims go back without fault, a slice in each hold: true when it is done. */
bool tqi_worker_unregister(struct tqi_tx *tx, uint32_t worker);
/*
 * The process has been proved gone.  With a live master the master alone says why:
 * it is woken, and after a second this goes on without it.  `groups_empty`: no
 * process of its commands is left, or its attempts wait for that.  True when the worker has been taken apart.
 */
bool tqi_worker_gone(struct tqi_tx *tx, const struct tqi_suspect *suspect, bool groups_empty);
/* The master's verdict; everything of it is gone.  A slice; true when it is done. */
bool tqi_worker_dead(struct tqi_tx *tx, uint32_t worker, uint64_t generation,
		     const struct tqi_death *death);

#endif
