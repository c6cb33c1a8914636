/* SPDX-License-Identifier: MIT */
/* Tasks in an order: by submission, or by any of their columns. */
#ifndef TASKQ_TOOL_ORDER_H
#define TASKQ_TOOL_ORDER_H

#include "tools/taskq/options/filter_options.h"
#include "tools/taskq/print/columns.h"

struct order {
	struct cli *cli; /* attached */
	const struct filter_options *filter;
	const struct clocks *clocks;
	const struct column *column; /* of task_columns; NULL: by submission */
	bool reverse;
	uint64_t most; /* so many: without a column the newest, else the first; UINT64_MAX all */
};

/* Is shown one task; false: no more are wanted. */
typedef bool order_fn(void *ctx, const struct tq_task_info *info);

/*
 * Shows the tasks that match, as they are then, with nothing held and nobody held up.  Memory
 * is for @most of them; when all are wanted, for as many as order.c has room for at a time, after
 * which they are looked through anew: tasks that change meanwhile are then shown twice, or not at all, if it
 * is by what has changed.  0, or an error of the library.
 */
int order_each(const struct order *order, order_fn *show, void *ctx);

#endif
