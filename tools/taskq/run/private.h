/* SPDX-License-Identifier: MIT */
/* A farm of this process alone, on a queue of its own, for `run` and `map`. */
#ifndef TASKQ_TOOL_PRIVATE_H
#define TASKQ_TOOL_PRIVATE_H

#include <sys/types.h>

#include "cli.h"
#include "tools/taskq/run/watch.h"

struct private_farm {
	pid_t pid; /* 0 none */
	int fd;	   /* holds the lock on the queue's name */
	char queue[TQ_NAME_MAX + 1];
};

/* Finds a queue that nobody uses, and keeps others from it; false when it failed, with cli->exit_code. */
bool private_queue(struct cli *cli, struct private_farm *farm);

/* Forks the farm; it ends with this process, and then cancels what is left in its
 * queue.  False when it failed, with cli->exit_code. */
bool private_start(struct cli *cli, struct private_farm *farm, uint32_t workers,
		   const struct watch *watch);

void private_end(struct private_farm *farm);

#endif
