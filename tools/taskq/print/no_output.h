/* SPDX-License-Identifier: MIT */
/* Why there is no output to show. */
#ifndef TASKQ_TOOL_NO_OUTPUT_H
#define TASKQ_TOOL_NO_OUTPUT_H

#include "cli.h"

/* Of a task of which none is kept: says where that of @attempt goes, 0 of the first, or why
 * there is none. */
void no_output_say(struct cli *cli, uint64_t id, uint32_t attempt);

#endif
