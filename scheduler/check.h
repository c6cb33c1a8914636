/* SPDX-License-Identifier: MIT */
/*
 * Verifies every invariant of a segment: live under the lock, dead, or a private
 * copy.  Writes nothing, locks nothing, and survives any bytes: a reference that
 * is out of range is a finding.
 */
#ifndef TQI_SCHEDULER_CHECK_H
#define TQI_SCHEDULER_CHECK_H

#include "scheduler/records.h"

/* Called for each finding; `text` is one line. */
typedef void tqi_check_finding(void *arg, const char *text);

/* Bytes of scratch memory that a check of this geometry may need; it uses (and clears) few of
 * them when few records exist, so sparse memory will do. */
uint64_t tqi_check_scratch_bytes(const struct tqi_geometry *geometry);

/* Number of faults.  `tx` only carries the base address; it is never committed. */
uint32_t tqi_check(struct tqi_tx *tx, void *scratch, tqi_check_finding *finding, void *arg);

#endif
