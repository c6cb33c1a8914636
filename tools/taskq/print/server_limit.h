/* SPDX-License-Identifier: MIT */
/* Limits of servers, for `taskq limit --server`. */
#ifndef TASKQ_TOOL_SERVER_LIMIT_H
#define TASKQ_TOOL_SERVER_LIMIT_H

#include "cli.h"

/* Set (slots above 0) or remove the limit of a pattern in the queue; the exit code. */
int server_limit_change(struct cli *cli, const char *pattern, uint32_t slots);
/* Print those of all queues, or of the one that was given; CLI_NOTHING there are none. */
int server_limit_list(struct cli *cli);

#endif
