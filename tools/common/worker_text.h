/* SPDX-License-Identifier: MIT */
/* Workers in words. */
#ifndef TASKQ_TOOL_WORKER_TEXT_H
#define TASKQ_TOOL_WORKER_TEXT_H

#include <taskq/taskq.h>

/* "busy", "idle", "master", "stopping", "suspect" or "dead". */
const char *worker_state_name(const struct tq_worker_info *info);

#endif
