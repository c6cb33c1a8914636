/* SPDX-License-Identifier: MIT */
/*
 * Verifies every invariant of a segment: R1 to R10 (scheduler/record/records.h), W1, W6,
 * W8 (shm/wait.h), AS1 and AS2 (scheduler/worker/asleep.h), Y1 to Y3 (scheduler/graph/behalf.h), gauges against a recount, and that each
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
