/* SPDX-License-Identifier: MIT */
/* JSON of segments, queues, workers and attempts, and the values they are made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "json.h"
#include "policy_text.h"
#include "text.h"

#define FORM (JSON_COMPACT | JSON_REAL_PRECISION(6))

static char *text_repaired(const char *text)
{
	char *copy = NULL;
	size_t bytes, left = strlen(text);
	FILE *out = open_memstream(&copy, &bytes);

	if (!out)
		return NULL;
	for (size_t width; left > 0; text += width, left -= width) {
		width = text_char(text, left);
		if (width == 0)
			fputs("\xef\xbf\xbd", out);
		else
			fwrite(text, 1, width, out);
		width = width ? width : 1;
	}
	fclose(out);
	return copy;
}

json_t *json_text(const char *text)
{
	json_t *value = json_string(text);

	if (!value) {
		char *repaired = text_repaired(text);

		value = json_string(repaired ? repaired : "");
		free(repaired);
	}
	return value;
}

json_t *json_id(uint64_t id)
{
	char text[TQ_ID_TEXT_MAX];

	return json_string(tq_task_id_format(id, text));
}

json_t *json_u64(uint64_t value)
{
	return value > INT64_MAX ? json_null() : json_integer((json_int_t)value);
}

static json_t *json_weighty(const char *key, uint32_t weight)
{
	json_t *object = json_object();

	json_object_set_new(object, "key", json_text(key));
	json_object_set_new(object, "weight", json_integer(weight));
	return object;
}

json_t *json_keys(const char (*keys)[TQ_KEY_MAX + 1], const uint32_t *weights, uint32_t count)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < count && i < TQ_LIMITS_MAX; i++)
		json_array_append_new(array, weights[i] > 1 ? json_weighty(keys[i], weights[i])
							    : json_text(keys[i]));
	return array;
}

char *json_to_text(json_t *value)
{
	char *text = value ? json_dumps(value, FORM) : NULL;

	json_decref(value);
	return text;
}

void json_line(json_t *object)
{
	if (object && json_dumpf(object, stdout, FORM) == 0)
		putchar('\n');
	else if (!ferror(stdout)) /* else standard_close() says so, once */
		complain("cannot print JSON: out of memory");
	json_decref(object);
}

static json_t *json_unix_time(uint64_t unix_ns)
{
	char text[FORMAT_MAX];

	return json_string(format_utc(unix_ns, text));
}

void json_set_time(json_t *object, const char *key, const struct clocks *clocks, uint64_t at_ns)
{
	if (at_ns)
		json_object_set_new(object, key, json_unix_time(clocks_unix_ns(clocks, at_ns)));
}

json_t *json_of_attempt(const struct tq_attempt_info *attempt, const struct clocks *clocks)
{
	json_t *object = json_object();
	char cause[32];

	json_object_set_new(object, "attempt", json_integer(attempt->number));
	if (attempt->worker)
		json_object_set_new(object, "worker", json_integer(attempt->worker));
	json_object_set_new(object, "pid", json_integer(attempt->worker_pid));
	json_object_set_new(object, "started",
			    json_unix_time(clocks_unix_ns(clocks, attempt->started_ns)));
	json_object_set_new(object, "ended",
			    json_unix_time(clocks_unix_ns(clocks, attempt->ended_ns)));
	json_object_set_new(object, "duration_ns",
			    json_u64(attempt->ended_ns - attempt->started_ns));
	json_object_set_new(
		object, "cause",
		json_string(tq_cause_format(attempt->cause, attempt->cause_arg, cause)));
	return object;
}

static json_t *json_of_depth(const uint32_t *depth)
{
	json_t *object = json_object();

	for (uint32_t state = TQ_BLOCKED; state < TQ_STATE_COUNT; state++)
		json_object_set_new(object, tq_task_state_name(state), json_integer(depth[state]));
	return object;
}

