/* SPDX-License-Identifier: MIT */
/* A task that nobody will run is the commonest mistake. */
#include "unserved.h"

#include <stdio.h>
#include <string.h>

#include "errors.h"

void unserved_warn(struct cli *cli, struct unserved *last, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const bool is_known = tq_info(cli->tq, id, &info) == 0; /* --forget may be done */

	if (!is_known || !(info.flags & TQ_INFO_UNSERVED) ||
	    (!strcmp(info.queue, last->queue) && !strcmp(info.kind, last->kind)))
		return;
	snprintf(last->queue, sizeof(last->queue), "%s", info.queue);
	snprintf(last->kind, sizeof(last->kind), "%s", info.kind);
	complain("warning: no live worker serves queue \"%s\" and kind \"%s\"", info.queue,
		 info.kind);
	if (strcmp(info.kind, "exec") != 0)
		complain_more("start the program that handles that kind, on that queue");
	else
		complain_more("start one: `taskq work -q %s`", info.queue);
}
