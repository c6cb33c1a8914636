/* SPDX-License-Identifier: MIT */
/* Workers in words. */
#include "worker_text.h"

const char *worker_state_name(const struct tq_worker_info *info)
{
	if (info->flags & TQ_WORKER_IS_DYING)
		return "dead";
	if (info->flags & TQ_WORKER_IS_SUSPECT)
		return "suspect";
	if (info->flags & TQ_WORKER_IS_STOPPING)
		return "stopping";
	if (info->flags & TQ_WORKER_IS_MASTER)
		return "master";
	if (info->flags & TQ_WORKER_IS_WAITING)
		return "waiting";
	return info->claims ? "busy" : "idle";
}
