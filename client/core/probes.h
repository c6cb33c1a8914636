/* SPDX-License-Identifier: MIT */
/*
 * Static probes (USDT) of provider "taskq": what the flight recorder holds, as it happens.
 *
 *   move     id, from, to, cause, argument, worker
 *   stop     id, cause, worker
 *   signal   id, cause, worker, signal
 *   reclaim  id, cause, argument, worker
 *   steal    id, worker, from which worker
 *   after    id, other task
 *
 * They are in the process that makes the change, after its commit and before the lock is
 * given back: an entry cannot be written over until they have seen it.  One that nobody
 * watches costs nothing but the look at a counter for each hold.
 */
#ifndef TQI_CLIENT_CORE_PROBES_H
#define TQI_CLIENT_CORE_PROBES_H

#include "shm/tx.h"

#ifdef TASKQ_USDT
/* Counted up by who watches any of the probes, in each process: the library's one
 * writable word. */
extern __attribute__((visibility("hidden"))) unsigned short taskq_move_semaphore;
#else
static const unsigned short taskq_move_semaphore;
#endif

void tqi_probes_fire_all(struct tqi_tx *tx);

/* Fire for what this hold has recorded. */
static inline void tqi_probes_fire(struct tqi_tx *tx)
{
	if (__builtin_expect(*(const volatile unsigned short *)&taskq_move_semaphore != 0, 0))
		tqi_probes_fire_all(tx);
}

#endif
