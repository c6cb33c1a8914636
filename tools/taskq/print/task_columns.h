/* SPDX-License-Identifier: MIT */
/* The columns of a task, for `taskq list` and `taskq show`. */
#ifndef TASKQ_TOOL_TASK_COLUMNS_H
#define TASKQ_TOOL_TASK_COLUMNS_H

#include "tools/taskq/print/columns.h"

extern const struct column task_columns[]; /* of struct tq_task_info */

#endif
