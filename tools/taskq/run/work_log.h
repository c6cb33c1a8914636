/* SPDX-License-Identifier: MIT */
/* The log of `taskq work`, on standard error: a line for people, or with --json an object. */
#ifndef TASKQ_TOOL_WORK_LOG_H
#define TASKQ_TOOL_WORK_LOG_H

#include "cli.h"

/* A tq_farm_report; its argument is the struct cli. */
void work_log(void *cli, const struct tq_farm_event *event);

#endif
