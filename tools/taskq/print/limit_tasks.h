/* SPDX-License-Identifier: MIT */
/* Which tasks have a slot of a limit, and which wait for one. */
#ifndef TASKQ_LIMIT_TASKS_H
#define TASKQ_LIMIT_TASKS_H

#include <jansson.h>

#include "taskq/taskq.h"

/*
 * The first 32 of each, by ids and labels for people, or (not NULL) into @object: "holders"
 * and "waiters".  It reads all tasks.  0, or the library's error.
 */
int limit_tasks_put(struct tq *tq, const char *key, json_t *object);

#endif
