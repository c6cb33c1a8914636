/* SPDX-License-Identifier: MIT */
/* Walks over the members of groups (GR-8). */
#ifndef TQI_SCHEDULER_TASK_GROUP_WALK_H
#define TQI_SCHEDULER_TASK_GROUP_WALK_H

#include "scheduler/record/records.h"

/* One slice of one group's; true when something is left. */
bool tqi_group_slice(struct tqi_tx *tx);

#endif
