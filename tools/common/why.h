/* SPDX-License-Identifier: MIT */
/* Why a task is not running, in one sentence. */
#ifndef TASKQ_TOOL_WHY_H
#define TASKQ_TOOL_WHY_H

#include <taskq/taskq.h>

#include "format.h"

enum {
	WHY_MAX = 1024
};

/* The sentence, without the id and without a full stop.  Fills @buf and returns it. */
char *why_format(struct tq *tq, const struct tq_task_info *info, const struct tq_why *why,
		 const struct clocks *clocks, char buf[WHY_MAX]);

#endif
