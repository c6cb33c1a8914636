/* SPDX-License-Identifier: MIT */
/* Why there is no output to show. */
#include <stdio.h>
#include <stdlib.h>

#include "errors.h"
#include "outcome.h"
#include "output_file.h"
#include "tools/taskq/print/no_output.h"

void no_output_say(struct cli *cli, uint64_t id, uint32_t attempt)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char name[TQ_ID_TEXT_MAX], outcome[OUTCOME_MAX];

	if (tq_task_info(cli->tq, id, &info) < 0)
		return;
	char *path = output_file(cli->tq, &info, attempt);

	tq_task_id_format(id, name);
	if (path)
		complain("%s: its output goes to %s", name, path);
	else if (!info.attempt)
		complain("%s: it has not started: %s", name, outcome_format(&info, outcome));
	else
		complain("%s: it has written nothing: %s", name, outcome_format(&info, outcome));
	free(path);
}
