/* SPDX-License-Identifier: MIT */
/* An entry of the flight recorder as a line. */
#include <string.h>

#include "json.h"
#include "trace.h"

static char *move_text(const struct tq_trace_entry *e, char buf[TRACE_TEXT_MAX])
{
	char cause[32];

	if (e->from == TQ_FREE)
		snprintf(buf, TRACE_TEXT_MAX, "submitted, %s", tq_state_name(e->to));
	else if (e->to == TQ_RUNNING)
		snprintf(buf, TRACE_TEXT_MAX, "%s -> running, attempt %d, worker %u",
			 tq_state_name(e->from), e->argument, e->worker);
	else if (e->cause)
		snprintf(buf, TRACE_TEXT_MAX, "%s -> %s, %s", tq_state_name(e->from),
			 tq_state_name(e->to), tq_cause_format(e->cause, e->argument, cause));
	else
		snprintf(buf, TRACE_TEXT_MAX, "%s -> %s", tq_state_name(e->from),
			 tq_state_name(e->to));
	return buf;
}

char *trace_text(const struct tq_trace_entry *e, char buf[TRACE_TEXT_MAX])
{
	const char *name = sigabbrev_np(e->argument);
	char cause[32];

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
	default:
		snprintf(buf, TRACE_TEXT_MAX, "%s", tq_trace_event_name(e->event));
	}
	return buf;
}

static json_t *json_of_entry(const struct tq_trace_entry *e, const struct clocks *clocks)
{
	json_t *object = json_object();
	char cause[32];

	json_object_set_new(object, "number", json_u64(e->number));
	json_set_time(object, "time", clocks, e->time_ns);
	json_object_set_new(object, "time_ns", json_u64(e->time_ns));
	json_object_set_new(object, "id", json_id(e->task));
	json_object_set_new(object, "event", json_string(tq_trace_event_name(e->event)));
	if (e->event == TQ_TRACE_MOVE) {
		if (e->from != TQ_FREE)
			json_object_set_new(object, "from", json_string(tq_state_name(e->from)));
		json_object_set_new(object, "to", json_string(tq_state_name(e->to)));
	}
	if (e->event == TQ_TRACE_SIGNAL)
		json_object_set_new(object, "signal", json_integer(e->argument));
	if (e->event == TQ_TRACE_STEAL)
		json_object_set_new(object, "from_worker", json_integer(e->argument));
	if (e->event == TQ_TRACE_MOVE && e->to == TQ_RUNNING)
		json_object_set_new(object, "attempt", json_integer(e->argument));
	if (e->cause) {
		const int32_t argument = e->event == TQ_TRACE_SIGNAL ? 0 : e->argument;

		json_object_set_new(object, "cause",
				    json_string(tq_cause_format(e->cause, argument, cause)));
	}
	json_object_set_new(object, "pid", json_integer(e->pid));
	if (e->worker)
		json_object_set_new(object, "worker", json_integer(e->worker));
	return object;
}

void trace_print(const struct cli *cli, const struct tq_trace_entry *e, const struct clocks *clocks)
{
	char text[TRACE_TEXT_MAX], time[FORMAT_MAX], id[TQ_ID_TEXT_MAX];
	const uint64_t unix_ns = clocks_unix_ns(clocks, e->time_ns);

	if (cli->json) {
		json_line(json_of_entry(e, clocks));
		return;
	}
	format_local(unix_ns, time);
	printf("%.19s.%06u %8u %8s  %s\n", time, (unsigned)(unix_ns % 1000000000 / 1000), e->pid,
	       tq_id_format(e->task, id), trace_text(e, text));
}
