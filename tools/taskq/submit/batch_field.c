/* SPDX-License-Identifier: MIT */
/* The fields that a batch's line may have, and those of them that go straight into
 * the task. */
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "format.h"
#include "parse.h"
#include "tools/taskq/submit/batch_line.h"

/* How the value of a field is read. */
enum field_type {
	FIELD_NAME,	/* const char * of the spec: 1 to 64 of [A-Za-z0-9._-] */
	FIELD_LABEL,	/* const char * of the spec */
	FIELD_KEY,	/* const char * of the spec, not empty */
	FIELD_SCOPE,	/* of that key */
	FIELD_LIMITS,	/* an array of keys */
	FIELD_AFTER,	/* an array of ids; the kind of dependency */
	FIELD_GROUP,	/* a group's id */
	FIELD_TIME,	/* uint64_t of the spec, nanoseconds */
	FIELD_LIMIT,	/* the same, or null: none, whatever the queue has */
	FIELD_AT,	/* wall-clock time as text */
	FIELD_DEADLINE, /* the same, to finish by */
	FIELD_COUNT,	/* uint32_t of the spec, 1 to 256 */
	FIELD_PRIORITY, /* number, or a name as text */
	FIELD_FLAG,	/* true or false; a bit of the spec's flags */
	FIELD_PAYLOAD,	/* looked at when the kind is known */
	FIELD_IGNORED,	/* what a listing says of the past */
	FIELD_RECORD,	/* of a dump, and no task */
};

