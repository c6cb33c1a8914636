/* SPDX-License-Identifier: MIT */
/* Descriptions of tasks at the boundary. */
#ifndef TQI_CLIENT_SUBMIT_SPEC_H
#define TQI_CLIENT_SUBMIT_SPEC_H

#include <stdbool.h>
#include <string.h>

#include "scheduler/record/name.h"
#include "taskq/task.h"

/* Whether its payload is to be a command; the first letter tells most kinds apart. */
static inline bool tqi_spec_is_exec(const struct tq_task_spec *s)
{
	return !s->kind ||
	       (*s->kind == *TQI_KIND_DEFAULT && strcmp(s->kind, TQI_KIND_DEFAULT) == 0);
}

/*
 * Whether there is nothing to check: no setting but queue, kind, priority, payload and forget,
 * and no command.
 */
static inline bool tqi_spec_is_plain(const struct tq_task_spec *s)
{
	const uint64_t times = s->delay_ns | s->timeout_ns | s->timeout_total_ns |
			       s->progress_timeout_ns | s->backoff_ns | s->backoff_cap_ns |
			       s->deadline_ns | s->at_ns;
	const uint32_t counts = s->attempts_max | s->crashes_max | s->losses_max | s->limit_count |
				s->after_count | s->unique_scope;
	const bool keys = s->unique_key || s->fair_key || s->label;

	return !(times | counts | s->reserved0 | s->reserved1 | (s->flags & ~TQ_TASK_FORGET)) &&
	       !keys && s->payload && s->payload_bytes <= TQ_PAYLOAD_MAX && !tqi_spec_is_exec(s);
}

/* Whether a caller's can be used as it is: of a program of this build, as most are, and plain. */
static inline bool tqi_spec_is_ready(const struct tq_task_spec *spec)
{
	return spec && spec->size == sizeof(*spec) && tqi_spec_is_plain(spec);
}

/* Whether a task may have these limit keys, with these weights, NULL 1 each. */
bool tqi_limit_keys_are_valid(const char *const *keys, const uint32_t *weights, uint32_t count);

/* Copy a caller's in, with default names, and check all but these.  -EINVAL, -ERANGE, -E2BIG. */
int tqi_spec_in(struct tq_task_spec *to, const struct tq_task_spec *from);

/* The same with all that it refers to; free() it.  Also -ENOMEM. */
int tqi_spec_copy(const struct tq_task_spec *from, struct tq_task_spec **ret_spec);

#endif
