/* SPDX-License-Identifier: MIT */
/* Whether the flight recorder and the task records tell the same. */
#ifndef TQT_TRACE_H
#define TQT_TRACE_H

#include "scheduler/record/records.h"

/* In a segment that nobody changes: the task whose last entry is not its state; 0 none. */
uint64_t tqt_trace_differs(struct tqi_tx *tx);

#endif
