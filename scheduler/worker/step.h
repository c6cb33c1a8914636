/* SPDX-License-Identifier: MIT */
/* Several transactions in one hold. */
#ifndef TQI_SCHEDULER_WORKER_STEP_H
#define TQI_SCHEDULER_WORKER_STEP_H

#include "scheduler/record/records.h"

/*
 * Commit what has been done so far and go on in the same hold: the journal holds
 * one step at a time.
 */
void tqi_step(struct tqi_tx *tx);

#endif