static const struct field {
	const char *name;
	enum field_type type;
	size_t at; /* offset in the spec, or the bit of a flag */
} fields[] = {
	{ "queue", FIELD_NAME, offsetof(struct tq_task_spec, queue) },
	{ "kind", FIELD_NAME, offsetof(struct tq_task_spec, kind) },
	{ "label", FIELD_LABEL, offsetof(struct tq_task_spec, label) },
	{ "unique", FIELD_KEY, offsetof(struct tq_task_spec, unique_key) },
	{ "unique_scope", FIELD_SCOPE, offsetof(struct tq_task_spec, unique_scope) },
	{ "limits", FIELD_LIMITS, 0 },
	{ "after", FIELD_AFTER, TQ_AFTER_OK },
	{ "after_any", FIELD_AFTER, TQ_AFTER_ANY },
	{ "after_fail", FIELD_AFTER, TQ_AFTER_FAIL },
	{ "fair", FIELD_KEY, offsetof(struct tq_task_spec, fair_key) },
	{ "group", FIELD_GROUP, 0 },
	{ "priority", FIELD_PRIORITY, offsetof(struct tq_task_spec, priority) },
	{ "delay_ns", FIELD_TIME, offsetof(struct tq_task_spec, delay_ns) },
	{ "at", FIELD_AT, 0 },
	{ "deadline_ns", FIELD_TIME, offsetof(struct tq_task_spec, deadline_ns) },
	{ "deadline_at", FIELD_DEADLINE, 0 },
	{ "timeout_ns", FIELD_LIMIT, offsetof(struct tq_task_spec, timeout_ns) },
	{ "timeout_total_ns", FIELD_LIMIT, offsetof(struct tq_task_spec, timeout_total_ns) },
	{ "progress_timeout_ns", FIELD_LIMIT, offsetof(struct tq_task_spec, progress_timeout_ns) },
	{ "backoff_ns", FIELD_TIME, offsetof(struct tq_task_spec, backoff_ns) },
	{ "backoff_cap_ns", FIELD_TIME, offsetof(struct tq_task_spec, backoff_cap_ns) },
	{ "attempts_max", FIELD_COUNT, offsetof(struct tq_task_spec, attempts_max) },
	{ "crashes_max", FIELD_COUNT, offsetof(struct tq_task_spec, crashes_max) },
	{ "losses_max", FIELD_COUNT, offsetof(struct tq_task_spec, losses_max) },
	{ "hold", FIELD_FLAG, TQ_TASK_HOLD },
	{ "forget", FIELD_FLAG, TQ_TASK_FORGET },
	{ "keep", FIELD_FLAG, TQ_TASK_KEEP },
	{ "at_most_once", FIELD_FLAG, TQ_TASK_AT_MOST_ONCE },
	{ "command", FIELD_PAYLOAD, 0 },
	{ "env", FIELD_PAYLOAD, 0 },
	{ "cwd", FIELD_PAYLOAD, 0 },
	{ "output", FIELD_PAYLOAD, 0 },
	{ "append", FIELD_PAYLOAD, 0 },
	{ "allow_leftovers", FIELD_PAYLOAD, 0 },
	{ "umask", FIELD_PAYLOAD, 0 },
	{ "payload", FIELD_PAYLOAD, 0 },
	{ "payload_base64", FIELD_PAYLOAD, 0 },
	{ "id", FIELD_IGNORED, 0 },
	{ "sequence", FIELD_IGNORED, 0 },
	{ "schedule", FIELD_IGNORED, 0 },
	{ "member_of", FIELD_IGNORED, 0 },
	{ "completes", FIELD_IGNORED, 0 },
	{ "state", FIELD_IGNORED, 0 },
	{ "flags", FIELD_IGNORED, 0 },
	{ "attempt", FIELD_IGNORED, 0 },
	{ "failures", FIELD_IGNORED, 0 },
	{ "crashes", FIELD_IGNORED, 0 },
	{ "losses", FIELD_IGNORED, 0 },
	{ "worker", FIELD_IGNORED, 0 },
	{ "server", FIELD_IGNORED, 0 },
	{ "worker_pid", FIELD_IGNORED, 0 },
	{ "progress_percent", FIELD_IGNORED, 0 },
	{ "progress_text", FIELD_IGNORED, 0 },
	{ "checkpoint_bytes", FIELD_IGNORED, 0 },
	{ "cause", FIELD_IGNORED, 0 },
	{ "cause_arg", FIELD_IGNORED, 0 },
	{ "cause_id", FIELD_IGNORED, 0 },
	{ "dependencies", FIELD_IGNORED, 0 },
	{ "dependants", FIELD_IGNORED, 0 },
	{ "unmet", FIELD_IGNORED, 0 },
	{ "error", FIELD_IGNORED, 0 },
	{ "result_bytes", FIELD_IGNORED, 0 },
	{ "output_bytes", FIELD_IGNORED, 0 },
	{ "max_rss_bytes", FIELD_IGNORED, 0 },
	{ "cpu_ns", FIELD_IGNORED, 0 },
	{ "submitted", FIELD_IGNORED, 0 },
	{ "ready", FIELD_IGNORED, 0 },
	{ "due", FIELD_IGNORED, 0 },
	{ "deadline", FIELD_IGNORED, 0 },
	{ "started", FIELD_IGNORED, 0 },
	{ "ended", FIELD_IGNORED, 0 },
	{ "age_ns", FIELD_IGNORED, 0 },
	{ "effective_priority", FIELD_IGNORED, 0 },
	{ "inherited_from", FIELD_IGNORED, 0 },
	{ "inherited_deadline", FIELD_IGNORED, 0 },
	{ "run_ns", FIELD_IGNORED, 0 },
	{ "history", FIELD_IGNORED, 0 },
	{ "record", FIELD_RECORD, 0 },
};

bool batch_line_bad(struct batch_line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(line->error, sizeof(line->error), format, args);
	va_end(args);
	return false;
}

