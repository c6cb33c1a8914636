/* SPDX-License-Identifier: MIT */
/* Waits, runs and lives of a queue's tasks, as percentiles. */
#ifndef TASKQ_TOOL_TIMES_H
#define TASKQ_TOOL_TIMES_H

#include <jansson.h>

#include <taskq/taskq.h>

/* Those of a row of tq_queue_list(): all zero where there are none. */
void times_read(struct tq *tq, const struct tq_queue_info *info, struct tq_times *ret_times);

/* One line each, of those that there are samples of. */
void times_print(const struct tq_times *times);

#endif
