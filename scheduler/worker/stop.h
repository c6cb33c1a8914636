/* SPDX-License-Identifier: MIT */
/*
 * Ending an attempt before its own verdict: asked, SIGTERM, SIGKILL.  Phase and
 * time are committed before a signal is sent: at most one SIGTERM.  Only those
 * who may, a parent or the process itself, take the steps (client/core/stopper.c).
 */
#ifndef TQI_SCHEDULER_WORKER_STOP_H
#define TQI_SCHEDULER_WORKER_STOP_H

#include "scheduler/record/records.h"

/* Ask for the end of an attempt; the first cause stays. */
void tqi_stop_ask(struct tqi_tx *tx, uint32_t attempt, uint32_t cause);
/* Signal to send now to whom the worker's policy allows; 0 none (yet). */
int tqi_stop_step(struct tqi_tx *tx, uint32_t attempt);
/* When the next step is due; UINT64_MAX none. */
uint64_t tqi_stop_next(struct tqi_tx *tx, uint32_t attempt);

#endif
