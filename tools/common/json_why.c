/* SPDX-License-Identifier: MIT */
/* JSON of what keeps a task from running. */
#include "json.h"
#include "server_text.h"
#include "why.h"

static void set_number(json_t *object, const char *key, uint32_t value)
{
	if (value)
		json_object_set_new(object, key, json_u64(value));
}

json_t *json_of_why(struct tq *tq, const struct tq_task_info *info, const struct tq_why *why,
		    const struct clocks *clocks)
{
	json_t *object = json_object();
	char text[WHY_MAX], until[FORMAT_MAX];

	json_object_set_new(object, "id", json_id(info->id));
	json_object_set_new(object, "state", json_string(tq_task_state_name(info->state)));
	json_object_set_new(object, "reason", json_string(tq_why_name(why->reason)));
	json_object_set_new(object, "text", json_text(why_format(tq, info, why, clocks, text)));
	json_set_time(object, "until", clocks, why->until_ns);
	if (why->until_wall_ns)
		json_object_set_new(object, "until",
				    json_string(format_utc(why->until_wall_ns, until)));
	json_set_time(object, "since", clocks, why->since_ns);
	set_number(object, "worker", why->worker);
	set_number(object, "pid", why->pid);
	set_number(object, "pgid", why->pgid);
	set_number(object, "signal", why->signal);
	set_number(object, "stopped_pid", why->stopped_pid);
	if (why->foreign_pid) {
		set_number(object, "foreign_pid", why->foreign_pid);
		json_object_set_new(object, "foreign_uid", json_u64(why->foreign_uid));
	}
	if (why->reason == TQ_WHY_STOPPING)
		json_object_set_new(object, "stop_cause",
				    json_string(tq_cause_name(why->stop_cause)));
	if (why->is_last)
		json_object_set_new(object, "last", json_true());
	if (why->is_open)
		json_object_set_new(object, "open", json_true());
	if (why->holder)
		json_object_set_new(object, "holder", json_id(why->holder));
	if (why->holder && why->reason != TQ_WHY_THROTTLED) {
		json_object_set_new(object, "holder_state",
				    json_string(tq_task_state_name(why->holder_state)));
		json_object_set_new(object, "others", json_u64(why->others));
		if (why->holder_held)
			json_object_set_new(object, "holder_held", json_true());
		if (why->is_successor)
			json_object_set_new(object, "successor", json_true());
	}
	if (why->reason == TQ_WHY_THROTTLED) {
		json_object_set_new(object, "limit", json_text(why->limit));
		json_object_set_new(object, "limit_slots", json_u64(why->limit_slots));
		json_object_set_new(object, "limit_used", json_u64(why->limit_used));
		json_object_set_new(object, "limit_weight", json_u64(why->limit_weight));
		if (why->limit_needed)
			json_object_set_new(object, "limit_needed", json_u64(why->limit_needed));
	}
	if (why->reason == TQ_WHY_SERVERS) {
		json_object_set_new(object, "servers", json_of_servers(tq, info->queue, clocks));
		if (why->holder)
			json_object_set_new(object, "holder", json_id(why->holder));
	}
	if (why->reason == TQ_WHY_SUBSTITUTES)
		json_object_set_new(object, "others", json_u64(why->others));
	if (why->reason >= TQ_WHY_PAUSED && info->state != TQ_RUNNING) {
		json_object_set_new(object, "before", json_u64(why->before));
		if (why->before_more)
			json_object_set_new(object, "before_more", json_true());
		if (why->is_torn)
			json_object_set_new(object, "torn", json_true());
		if (why->is_fair)
			json_object_set_new(object, "fair", json_true());
		json_object_set_new(object, "workers", json_u64(why->workers));
		json_object_set_new(object, "busy", json_u64(why->busy));
		json_object_set_new(object, "stopped", json_u64(why->stopped));
		json_object_set_new(object, "queue_workers", json_u64(why->queue_workers));
	}
	return object;
}
