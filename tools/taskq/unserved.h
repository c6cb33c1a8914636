/* SPDX-License-Identifier: MIT */
/* A task that nobody will run is the commonest mistake. */
#ifndef TASKQ_TOOL_UNSERVED_H
#define TASKQ_TOOL_UNSERVED_H

#include "cli.h"

/* Queue and kind of the last warning; all zero at first. */
struct unserved {
	char queue[TQ_NAME_MAX + 1];
	char kind[TQ_NAME_MAX + 1];
};

/* Warns when no live worker serves a task's queue and kind, and did not say so just before. */
void unserved_warn(struct cli *cli, struct unserved *last, uint64_t id);

#endif
