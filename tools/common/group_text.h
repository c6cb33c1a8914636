/* SPDX-License-Identifier: MIT */
/* What is said of a group. */
#ifndef TASKQ_TOOL_GROUP_TEXT_H
#define TASKQ_TOOL_GROUP_TEXT_H

#include <taskq/taskq.h>

enum {
	GROUP_STATES_MAX = 256
};

/* Its members by state, "3 running, 7 done"; "none". */
char *group_states(const struct tq_group_info *info, char buf[GROUP_STATES_MAX]);

#endif
