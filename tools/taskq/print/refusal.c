/* SPDX-License-Identifier: MIT */
/* A task that is given back again and again never ends, and a farm's log is elsewhere. */
#include "tools/taskq/print/refusal.h"

#include "errors.h"

bool refusal_say(const struct tq_task_info *info)
{
	char id[TQ_ID_TEXT_MAX];

	if (info->state >= TQ_DONE || info->cause != TQ_CAUSE_RELEASED || !info->error_text[0])
		return false;
	complain("%s: an attempt was given back, others follow: %s",
		 tq_task_id_format(info->id, id), info->error_text);
	return true;
}
