/* SPDX-License-Identifier: MIT */
/* Runs of schedules (SC-3, SC-4). */
#ifndef TQI_SCHEDULER_TASK_SCHEDULE_RUN_H
#define TQI_SCHEDULER_TASK_SCHEDULE_RUN_H

#include "scheduler/time/schedule.h"

/*
 * Look at one whose time has come.  The transaction must be fresh, and ends here: it is
 * committed with tqi_step(), or undone where there is no room for a run.
 */
void tqi_schedule_run(struct tqi_tx *tx);

#endif
