/* SPDX-License-Identifier: MIT */
/* An entry of the flight recorder as JSON. */
#include "json.h"

json_t *json_of_trace_entry(const struct tq_trace_entry *e, const struct clocks *clocks)
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
			json_object_set_new(object, "from",
					    json_string(tq_task_state_name(e->from)));
		json_object_set_new(object, "to", json_string(tq_task_state_name(e->to)));
	}
	if (e->event == TQ_TRACE_SIGNAL)
		json_object_set_new(object, "signal", json_integer(e->argument));
	if (e->event == TQ_TRACE_STEAL)
		json_object_set_new(object, "from_worker", json_integer(e->argument));
	if (e->event == TQ_TRACE_MOVE && e->to == TQ_RUNNING)
		json_object_set_new(object, "attempt", json_integer(e->argument));
	if (e->other)
		json_object_set_new(object, "other", json_id(e->other));
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
