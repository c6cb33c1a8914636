/* SPDX-License-Identifier: MIT */
/* What happens to tasks when their time has come: by the due heap, and by the wall clock. */
#ifndef TQI_SCHEDULER_TASK_DUE_RUN_H
#define TQI_SCHEDULER_TASK_DUE_RUN_H

#include "scheduler/record/records.h"

/* Handle tokens, and up to `count` tasks, whose time has come; true when there may be more. */
bool tqi_due_run(struct tqi_tx *tx, uint32_t count);
/* Handle up to `count` tasks whose time by the wall clock has come; true when there may be more. */
bool tqi_wall_run(struct tqi_tx *tx, uint32_t count);

#endif
