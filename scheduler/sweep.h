/* SPDX-License-Identifier: MIT */
/*
 * Large decisions (purge, shutdown with cancel, another policy) are made in one word; this walks
 * over all task records, a slice in each hold, and carries them out.
 */
#ifndef TQI_SCHEDULER_SWEEP_H
#define TQI_SCHEDULER_SWEEP_H

#include "scheduler/records.h"

/* Begin a full round from wherever the sweep stands. */
void tqi_sweep_start(struct tqi_tx *tx);
/* One slice; true when something is left. */
bool tqi_sweep_slice(struct tqi_tx *tx);
bool tqi_sweep_pending(struct tqi_tx *tx);

#endif
