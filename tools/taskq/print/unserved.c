/* SPDX-License-Identifier: MIT */
/* A task that nobody will run is the commonest mistake. */
#include "tools/taskq/print/unserved.h"

#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "format.h"

static bool is_told(const struct unserved *unserved, const struct tq_task_info *info)
{
	for (unsigned i = 0; i < unserved->count; i++)
		if (!strcmp(info->queue, unserved->told[i].queue) &&
		    !strcmp(info->kind, unserved->told[i].kind))
			return true;
	return false;
}

void unserved_warn(struct cli *cli, struct unserved *unserved, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const bool is_known = tq_task_info(cli->tq, id, &info) == 0; /* --forget may be done */

	if (!is_known || !(info.flags & TQ_INFO_UNSERVED) || is_told(unserved, &info))
		return;
	if (unserved->count == UNSERVED_TOLD) {
		unserved->more++;
		return;
	}
	struct unserved_work *work = &unserved->told[unserved->count++];

	snprintf(work->queue, sizeof(work->queue), "%s", info.queue);
	snprintf(work->kind, sizeof(work->kind), "%s", info.kind);
	complain("warning: no live worker serves queue \"%s\" and kind \"%s\"", info.queue,
		 info.kind);
	if (strcmp(info.kind, "exec") != 0)
		complain_more("start the program that handles that kind, on that queue");
	else
		complain_more("start one: `taskq work -q %s`", info.queue);
}

void unserved_end(const struct unserved *unserved)
{
	if (unserved->more)
		complain("warning: and %llu more %s of other queues or kinds that no live worker "
			 "serves",
			 (unsigned long long)unserved->more,
			 format_plural(unserved->more, "task is", "tasks are"));
}
