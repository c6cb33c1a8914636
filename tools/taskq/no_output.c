/* SPDX-License-Identifier: MIT */
/* Why there is no output to show. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "no_output.h"
#include "outcome.h"
#include "payload.h"

/* The name of the file of its last attempt, as its worker has made it of the pattern. */
static void put_path(FILE *out, const struct tq_exec *exec, const struct tq_task_info *info)
{
	char id[TQ_ID_TEXT_MAX];

	if (exec->output_path[0] != '/' && exec->cwd)
		fprintf(out, "%s/", exec->cwd);
	for (const char *at = exec->output_path; *at; at++) {
		const char letter = at[0] == '%' ? at[1] : '\0';

		if (letter == 'i')
			fputs(tq_task_id_format(info->id, id), out);
		else if (letter == 'a')
			fprintf(out, "%u", info->attempt ? info->attempt : 1);
		else
			fputc(*at, out);
		at += letter == 'i' || letter == 'a' || letter == '%';
	}
}

/* NULL: its output goes to no file.  Freed by free(). */
static char *path_of(struct cli *cli, const struct tq_task_info *info)
{
	struct tq_exec *exec = NULL;
	void *payload = NULL;
	uint64_t bytes;
	char *text = NULL;
	size_t text_bytes;

	if (strcmp(info->kind, "exec") != 0 ||
	    payload_read(cli->tq, info->id, &payload, &bytes) < 0)
		return NULL;
	FILE *out = tq_exec_decode(payload, bytes, &exec) == 0 && exec->output_path
			    ? open_memstream(&text, &text_bytes)
			    : NULL;

	if (out) {
		put_path(out, exec, info);
		fclose(out);
	}
	free(exec);
	free(payload);
	return text;
}

void no_output_say(struct cli *cli, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char name[TQ_ID_TEXT_MAX], outcome[OUTCOME_MAX];

	if (tq_task_info(cli->tq, id, &info) < 0)
		return;
	char *path = path_of(cli, &info);

	tq_task_id_format(id, name);
	if (path)
		complain("%s: its output goes to %s", name, path);
	else if (!info.attempt)
		complain("%s: it has not started: %s", name, outcome_format(&info, outcome));
	else
		complain("%s: it has written nothing: %s", name, outcome_format(&info, outcome));
	free(path);
}
