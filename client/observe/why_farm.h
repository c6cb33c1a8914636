/* SPDX-License-Identifier: MIT */
/* Whether a farm has too many attempts that wait to run a given task. */
#ifndef TQI_CLIENT_OBSERVE_WHY_FARM_H
#define TQI_CLIENT_OBSERVE_WHY_FARM_H

#include "client/core/handle.h"

/*
 * Of a task that finds all its workers busy: whether a farm would start a worker more for it,
 * had it not as many substitutes as there may be.  Then the farm's master, and how many
 * attempts wait there, are named.
 */
bool tqi_why_substitutes(const struct tqi_segment *seg, const struct tqi_task *task,
			 struct tq_why *why);

#endif
