/* SPDX-License-Identifier: MIT */
/* The columns of a queue, or of a kind in it, for `taskq stats`. */
#ifndef TASKQ_TOOL_QUEUE_COLUMNS_H
#define TASKQ_TOOL_QUEUE_COLUMNS_H

#include "tools/taskq/print/columns.h"

/* What is counted and measured of a queue, or of a kind in it, at one moment. */
struct queue_row {
	struct tq_queue_info info;
	struct tq_times times;
};

extern const struct column queue_columns[]; /* of struct queue_row */

/* Percent done of done and failed, of which there are some; rounded, but all or none only
 * when it is. */
double queue_success(const struct tq_counters *counters);

#endif
