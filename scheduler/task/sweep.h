/* SPDX-License-Identifier: MIT */
/*
 * Large decisions (purge, shutdown, another policy) are made in one word; this walks over all
 * task records, or groups, a slice in each hold, and carries them out.
 */
#ifndef TQI_SCHEDULER_TASK_SWEEP_H
#define TQI_SCHEDULER_TASK_SWEEP_H

#include "scheduler/record/sweep_state.h"

/* One slice; true when something is left. */
bool tqi_sweep_slice(struct tqi_tx *tx);
bool tqi_sweep_pending(struct tqi_tx *tx);

#endif
