/* SPDX-License-Identifier: MIT */
/*
 * JSON of a task.  What describes the work (queue, kind, command, limits ...) has the
 * names that `submit --batch` reads, so that a listing can be submitted again.
 */
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "json.h"
#include "outcome.h"
#include "parse.h"
#include "payload.h"
#include "text.h"

/* NULL when a string is not UTF-8, as JSON has no other. */
static json_t *string_array(const char *const *strings)
{
	json_t *array = json_array();

	for (; strings && *strings; strings++) {
		if (json_array_append_new(array, json_string(*strings)) == 0)
			continue;
		json_decref(array);
		return NULL;
	}
	return array;
}

static json_t *env_object(const char *const *env)
{
	json_t *object = json_object();

	for (; env && *env; env++) {
		const char *equals = strchr(*env, '=');
		char *name = equals ? strndup(*env, (size_t)(equals - *env)) : NULL;
		const int r = name ? json_object_set_new(object, name, json_string(equals + 1))
				   : -1;

		free(name);
		if (r == 0)
			continue;
		json_decref(object);
		return NULL;
	}
	return object;
}

/* Sets @key to @value; false when the text cannot be told in JSON. */
static bool set_string(json_t *object, const char *key, const char *value)
{
	return !value || json_object_set_new(object, key, json_string(value)) == 0;
}

static bool set_command(json_t *object, const struct tq_exec *exec)
{
	json_t *argv = string_array(exec->argv);
	json_t *env = env_object(exec->env);
	const bool whole = argv && env;

	if (argv)
		json_object_set_new(object, "command", argv);
	if (env && json_object_size(env) > 0)
		json_object_set_new(object, "env", env);
	else
		json_decref(env);
	if (exec->flags & TQ_EXEC_APPEND)
		json_object_set_new(object, "append", json_true());
	if (exec->flags & TQ_EXEC_LEFTOVERS)
		json_object_set_new(object, "allow_leftovers", json_true());
	if (exec->flags & TQ_EXEC_UMASK)
		json_object_set_new(object, "umask", json_sprintf("%04o", exec->umask));
	return whole && set_string(object, "cwd", exec->cwd) &&
	       set_string(object, "output", exec->output_path);
}

static void set_base64(json_t *object, const void *payload, uint64_t bytes)
{
	char *text = base64_encode(payload, bytes);

	if (text)
		json_object_set_new(object, "payload_base64", json_string(text));
	free(text);
}

/* The payload as a person would write it, else in base64. */
void json_set_payload(json_t *object, const char *kind, const char *payload, uint64_t bytes)
{
	struct tq_exec *exec = NULL;

	if (strcmp(kind, "exec") != 0) {
		json_t *text = json_stringn(payload, bytes);

		/* A NUL inside survives in JSON, but not in most readers. */
		if (text && !memchr(payload, 0, bytes)) {
			json_object_set_new(object, "payload", text);
			return;
		}
		json_decref(text);
	} else if (tq_exec_decode(payload, bytes, &exec) == 0) {
		const bool whole = set_command(object, exec);

		free(exec);
		if (whole)
			return;
		json_object_del(object, "command");
		json_object_del(object, "env");
		json_object_del(object, "cwd");
	}
	set_base64(object, payload, bytes);
}

/* Left out when there is no limit: so it means the default when it is submitted again. */
static void set_limit(json_t *object, const char *key, uint64_t ns)
{
	if (ns && ns != TQ_UNLIMITED)
		json_object_set_new(object, key, json_u64(ns));
}

static void set_flag(json_t *object, const char *key, uint32_t is_set)
{
	if (is_set)
		json_object_set_new(object, key, json_true());
}

static void set_group(json_t *object, const char *key, uint64_t group)
{
	char id[TQ_ID_TEXT_MAX];

	if (group)
		json_object_set_new(object, key, json_string(tq_group_id_format(group, id)));
}

