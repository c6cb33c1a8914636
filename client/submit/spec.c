/* SPDX-License-Identifier: MIT */
/* Descriptions of tasks at the boundary. */
#include "client/submit/spec.h"

#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "client/submit/exec.h"
#include "scheduler/record/name.h"

#define SPEC_FLAGS                                                                                 \
	(TQ_TASK_HOLD | TQ_TASK_FORGET | TQ_TASK_KEEP | TQ_TASK_AT_MOST_ONCE | TQ_TASK_RESERVE)

/* One that is optional. */
static bool key_is_valid(const char *key)
{
	return !key || (*key && strnlen(key, TQ_KEY_MAX + 1) <= TQ_KEY_MAX);
}

bool tqi_limit_keys_are_valid(const char *const *keys, const uint32_t *weights, uint32_t count)
{
	if (count > TQ_LIMITS_MAX || (count && !keys))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!keys[i] || !key_is_valid(keys[i]) ||
		    (weights && (weights[i] < 1 || weights[i] > TQ_WEIGHT_MAX)))
			return false;
	return true;
}

static int check_after(const struct tq_task_spec *s)
{
	if (s->reserved1 || (s->after_count && !s->after))
		return -EINVAL;
	if (s->after_count > TQ_AFTER_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < s->after_count; i++)
		if (s->after[i].kind > TQ_AFTER_FAIL || s->after[i].reserved0)
			return -EINVAL;
	return 0;
}

static int check(const struct tq_task_spec *s)
{
	if ((s->flags & ~SPEC_FLAGS) || s->reserved0 || (!s->payload && s->payload_bytes) ||
	    ((s->flags & TQ_TASK_FORGET) && (s->flags & TQ_TASK_KEEP)))
		return -EINVAL;
	if (s->attempts_max > TQ_ATTEMPTS_MAX || s->crashes_max > TQ_ATTEMPTS_MAX ||
	    s->losses_max > TQ_ATTEMPTS_MAX)
		return -ERANGE;
	if (s->delay_ns > TQI_NS_MAX || s->deadline_ns > TQI_NS_MAX ||
	    !tqi_time_is_valid(s->timeout_ns) || !tqi_time_is_valid(s->timeout_total_ns) ||
	    !tqi_time_is_valid(s->progress_timeout_ns) || s->backoff_ns > TQI_NS_MAX ||
	    s->backoff_cap_ns > TQI_NS_MAX || s->at_ns > INT64_MAX)
		return -ERANGE;
	if (s->at_ns && s->delay_ns)
		return -EINVAL;
	if (!s->unique_key ? s->unique_scope != 0
			   : s->unique_scope > TQ_UNIQUE_COALESCE || !key_is_valid(s->unique_key))
		return -EINVAL;
	if (!tqi_limit_keys_are_valid(s->limits, s->limit_weights, s->limit_count) ||
	    !key_is_valid(s->fair_key))
		return -EINVAL;
	if (s->label && strnlen(s->label, TQ_LABEL_MAX + 1) > TQ_LABEL_MAX)
		return -EINVAL;
	if (s->payload_bytes > TQ_PAYLOAD_MAX)
		return -E2BIG;
	if (tqi_spec_is_exec(s) && !tqi_exec_is_valid(s->payload, s->payload_bytes))
		return -EINVAL;
	return check_after(s);
}

int tqi_spec_in(struct tq_task_spec *to, const struct tq_task_spec *from)
{
	int r = from ? tqi_options_in(to, sizeof(*to), sizeof(*to), from) : -EINVAL;

	if (r < 0)
		return r;
	if (!to->queue)
		to->queue = tqi_queue_default;
	if (!to->kind)
		to->kind = tqi_kind_default;
	return tqi_spec_is_plain(to) ? 0 : check(to);
}
