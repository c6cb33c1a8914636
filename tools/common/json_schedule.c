/* SPDX-License-Identifier: MIT */
/* Schedules as JSON. */
#include <stdlib.h>

#include "json.h"
#include "parse.h"

static void set_text(json_t *object, const char *key, const char *text)
{
	if (*text)
		json_object_set_new(object, key, json_text(text));
}

static void set_number(json_t *object, const char *key, uint64_t value)
{
	if (value && value != TQ_UNLIMITED)
		json_object_set_new(object, key, json_u64(value));
}

static void add_times(json_t *object, const struct tq_schedule_info *info,
		      const struct clocks *clocks)
{
	char text[FORMAT_MAX];

	set_number(object, "every_ns", info->every_ns);
	set_text(object, "cron", info->cron);
	set_text(object, "tz", info->zone);
	if (info->every_ns)
		json_set_time(object, "next", clocks, info->next_ns);
	else
		json_object_set_new(object, "next", json_string(format_utc(info->next_ns, text)));
	json_object_set_new(object, "overlap", json_string(tq_overlap_name(info->overlap)));
	json_object_set_new(object, "catch_up", json_integer(info->catch_up));
	json_set_time(object, "made", clocks, info->made_ns);
}

static void add_runs(json_t *object, const struct tq_schedule_info *info,
		     const struct clocks *clocks)
{
	json_object_set_new(object, "runs", json_u64(info->runs));
	json_object_set_new(object, "skipped", json_u64(info->skipped));
	json_object_set_new(object, "owed", json_integer(info->owed));
	if (info->last_run)
		json_object_set_new(object, "last_run", json_id(info->last_run));
	json_set_time(object, "last_run_at", clocks, info->last_run_ns);
	json_set_time(object, "retry", clocks, info->retry_ns);
	if (info->last_error)
		json_object_set_new(object, "last_error",
				    json_string(tq_error_name(info->last_error)));
}

static void add_flags(json_t *object, uint32_t flags)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} names[] = { { "hold", TQ_TASK_HOLD },
		      { "forget", TQ_TASK_FORGET },
		      { "keep", TQ_TASK_KEEP },
		      { "at_most_once", TQ_TASK_AT_MOST_ONCE } };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & names[i].flag)
			json_object_set_new(object, names[i].name, json_true());
}

static void add_work(json_t *object, struct tq *tq, const struct tq_schedule_info *info)
{
	void *payload = malloc(info->payload_bytes + 1);
	uint64_t bytes;

	set_text(object, "queue", info->queue);
	set_text(object, "kind", info->kind);
	set_text(object, "label", info->label);
	set_text(object, "unique", info->unique_key);
	if (info->unique_scope)
		json_object_set_new(object, "unique_scope",
				    json_string(scope_name(info->unique_scope)));
	if (info->limit_count)
		json_object_set_new(
			object, "limits",
			json_keys(info->limits, info->limit_weights, info->limit_count));
	set_text(object, "fair", info->fair_key);
	json_object_set_new(object, "priority", json_integer(info->priority));
	set_number(object, "attempts_max", info->attempts_max);
	set_number(object, "crashes_max", info->crashes_max);
	set_number(object, "losses_max", info->losses_max);
	set_number(object, "delay_ns", info->delay_ns);
	set_number(object, "timeout_ns", info->timeout_ns);
	set_number(object, "timeout_total_ns", info->timeout_total_ns);
	set_number(object, "progress_timeout_ns", info->progress_timeout_ns);
	set_number(object, "backoff_ns", info->backoff_ns);
	set_number(object, "backoff_cap_ns", info->backoff_cap_ns);
	set_number(object, "deadline_ns", info->deadline_ns);
	add_flags(object, info->task_flags);
	if (payload &&
	    tq_schedule_payload(tq, info->id, payload, info->payload_bytes, &bytes) == 0 &&
	    bytes == info->payload_bytes)
		json_set_payload(object, info->kind, payload, bytes);
	free(payload);
}

json_t *json_of_schedule(struct tq *tq, const struct tq_schedule_info *info,
			 const struct clocks *clocks)
{
	json_t *object = json_object();
	char id[TQ_ID_TEXT_MAX];

	json_object_set_new(object, "id", json_string(tq_schedule_id_format(info->id, id)));
	set_text(object, "name", info->name);
	json_object_set_new(object, "paused",
			    json_boolean((info->flags & TQ_SCHEDULE_PAUSED) != 0));
	add_times(object, info, clocks);
	add_runs(object, info, clocks);
	add_work(object, tq, info);
	return object;
}
