/* SPDX-License-Identifier: MIT */
/* Answers in JSON: the objects that `taskq --json` prints. */
#ifndef TASKQ_EXPORTER_API_H
#define TASKQ_EXPORTER_API_H

#include "answer.h"
#include "exporter.h"
#include "format.h"

struct MHD_Connection;

struct request {
	const struct exporter *exporter;
	struct MHD_Connection *connection;
	const char *path;
};

typedef struct answer answer_fn(const struct request *request);

/* Lists, a page at a time: {"queues": [...], "next": "17"}, the latter when there may be
 * more. */
answer_fn api_queues, api_workers, api_limits, api_groups, api_schedules, api_tasks;

/* /api/tasks/ID and what is below it */
answer_fn api_task;

/* /api/tasks/ID/output: text, and in headers where it begins and goes on. */
struct answer api_output(const struct request *request, uint64_t id);

/* Bounds of what one answer takes, however large the payloads of a segment are. */
enum {
	ROWS_BYTES = 1 << 20,	 /* a page with rows of so much ends */
	ROW_PAYLOAD_MAX = 4096,	 /* a longer one is left out of a list of tasks, */
	TASK_PAYLOAD_MAX = 1 << 20, /* and out of /api/tasks/ID */
};

/* Appends a row and returns its bytes in the answer. */
size_t api_add_row(json_t *rows, json_t *row);

/* The answer to an error of the library that is not about one task. */
struct answer api_failure(const struct request *request, int r);

/* The answer to one that may be about a task. */
struct answer api_task_failure(const struct request *request, uint64_t id, int r);

/* The end of a list's answer. */
struct answer api_page(const char *key, json_t *rows, bool is_full, uint64_t cursor);

#endif
