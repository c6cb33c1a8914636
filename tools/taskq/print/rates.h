/* SPDX-License-Identifier: MIT */
/* What has changed between two looks at the queues, as vmstat(8) does it. */
#ifndef TASKQ_TOOL_RATES_H
#define TASKQ_TOOL_RATES_H

#include "cli.h"

struct rates {
	uint64_t interval_ns;
	uint64_t count;	     /* intervals; 0 without end */
	uint32_t list_flags; /* of tq_queue_list() */
};

/* Prints a row for each queue, or kind, after each interval; the exit code. */
int rates_print(struct cli *cli, const struct rates *rates);

#endif
