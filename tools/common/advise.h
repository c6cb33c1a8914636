/* SPDX-License-Identifier: MIT */
/* What stands in the way, looked up when a call has failed. */
#ifndef TASKQ_TOOL_ADVISE_H
#define TASKQ_TOOL_ADVISE_H

#include "cli.h"

/* Adds to the message about @r who holds the lock, or what is full and how large it is. */
void advise(const struct cli *cli, int r);

#endif
