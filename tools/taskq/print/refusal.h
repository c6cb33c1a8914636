/* SPDX-License-Identifier: MIT */
/* A worker that cannot start a command gives its task back: said to who waits for it. */
#ifndef TASKQ_TOOL_REFUSAL_H
#define TASKQ_TOOL_REFUSAL_H

#include "cli.h"

/* How often to look while nothing else is to be done: the task is back for a second. */
#define REFUSAL_LOOK_NS 500000000ull

/* Says why the last attempt was given back, if it was, and the reason is known; whether. */
bool refusal_say(const struct tq_task_info *info);

#endif
