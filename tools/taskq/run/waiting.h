/* SPDX-License-Identifier: MIT */
/* Waiting for tasks in the way of a program that people stop and continue. */
#ifndef TASKQ_TOOL_WAITING_H
#define TASKQ_TOOL_WAITING_H

#include "cli.h"

/* tq_wait(), going on after signals (Ctrl-Z and fg), with the time left. */
int wait_task(struct tq *tq, uint64_t id, uint64_t timeout_ns, struct tq_task_info *ret_info);

/* How to wait. */
struct waiting {
	uint64_t timeout_ns;
	bool any_number; /* of tasks: exits as with several, also when it is one */
	bool urgent;	 /* with a priority */
	int32_t priority;
};

/* Waits for all of @ids and reports: the exit code of `wait`.  Prints the finished
 * tasks as JSON when asked. */
int wait_and_report(struct cli *cli, const uint64_t *ids, unsigned count,
		    const struct waiting *how);

#endif
