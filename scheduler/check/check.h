/* SPDX-License-Identifier: MIT */
/*
 * Verifies every invariant of a segment: RC-1 to RC-10 (scheduler/record/records.h), WT-1, WT-6,
 * WT-8 (shm/wait.h), SL-1 and SL-2 (scheduler/worker/asleep.h), WO-1 to WO-3 (scheduler/graph/behalf.h), gauges against a recount, and that each
 * byte of memory has one use.
 *
 * Only reads, and trusts nothing: the base may be a private copy of a damaged
 * segment.  What was half-done must have been rolled back before.
 */
#ifndef TQI_SCHEDULER_CHECK_CHECK_H
#define TQI_SCHEDULER_CHECK_CHECK_H

#include "shm/tx.h"

/* Called with one line for each fault. */
typedef void tqi_check_finding(void *arg, const char *text);

/* Bytes of scratch memory that a check wants, zeroed; of them it touches few. */
uint64_t tqi_check_scratch_bytes(const struct tqi_geometry *geometry);

/* Number of faults. */
uint32_t tqi_check(struct tqi_tx *tx, void *scratch, tqi_check_finding *finding, void *arg);

#endif
