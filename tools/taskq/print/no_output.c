/* SPDX-License-Identifier: MIT */
/* Why there is no output to show. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "outcome.h"
#include "payload.h"
#include "tools/taskq/print/no_output.h"

/* The file below the directory that the command runs in.  Freed by free(). */
static char *join(const struct tq_exec *exec, uint64_t id, uint32_t attempt)
{
	char *path, *whole = NULL;

	if (tq_exec_output_path(exec, id, attempt, &path) < 0)
		return NULL;
	if (path[0] == '/' || !exec->cwd)
		return path;
	if (asprintf(&whole, "%s/%s", exec->cwd, path) < 0)
		whole = NULL;
	free(path);
	return whole;
}

/* NULL: its output goes to no file.  Freed by free(). */
static char *path_of(struct cli *cli, const struct tq_task_info *info, uint32_t attempt)
{
	struct tq_exec *exec = NULL;
	void *payload = NULL;
	char *path = NULL;
	uint64_t bytes;

	if (strcmp(info->kind, "exec") != 0 ||
	    payload_read(cli->tq, info->id, &payload, &bytes) < 0)
		return NULL;
	if (tq_exec_decode(payload, bytes, &exec) == 0)
		path = join(exec, info->id, attempt ? attempt : 1);
	free(exec);
	free(payload);
	return path;
}

void no_output_say(struct cli *cli, uint64_t id, uint32_t attempt)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char name[TQ_ID_TEXT_MAX], outcome[OUTCOME_MAX];

	if (tq_task_info(cli->tq, id, &info) < 0)
		return;
	char *path = path_of(cli, &info, attempt);

	tq_task_id_format(id, name);
	if (path)
		complain("%s: its output goes to %s", name, path);
	else if (!info.attempt)
		complain("%s: it has not started: %s", name, outcome_format(&info, outcome));
	else
		complain("%s: it has written nothing: %s", name, outcome_format(&info, outcome));
	free(path);
}
