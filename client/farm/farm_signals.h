/* SPDX-License-Identifier: MIT */
/* Signals of a farm's processes. */
#ifndef TQI_CLIENT_FARM_FARM_SIGNALS_H
#define TQI_CLIENT_FARM_FARM_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "shm/ops.h"

struct tqi_heartbeat;

/* bits of tqi_farm_signals.pending */
#define TQI_PENDING_CHILD (1u << 0)
#define TQI_PENDING_MORE (1u << 1)
#define TQI_PENDING_LESS (1u << 2)
#define TQI_PENDING_NOW (1u << 3)  /* stop without grace */
#define TQI_PENDING_FILE (1u << 4) /* the segment's file has changed: its name? */
#define TQI_PENDING_RELOAD (1u << 5)
#define TQI_PENDING_STOP (1u << 8) /* and above: how often it was told to stop */

#define TQI_FARM_SIGNALS 8

/* Of a master, or, in a process that it forked, of a worker. */
struct tqi_farm_signals {
	struct tqi_word32 pending; /* slept on by the master */
	const struct tqi_ops *ops;
	struct tqi_heartbeat *_Atomic heartbeat; /* a worker's: told when it is to end */
	bool installed;
	struct sigaction before[TQI_FARM_SIGNALS];
	sigset_t mask_before;
};

/* Be the farm of this process.  -EBUSY there is one already. */
int tqi_farm_signals_open(struct tqi_farm_signals *signals, const struct tqi_ops *ops,
			  bool keep_handlers);
/* Put everything back. */
void tqi_farm_signals_close(struct tqi_farm_signals *signals);
/* In a forked worker, where all signals are blocked: `mask` is what they were before. */
void tqi_farm_signals_worker(struct tqi_farm_signals *signals, const sigset_t *mask);

/* What has come since the last call. */
uint32_t tqi_farm_signals_take(struct tqi_farm_signals *signals);

#endif
