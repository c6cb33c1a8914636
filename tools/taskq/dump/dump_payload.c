/* SPDX-License-Identifier: MIT */
/* Payloads of a dump: as people write them where that says everything, else in base64. */
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "json.h"
#include "payload.h"
#include "tools/taskq/dump/dump.h"
#include "tools/taskq/submit/batch_line.h"

static const char *const command_fields[] = { "command",	 "env",	 "cwd", "output", "append",
					      "allow_leftovers", "umask" };
#define COMMAND_FIELDS (sizeof(command_fields) / sizeof(command_fields[0]))

/* A command without who follows its output, for whom it would be held back for nothing.
 * Freed by free(); NULL: it is none, or no memory. */
static void *without_reader(const void *payload, uint64_t bytes, uint64_t *ret_bytes)
{
	struct tq_exec *exec;
	void *copy = NULL;

	if (tq_exec_decode(payload, bytes, &exec) < 0)
		return NULL;
	exec->reader = 0;
	exec->reader_fd = 0;
	exec->flags &= ~TQ_EXEC_READER_FD;
	if (command_encode(exec, &copy, ret_bytes) < 0)
		copy = NULL;
	free(exec);
	return copy;
}

/* Whether the command in @object is read as these bytes, wherever that is done. */
static bool reads_as(const json_t *object, const void *payload, uint64_t bytes)
{
	json_t *command = json_object();
	struct task_options defaults;
	struct batch_line line;
	bool same;

	for (unsigned i = 0; i < COMMAND_FIELDS; i++)
		json_object_set(command, command_fields[i],
				json_object_get(object, command_fields[i]));
	task_options_init(&defaults);
	same = batch_line_take(&line, command, &defaults) && line.spec.payload_bytes == bytes &&
	       !memcmp(line.spec.payload, payload, bytes);
	batch_line_free(&line);
	task_options_free(&defaults);
	return same;
}

static void put_base64(json_t *object, const void *payload, uint64_t bytes)
{
	char *text = base64_encode(payload, bytes);

	for (unsigned i = 0; i < COMMAND_FIELDS; i++)
		json_object_del(object, command_fields[i]);
	json_object_set_new(object, "payload_base64", json_string(text ? text : ""));
	free(text);
}

void dump_payload(json_t *object, const char *kind, const void *payload, uint64_t bytes)
{
	const bool is_exec = !strcmp(kind, "exec");
	uint64_t own_bytes = bytes;
	void *own = is_exec ? without_reader(payload, bytes, &own_bytes) : NULL;
	const void *exact = own ? own : payload;

	json_set_payload(object, kind, exact, own_bytes);
	if (is_exec && !reads_as(object, exact, own_bytes))
		put_base64(object, exact, own_bytes);
	free(own);
}
