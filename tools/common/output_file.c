/* SPDX-License-Identifier: MIT */
/* The file that a task's output goes to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_file.h"
#include "payload.h"

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

char *output_file(struct tq *tq, const struct tq_task_info *info, uint32_t attempt)
{
	struct tq_exec *exec = NULL;
	void *payload = NULL;
	char *path = NULL;
	uint64_t bytes;

	if (strcmp(info->kind, "exec") != 0 || payload_read(tq, info->id, &payload, &bytes) < 0)
		return NULL;
	if (tq_exec_decode(payload, bytes, &exec) == 0)
		path = join(exec, info->id, attempt ? attempt : 1);
	free(exec);
	free(payload);
	return path;
}
