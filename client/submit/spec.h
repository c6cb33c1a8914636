/* SPDX-License-Identifier: MIT */
/* Descriptions of tasks at the boundary. */
#ifndef TQI_CLIENT_SUBMIT_SPEC_H
#define TQI_CLIENT_SUBMIT_SPEC_H

#include "taskq/task.h"

/* Copy a caller's in, with default names, and check all but these.  -EINVAL, -ERANGE, -E2BIG. */
int tqi_spec_in(struct tq_task_spec *to, const struct tq_task_spec *from);

/* The same with all that it refers to; free() it.  Also -ENOMEM. */
int tqi_spec_copy(const struct tq_task_spec *from, struct tq_task_spec **ret_spec);

#endif