/* "after": ["17-3"], and the same of the other kinds. */
static void add_after(json_t *object, struct tq *tq, const struct tq_task_info *info)
{
	static const char *const names[] = { [TQ_AFTER_OK] = "after",
					     [TQ_AFTER_ANY] = "after_any",
					     [TQ_AFTER_FAIL] = "after_fail" };
	struct tq_dependency_info infos[TQ_AFTER_MAX];
	const int n = tq_task_dependencies(tq, info->id, infos, TQ_AFTER_MAX);

	for (int i = 0; i < n; i++) {
		const char *name = names[infos[i].kind <= TQ_AFTER_FAIL ? infos[i].kind : 0];

		if (!name) /* a damaged record */
			continue;
		if (!json_object_get(object, name))
			json_object_set_new(object, name, json_array());
		json_array_append_new(json_object_get(object, name), json_id(infos[i].id));
	}
}

static void add_payload(json_t *object, struct tq *tq, const struct tq_task_info *info,
			uint64_t payload_max)
{
	void *payload = NULL;
	uint64_t bytes = 0;

	if (tq_task_payload(tq, info->id, NULL, 0, &bytes) < 0)
		return;
	if (bytes > payload_max)
		json_object_set_new(object, "payload_bytes", json_u64(bytes));
	else if (payload_read(tq, info->id, &payload, &bytes) == 0)
		json_set_payload(object, info->kind, payload, bytes);
	free(payload);
}

void json_set_work(json_t *object, const struct tq_task_info *info)
{
	json_object_set_new(object, "queue", json_text(info->queue));
	json_object_set_new(object, "kind", json_text(info->kind));
	if (info->label[0])
		json_object_set_new(object, "label", json_text(info->label));
	if (info->unique_key[0]) {
		json_object_set_new(object, "unique", json_text(info->unique_key));
		json_object_set_new(object, "unique_scope",
				    json_string(scope_name(info->unique_scope)));
	}
	if (info->limit_count)
		json_object_set_new(
			object, "limits",
			json_keys(info->limits, info->limit_weights, info->limit_count));
	if (info->fair_key[0])
		json_object_set_new(object, "fair", json_text(info->fair_key));
	json_object_set_new(object, "priority", json_integer(info->priority));
	json_object_set_new(object, "attempts_max", json_integer(info->attempts_max));
	json_object_set_new(object, "crashes_max", json_integer(info->crashes_max));
	json_object_set_new(object, "losses_max", json_integer(info->losses_max));
	set_limit(object, "timeout_ns", info->timeout_ns);
	set_limit(object, "timeout_total_ns", info->timeout_total_ns);
	set_limit(object, "progress_timeout_ns", info->progress_timeout_ns);
	set_limit(object, "backoff_ns", info->backoff_ns);
	set_limit(object, "backoff_cap_ns", info->backoff_cap_ns);
	set_flag(object, "hold", info->flags & TQ_INFO_HELD);
	set_flag(object, "forget", info->flags & TQ_INFO_FORGET);
	set_flag(object, "keep", info->flags & TQ_INFO_KEEP);
	set_flag(object, "at_most_once", info->flags & TQ_INFO_AT_MOST_ONCE);
}

/* When it is to start and to end, from now on. */
static void add_wait(json_t *object, const struct tq_task_info *info, const struct clocks *clocks)
{
	char at[FORMAT_MAX];

	if (info->due_ns > clocks->now_ns)
		json_object_set_new(object, "delay_ns", json_u64(info->due_ns - clocks->now_ns));
	else if (info->at_ns) /* a back-off is a delay, and they exclude each other */
		json_object_set_new(object, "at", json_string(format_utc(info->at_ns, at)));
	if (info->deadline_ns > clocks->now_ns) /* one that has passed is not for another life */
		json_object_set_new(object, "deadline_ns",
				    json_u64(info->deadline_ns - clocks->now_ns));
}

/* What it belongs to. */
static void add_ties(json_t *object, struct tq *tq, const struct tq_task_info *info)
{
	char id[TQ_ID_TEXT_MAX];

	if (info->after_count)
		add_after(object, tq, info);
	if (info->schedule)
		json_object_set_new(object, "schedule",
				    json_string(tq_schedule_id_format(info->schedule, id)));
	set_group(object, "member_of", info->group);
	set_group(object, "completes", info->completes);
}