static bool read_text(struct batch_line *line, const struct field *field, const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text)
		return batch_line_bad(line, "\"%s\" is not a string", field->name);
	if (field->type == FIELD_NAME && !name_ok(text))
		return batch_line_bad(line, "\"%s\" \"%s\" is not a name; give " FORM_NAME,
				      field->name, text);
	if (field->type == FIELD_KEY && !key_ok(text))
		return batch_line_bad(line, "\"%s\" is not " FORM_KEY, field->name);
	if (field->type == FIELD_LABEL && strlen(text) > TQ_LABEL_MAX)
		return batch_line_bad(line, "\"%s\" is longer than %u bytes", field->name,
				      TQ_LABEL_MAX);
	memcpy((char *)&line->spec + field->at, &text, sizeof(text));
	return true;
}

static bool read_scope(struct batch_line *line, const json_t *value)
{
	const char *text = json_string_value(value);

	if (text && parse_scope(text, &line->spec.unique_scope) == 0)
		return true;
	return batch_line_bad(line, "\"unique_scope\" is not " FORM_SCOPE);
}

static bool read_group(struct batch_line *line, const json_t *value)
{
	const char *text = json_string_value(value);

	if (text && tq_group_id_parse(text, &line->spec.group) == 0)
		return true;
	return batch_line_bad(line, "\"group\" is not " FORM_GROUP);
}

/* "key", or {"key": "key", "weight": 3}. */
static bool read_limit_key(struct batch_line *line, const json_t *value, size_t i)
{
	const bool both = json_is_object(value) && json_object_size(value) == 2;
	const json_t *weight = both ? json_object_get(value, "weight") : NULL;

	line->limits[i] = json_string_value(both ? json_object_get(value, "key") : value);
	line->limit_weights[i] = 1;
	if (!line->limits[i] || !key_ok(line->limits[i]))
		return batch_line_bad(line, "a key of \"limits\" is not " FORM_KEY);
	if (!both)
		return true;
	if (!json_is_integer(weight) || json_integer_value(weight) < 1 ||
	    json_integer_value(weight) > TQ_WEIGHT_MAX)
		return batch_line_bad(line, "a weight in \"limits\" is not a number from 1 to %u",
				      TQ_WEIGHT_MAX);
	line->limit_weights[i] = (uint32_t)json_integer_value(weight);
	return true;
}

static bool read_limits(struct batch_line *line, const json_t *value)
{
	const size_t count = json_array_size(value);

	if (!json_is_array(value) || count > TQ_LIMITS_MAX)
		return batch_line_bad(line, "\"limits\" is not an array of up to %u keys",
				      TQ_LIMITS_MAX);
	for (size_t i = 0; i < count; i++)
		if (!read_limit_key(line, json_array_get(value, i), i))
			return false;
	line->spec.limits = line->limits;
	line->spec.limit_weights = line->limit_weights;
	line->spec.limit_count = (uint32_t)count;
	return true;
}

/* A line that has any has no others. */
static bool read_after(struct batch_line *line, const struct field *field, const json_t *value)
{
	const size_t count = json_array_size(value);
	uint64_t id;

	if (!json_is_array(value))
		return batch_line_bad(line, "\"%s\" is not an array of task ids", field->name);
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(value, i));

		if (!text || tq_task_id_parse(text, &id) < 0)
			return batch_line_bad(line, "an entry of \"%s\" is not " FORM_ID,
					      field->name);
		if (!after_add(&line->after, id, (uint32_t)field->at))
			return batch_line_bad(line, "more than %u dependencies", TQ_AFTER_MAX);
	}
	line->spec.after = line->after.list;
	line->spec.after_count = line->after.count;
	return true;
}

static bool read_time(struct batch_line *line, const struct field *field, const json_t *value)
{
	const uint64_t ns = (uint64_t)json_integer_value(value);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return batch_line_bad(line, "\"%s\" is not a whole number of nanoseconds from 0 up",
				      field->name);
	memcpy((char *)&line->spec + field->at, &ns, sizeof(ns));
	return true;
}

