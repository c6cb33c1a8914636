/* SPDX-License-Identifier: MIT */
/* One line of a batch: from a JSON object to a task. */
#ifndef TASKQ_TOOL_BATCH_LINE_H
#define TASKQ_TOOL_BATCH_LINE_H

#include <jansson.h>

#include "errors.h"
#include "tools/taskq/options/task_options.h"

struct batch_line {
	struct tq_task_spec spec; /* points into those below */
	const char *limits[TQ_LIMITS_MAX]; /* strings of the object */
	uint32_t limit_weights[TQ_LIMITS_MAX];
	struct after_options after;
	json_t *object;
	void *payload;
	uint64_t number; /* in its file */
	char error[256]; /* why it is no task */
};

/* Reads a line.  False: it is no task, and ->error says why.  Free it in both cases. */
bool batch_line_read(struct batch_line *line, const char *text, size_t bytes,
		     const struct task_options *defaults);
/* The same of an object, which it frees. */
bool batch_line_take(struct batch_line *line, json_t *object, const struct task_options *defaults);
void batch_line_free(struct batch_line *line);

/* Says why a line is no task; false. */
bool batch_line_bad(struct batch_line *line, const char *format, ...) PRINTF_LIKE(2, 3);

/* batch_field.c: one member of the object; the payload's are only known there. */
bool batch_line_field(struct batch_line *line, const char *name, const json_t *value);

#endif