static void add_times(json_t *object, const struct tq_task_info *info, const struct clocks *clocks)
{
	json_set_time(object, "submitted", clocks, info->submitted_ns);
	json_set_time(object, "ready", clocks, info->ready_ns);
	json_set_time(object, "due", clocks, info->due_ns);
	json_set_time(object, "deadline", clocks, info->deadline_ns);
	json_set_time(object, "started", clocks, info->started_ns);
	json_set_time(object, "ended", clocks, info->ended_ns);
	json_set_time(object, "inherited_deadline", clocks, info->inherited_deadline_ns);
	json_object_set_new(object, "age_ns",
			    json_u64(ns_between(info->submitted_ns, clocks->now_ns)));
	if (info->run_ns && info->ended_ns)
		json_object_set_new(object, "run_ns", json_u64(info->run_ns));
}

static json_t *flag_array(uint32_t flags)
{
	json_t *array = json_array();

	for (const struct outcome_flag *flag = outcome_flags; flag->name; flag++)
		if (flags & flag->bit)
			json_array_append_new(array, json_string(flag->name));
	return array;
}

static void add_progress(json_t *object, const struct tq_task_info *info)
{
	json_object_set_new(object, "attempt", json_integer(info->attempt));
	json_object_set_new(object, "failures", json_integer(info->failures));
	json_object_set_new(object, "crashes", json_integer(info->crashes));
	json_object_set_new(object, "losses", json_integer(info->losses));
	if (info->worker) {
		json_object_set_new(object, "worker", json_integer(info->worker));
		json_object_set_new(object, "worker_pid", json_integer(info->worker_pid));
	}
	if (info->server[0])
		json_object_set_new(object, "server", json_text(info->server));
	if (info->progress_percent || info->progress_text[0]) {
		json_object_set_new(object, "progress_percent",
				    json_integer(info->progress_percent));
		json_object_set_new(object, "progress_text", json_text(info->progress_text));
	}
	if (info->checkpoint_bytes)
		json_object_set_new(object, "checkpoint_bytes",
				    json_integer(info->checkpoint_bytes));
}

/* Of what waits for it; not for `submit --batch`. */
static void add_inherited(json_t *object, const struct tq_task_info *info)
{
	char id[TQ_ID_TEXT_MAX];

	json_object_set_new(object, "effective_priority", json_integer(info->effective_priority));
	if (info->inherited_from)
		json_object_set_new(object, "inherited_from",
				    json_string(tq_task_id_format(info->inherited_from, id)));
}

static void add_end(json_t *object, const struct tq_task_info *info)
{
	char cause[CAUSE_MAX];

	if (info->cause != TQ_CAUSE_NONE) {
		json_object_set_new(object, "cause", json_string(outcome_cause(info, cause)));
		json_object_set_new(object, "cause_arg", json_integer(info->cause_arg));
	}
	if (info->cause_id)
		json_object_set_new(object, "cause_id", json_id(info->cause_id));
	if (info->error_text[0])
		json_object_set_new(object, "error", json_text(info->error_text));
	json_object_set_new(object, "result_bytes", json_u64(info->result_bytes));
	json_object_set_new(object, "output_bytes", json_u64(info->output_bytes));
	if (info->max_rss_bytes)
		json_object_set_new(object, "max_rss_bytes", json_u64(info->max_rss_bytes));
	if (info->cpu_ns)
		json_object_set_new(object, "cpu_ns", json_u64(info->cpu_ns));
}

json_t *json_of_task(struct tq *tq, const struct tq_task_info *info, const struct clocks *clocks)
{
	return json_of_task_within(tq, info, clocks, UINT64_MAX);
}

json_t *json_of_task_within(struct tq *tq, const struct tq_task_info *info,
			    const struct clocks *clocks, uint64_t payload_max)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", json_id(info->id));
	json_object_set_new(object, "sequence", json_u64(info->sequence));
	json_object_set_new(object, "state", json_string(tq_task_state_name(info->state)));
	json_object_set_new(object, "flags", flag_array(info->flags));
	json_set_work(object, info);
	add_wait(object, info, clocks);
	add_ties(object, tq, info);
	add_payload(object, tq, info, payload_max);
	add_inherited(object, info);
	add_progress(object, info);
	add_end(object, info);
	add_times(object, info, clocks);
	return object;
}
