/* SPDX-License-Identifier: MIT */
/* A task that nobody will run is the commonest mistake. */
#ifndef TASKQ_TOOL_UNSERVED_H
#define TASKQ_TOOL_UNSERVED_H

#include "cli.h"

enum {
	UNSERVED_TOLD = 8 /* warnings at most: the others are counted */
};

/* What has been warned of; all zero at first. */
struct unserved {
	struct unserved_work {
		char queue[TQ_NAME_MAX + 1];
		char kind[TQ_NAME_MAX + 1];
	} told[UNSERVED_TOLD];
	unsigned count;
	uint64_t more; /* tasks of other queues or kinds */
};

/* Warns when no live worker serves a task's queue and kind, once for each of them. */
void unserved_warn(struct cli *cli, struct unserved *unserved, uint64_t id);
/* After the last: how many more there are. */
void unserved_end(const struct unserved *unserved);

#endif