static bool read_limit(struct batch_line *line, const struct field *field, const json_t *value)
{
	const uint64_t none = TQ_UNLIMITED;

	if (!json_is_null(value))
		return read_time(line, field, value);
	memcpy((char *)&line->spec + field->at, &none, sizeof(none));
	return true;
}

/* By the wall clock as it stands now.  A task whose deadline has passed expires at once. */
static bool read_deadline(struct batch_line *line, const json_t *value)
{
	const uint64_t now_ns = clocks_read().unix_now_ns;
	const char *text = json_string_value(value);
	uint64_t at_ns;

	if (!text || parse_at(text, now_ns, &at_ns) < 0)
		return batch_line_bad(line, "\"deadline_at\" is not a time; give " FORM_AT);
	line->spec.deadline_ns = at_ns > now_ns ? at_ns - now_ns : 1;
	return true;
}

/* In place of a delay, whatever the other lines say. */
static bool read_at(struct batch_line *line, const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text || parse_at(text, clocks_read().unix_now_ns, &line->spec.at_ns) < 0)
		return batch_line_bad(line, "\"at\" is not a time; give " FORM_AT);
	return true;
}

static bool read_count(struct batch_line *line, const struct field *field, const json_t *value)
{
	const json_int_t number = json_integer_value(value);
	const uint32_t count = (uint32_t)number;

	if (!json_is_integer(value) || number < 1 || number > TQ_ATTEMPTS_MAX)
		return batch_line_bad(line, "\"%s\" is not a whole number from 1 to %u",
				      field->name, TQ_ATTEMPTS_MAX);
	memcpy((char *)&line->spec + field->at, &count, sizeof(count));
	return true;
}

static bool read_priority(struct batch_line *line, const json_t *value)
{
	const json_int_t number = json_integer_value(value);

	if (json_is_string(value) &&
	    tq_priority_parse(json_string_value(value), &line->spec.priority) == 0)
		return true;
	if (!json_is_integer(value) || number < INT32_MIN || number > INT32_MAX)
		return batch_line_bad(line, "\"priority\" is not " FORM_PRIORITY);
	line->spec.priority = (int32_t)number;
	return true;
}

static bool read_flag(struct batch_line *line, const struct field *field, const json_t *value)
{
	if (!json_is_boolean(value))
		return batch_line_bad(line, "\"%s\" is neither true nor false", field->name);
	if (json_is_true(value))
		line->spec.flags |= (uint32_t)field->at;
	else
		line->spec.flags &= ~(uint32_t)field->at;
	return true;
}

bool batch_line_field(struct batch_line *line, const char *name, const json_t *value)
{
	const struct field *field = fields;
	const struct field *end = fields + sizeof(fields) / sizeof(fields[0]);

	while (field < end && strcmp(field->name, name) != 0)
		field++;
	if (field == end)
		return batch_line_bad(line, "unknown field \"%s\"", name);
	switch (field->type) {
	case FIELD_NAME:
	case FIELD_LABEL:
	case FIELD_KEY:
		return read_text(line, field, value);
	case FIELD_SCOPE:
		return read_scope(line, value);
	case FIELD_GROUP:
		return read_group(line, value);
	case FIELD_LIMITS:
		return read_limits(line, value);
	case FIELD_AFTER:
		return read_after(line, field, value);
	case FIELD_TIME:
		return read_time(line, field, value);
	case FIELD_LIMIT:
		return read_limit(line, field, value);
	case FIELD_AT:
		return read_at(line, value);
	case FIELD_DEADLINE:
		return read_deadline(line, value);
	case FIELD_COUNT:
		return read_count(line, field, value);
	case FIELD_PRIORITY:
		return read_priority(line, value);
	case FIELD_FLAG:
		return read_flag(line, field, value);
	case FIELD_RECORD:
		return batch_line_bad(line, "of a dump, and no task: `taskq load` reads it");
	case FIELD_PAYLOAD:
	case FIELD_IGNORED:
		break;
	}
	return true;
}