static void add_counters(json_t *object, const struct tq_counters *counters)
{
	const uint64_t ended = counters->done + counters->failed;

	json_object_set_new(object, "submitted", json_u64(counters->submitted));
	json_object_set_new(object, "started", json_u64(counters->started));
	json_object_set_new(object, "done", json_u64(counters->done));
	json_object_set_new(object, "failed", json_u64(counters->failed));
	json_object_set_new(object, "cancelled", json_u64(counters->cancelled));
	json_object_set_new(object, "expired", json_u64(counters->expired));
	json_object_set_new(object, "retried", json_u64(counters->retried));
	json_object_set_new(object, "crashed", json_u64(counters->crashed));
	json_object_set_new(object, "reclaimed", json_u64(counters->reclaimed));
	json_object_set_new(object, "stolen", json_u64(counters->stolen));
	json_object_set_new(object, "throttled_total", json_u64(counters->throttled_total));
	json_object_set_new(object, "moved", json_u64(counters->moved));
	if (ended)
		json_object_set_new(object, "success_rate",
				    json_real((double)counters->done / (double)ended));
	json_object_set_new(object, "depth", json_of_depth(counters->depth));
	json_object_set_new(object, "held", json_u64(counters->held));
	if (counters->throttled)
		json_object_set_new(object, "throttled", json_u64(counters->throttled));
	json_object_set_new(object, "oldest_ready_ns", json_u64(counters->oldest_ready_ns));
}

/* What a policy adds to strict priority. */
static void add_policy(json_t *object, const struct tq_queue_info *info)
{
	json_t *ageing = json_object(), *from = json_array();

	for (unsigned b = 0; b < TQ_BANDS; b++)
		if (info->ageing[b])
			json_object_set_new(ageing, band_names[b],
					    json_real((double)info->ageing[b] / 1000));
	for (unsigned b = 0; b < TQ_BANDS - 1; b++)
		json_array_append_new(from, json_integer(info->band_from[b]));
	json_object_set_new(object, "ageing", ageing);
	json_object_set_new(object, "bands", from);
	if (info->hybrid)
		json_object_set_new(object, "hybrid", json_integer(info->hybrid));
	if (info->edf)
		json_object_set_new(object, "edf", json_true());
	if (info->fair)
		json_object_set_new(object, "fair", json_true());
	if (info->max_wait_ns)
		json_object_set_new(object, "max_wait_ns", json_u64(info->max_wait_ns));
	if (info->batch)
		json_object_set_new(object, "batch", json_integer(info->batch));
	if (info->flags & TQ_QUEUE_REORDERING)
		json_object_set_new(object, "reordering", json_true());
	if (info->flags & TQ_QUEUE_SERVED) {
		json_object_set_new(object, "server_count", json_integer(info->servers));
		json_object_set_new(object, "server_room",
				    json_boolean(!(info->flags & TQ_QUEUE_NO_ROOM)));
	}
}

json_t *json_of_queue(const struct tq_queue_info *info)
{
	json_t *object = json_object();

	json_object_set_new(object, "queue", json_text(info->name));
	if (info->kind[0]) {
		json_object_set_new(object, "kind", json_text(info->kind));
	} else {
		json_object_set_new(object, "paused", json_boolean(info->flags & TQ_QUEUE_PAUSED));
		json_object_set_new(object, "draining",
				    json_boolean(info->flags & TQ_QUEUE_DRAINING));
		json_object_set_new(object, "purging",
				    json_boolean(info->flags & TQ_QUEUE_PURGING));
		json_object_set_new(object, "workers", json_integer(info->workers));
		if (info->depth_max && info->depth_max != TQ_UNLIMITED)
			json_object_set_new(object, "depth_max", json_u64(info->depth_max));
		add_policy(object, info);
	}
	add_counters(object, &info->counters);
	return object;
}

static json_t *json_of_worker_flags(uint32_t flags)
{
	static const char *const names[] = { "master", "suspect",  "dying",  "stopping",
					     "asleep", "commands", "waiting" };
	json_t *list = json_array();

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & 1u << i)
			json_array_append_new(list, json_string(names[i]));
	return list;
}

json_t *json_of_worker(const struct tq_worker_info *info, const struct clocks *clocks)
{
	json_t *object = json_object();

	json_object_set_new(object, "worker", json_integer(info->number));
	json_object_set_new(object, "name", json_text(info->name));
	json_object_set_new(object, "pid", json_integer(info->pid));
	json_object_set_new(object, "flags", json_of_worker_flags(info->flags));
	if (info->master)
		json_object_set_new(object, "master", json_integer(info->master));
	json_object_set_new(object, "queues", json_text(info->queues));
	json_object_set_new(object, "claims", json_integer(info->claims));
	json_object_set_new(object, "assigned", json_integer(info->assigned));
	json_object_set_new(object, "stolen", json_u64(info->stolen));
	json_object_set_new(object, "tasks", json_u64(info->tasks));
	if (info->task)
		json_object_set_new(object, "task", json_id(info->task));
	json_object_set_new(object, "registered",
			    json_unix_time(clocks_unix_ns(clocks, info->registered_ns)));
	if (info->lease_ns)
		json_object_set_new(object, "lease_ns", json_u64(info->lease_ns));
	return object;
}

