/* SPDX-License-Identifier: MIT */
/* What is said of a group. */
#include "group_text.h"

#include <stdio.h>

char *group_states(const struct tq_group_info *info, char buf[GROUP_STATES_MAX])
{
	int at = 0;

	for (uint32_t s = TQ_BLOCKED; s < TQ_STATE_COUNT; s++)
		if (info->states[s])
			at += snprintf(buf + at, (size_t)(GROUP_STATES_MAX - at), "%s%u %s",
				       at ? ", " : "", info->states[s], tq_task_state_name(s));
	if (!at)
		snprintf(buf, GROUP_STATES_MAX, "none");
	return buf;
}
