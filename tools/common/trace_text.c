/* SPDX-License-Identifier: MIT */
/* What an entry of the flight recorder tells. */
#include "trace_text.h"

#include <stdio.h>
#include <string.h>

static char *move_text(const struct tq_trace_entry *e, char buf[TRACE_TEXT_MAX])
{
	char cause[32];

	if (e->from == TQ_FREE)
		snprintf(buf, TRACE_TEXT_MAX, "submitted, %s", tq_task_state_name(e->to));
	else if (e->to == TQ_RUNNING)
		snprintf(buf, TRACE_TEXT_MAX, "%s -> running, attempt %d, worker %u",
			 tq_task_state_name(e->from), e->argument, e->worker);
	else if (e->cause)
		snprintf(buf, TRACE_TEXT_MAX, "%s -> %s, %s", tq_task_state_name(e->from),
			 tq_task_state_name(e->to), tq_cause_format(e->cause, e->argument, cause));
	else
		snprintf(buf, TRACE_TEXT_MAX, "%s -> %s", tq_task_state_name(e->from),
			 tq_task_state_name(e->to));
	return buf;
}

char *trace_text(const struct tq_trace_entry *e, char buf[TRACE_TEXT_MAX])
{
	const char *name = sigabbrev_np(e->argument);
	char cause[32], other[TQ_ID_TEXT_MAX];

	switch (e->event) {
	case TQ_TRACE_MOVE:
		return move_text(e, buf);
	case TQ_TRACE_STOP:
		snprintf(buf, TRACE_TEXT_MAX, "asked to stop, %s, worker %u",
			 tq_cause_name(e->cause), e->worker);
		break;
	case TQ_TRACE_SIGNAL:
		snprintf(buf, TRACE_TEXT_MAX, "SIG%s, %s, worker %u", name ? name : "?",
			 tq_cause_name(e->cause), e->worker);
		break;
	case TQ_TRACE_RECLAIM:
		snprintf(buf, TRACE_TEXT_MAX, "taken from worker %u, %s", e->worker,
			 tq_cause_format(e->cause, e->argument, cause));
		break;
	case TQ_TRACE_STEAL:
		snprintf(buf, TRACE_TEXT_MAX, "stolen by worker %u from worker %d", e->worker,
			 e->argument);
		break;
	case TQ_TRACE_AFTER:
		snprintf(buf, TRACE_TEXT_MAX, "need not wait for %s any more",
			 tq_task_id_format(e->other, other));
		break;
	default:
		snprintf(buf, TRACE_TEXT_MAX, "%s", tq_trace_event_name(e->event));
	}
	return buf;
}

char *trace_moment(const struct tq_trace_entry *e, const struct clocks *clocks,
		   char buf[FORMAT_MAX])
{
	const uint64_t unix_ns = clocks_unix_ns(clocks, e->time_ns);
	char time[FORMAT_MAX];

	format_local(unix_ns, time);
	snprintf(buf, FORMAT_MAX, "%.19s.%06u", time, (unsigned)(unix_ns % 1000000000 / 1000));
	return buf;
}