json_t *json_of_limit(const struct tq_limit_info *info)
{
	json_t *object = json_object();

	json_object_set_new(object, "key", json_text(info->key));
	if (info->slots != TQ_OFF)
		json_object_set_new(object, "slots", json_u64(info->slots));
	json_object_set_new(object, "used", json_u64(info->used));
	json_object_set_new(object, "waiting", json_u64(info->waiting));
	json_object_set_new(object, "tasks", json_u64(info->tasks));
	if (info->needed)
		json_object_set_new(object, "needed", json_u64(info->needed));
	if (info->rate) {
		json_object_set_new(object, "rate", json_u64(info->rate));
		json_object_set_new(object, "interval_ns", json_u64(info->interval_ns));
		json_object_set_new(object, "burst", json_u64(info->burst));
		json_object_set_new(object, "tokens", json_u64(info->tokens));
	}
	return object;
}

/* What the kind leaves to queues is left out. */
json_t *json_of_kind(const struct tq_kind_info *info)
{
	json_t *object = json_object();

	json_object_set_new(object, "kind", json_text(info->name));
	if (info->timeout_ns)
		json_object_set_new(object, "timeout_ns", json_u64(info->timeout_ns));
	if (info->timeout_total_ns)
		json_object_set_new(object, "timeout_total_ns", json_u64(info->timeout_total_ns));
	if (info->backoff_ns)
		json_object_set_new(object, "backoff_ns", json_u64(info->backoff_ns));
	if (info->backoff_cap_ns)
		json_object_set_new(object, "backoff_cap_ns", json_u64(info->backoff_cap_ns));
	if (info->attempts_max)
		json_object_set_new(object, "attempts_max", json_u64(info->attempts_max));
	return object;
}

json_t *json_of_segment(const struct tq_segment_info *info)
{
	json_t *object = json_object();
	char mode[16];

	snprintf(mode, sizeof(mode), "%04o", info->mode);
	json_object_set_new(object, "path", json_text(info->path));
	json_object_set_new(object, "owner_uid", json_integer(info->owner_uid));
	json_object_set_new(object, "mode", json_string(mode));
	json_object_set_new(object, "created", json_unix_time(info->created_unix_ns));
	json_object_set_new(object, "shutting_down", json_boolean(info->shutting_down));
	json_object_set_new(object, "max_bytes", json_u64(info->max_bytes));
	json_object_set_new(object, "reserved_bytes", json_u64(info->reserved_bytes));
	json_object_set_new(object, "used_bytes", json_u64(info->used_bytes));
	json_object_set_new(object, "tasks_max", json_u64(info->tasks_max));
	json_object_set_new(object, "tasks_count", json_u64(info->tasks_count));
	json_object_set_new(object, "tasks_unfinished", json_u64(info->tasks_unfinished));
	json_object_set_new(object, "retention_ns", json_u64(info->retention_ns));
	json_object_set_new(object, "workers", json_integer(info->workers));
	json_object_set_new(object, "sleepers", json_integer(info->sleepers));
	json_object_set_new(object, "commands_open", json_integer(info->commands_open));
	json_object_set_new(object, "schedules", json_integer(info->schedules));
	json_object_set_new(object, "trace_entries", json_integer(info->trace_entries));
	json_object_set_new(object, "traced", json_u64(info->traced));
	json_object_set_new(object, "transactions", json_u64(info->transactions));
	json_object_set_new(object, "rollbacks", json_u64(info->rollbacks));
	json_object_set_new(object, "reclaimed", json_u64(info->reclaimed));
	return object;
}

const char *json_error_reason(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_null_character:
		return "\\u0000 in a string: texts hold none, and payload_base64 holds any bytes";
	case json_error_null_byte_in_key:
		return "\\u0000 in the name of a field";
	default:
		return error->text;
	}
}
