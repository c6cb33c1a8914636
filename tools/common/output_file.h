/* SPDX-License-Identifier: MIT */
/* The file that a task's output goes to. */
#ifndef TASKQ_TOOL_OUTPUT_FILE_H
#define TASKQ_TOOL_OUTPUT_FILE_H

#include <taskq/taskq.h>

/* That of @attempt, 0 of the first, below the directory that the command runs in; NULL: it
 * goes to no file.  Freed by free(). */
char *output_file(struct tq *tq, const struct tq_task_info *info, uint32_t attempt);

#endif
