/* SPDX-License-Identifier: MIT */
/* How many startable tasks are to start before a given one. */
#ifndef TQI_CLIENT_OBSERVE_WHY_BEFORE_H
#define TQI_CLIENT_OBSERVE_WHY_BEFORE_H

#include "client/core/handle.h"

/*
 * Of the task's own queue, up to TQ_WHY_BEFORE_MAX; of a segment at work it is about
 * right.  Reads by pread, about one for each task that it counts.
 */
uint32_t tqi_why_before(const struct tqi_segment *seg, uint32_t index, const struct tqi_task *task);

#endif
