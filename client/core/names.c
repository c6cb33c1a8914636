/* SPDX-License-Identifier: MIT */
/* Texts: ids, priorities, states, causes, errors, version. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/record/records.h"
#include "taskq/taskq.h"

const char *tq_version(void)
{
	return TQ_VERSION_STRING;
}

int tq_version_at_least(unsigned major, unsigned minor, unsigned patch)
{
	const unsigned ours[] = { TQ_VERSION_MAJOR, TQ_VERSION_MINOR, TQ_VERSION_PATCH };
	const unsigned asked[] = { major, minor, patch };

	for (int i = 0; i < 3; i++)
		if (ours[i] != asked[i])
			return ours[i] > asked[i];
	return 1;
}

char *tq_task_id_format(uint64_t id, char *buf)
{
	if (!buf)
		return NULL;
	snprintf(buf, TQ_ID_TEXT_MAX, "%u-%llu", tqi_id_index(id),
		 (unsigned long long)tqi_id_generation(id));
	return buf;
}

/* Digits only: strtoull would take signs and spaces. */
static int parse_digits(const char **text, uint64_t max, uint64_t *ret_value)
{
	uint64_t value = 0;
	const char *p = *text;

	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (uint64_t)(*p - '0');
		if (value > max)
			return -EINVAL;
	}
	if (p == *text || value == 0)
		return -EINVAL;
	*text = p;
	*ret_value = value;
	return 0;
}

int tq_task_id_parse(const char *text, uint64_t *ret_id)
{
	if (!text || !ret_id)
		return -EINVAL;
	uint64_t index, generation;

	if (parse_digits(&text, TQI_INDEX_MASK, &index) < 0 || (*text != '-' && *text != '.'))
		return -EINVAL;
	text++;
	if (parse_digits(&text, TQI_GENERATION_MAX, &generation) < 0 || *text != '\0')
		return -EINVAL;
	*ret_id = tqi_id_make((uint32_t)index, generation);
	return 0;
}

/* What is not a task has a letter before it. */
static char *format_lettered(char letter, uint64_t id, char *buf)
{
	if (!buf)
		return NULL;
	buf[0] = letter;
	snprintf(buf + 1, TQ_ID_TEXT_MAX - 1, "%u-%llu", tqi_id_index(id),
		 (unsigned long long)tqi_id_generation(id));
	return buf;
}

char *tq_schedule_id_format(uint64_t id, char *buf)
{
	return format_lettered('s', id, buf);
}

int tq_schedule_id_parse(const char *text, uint64_t *ret_id)
{
	return text && text[0] == 's' ? tq_task_id_parse(text + 1, ret_id) : -EINVAL;
}

char *tq_group_id_format(uint64_t id, char *buf)
{
	return format_lettered('g', id, buf);
}

int tq_group_id_parse(const char *text, uint64_t *ret_id)
{
	return text && text[0] == 'g' ? tq_task_id_parse(text + 1, ret_id) : -EINVAL;
}

/* The texts of a map of names; `unknown` for a value that is not in it. */
#define TEXT(symbol, value, text)                                                                  \
	case symbol:                                                                               \
		return text;
#define NAMES(function, map, unknown)                                                              \
	const char *function(uint32_t of)                                                          \
	{                                                                                          \
		switch (of) {                                                                      \
		default:                                                                           \
			return unknown;                                                            \
			map(TEXT)                                                                  \
		}                                                                                  \
	}

NAMES(tq_task_state_name, TQ_STATE_MAP, "?")
NAMES(tq_cause_name, TQ_CAUSE_MAP, "?")
NAMES(tq_after_name, TQ_AFTER_MAP, "?")
NAMES(tq_why_name, TQ_WHY_MAP, "?")
NAMES(tq_group_state_name, TQ_GROUP_STATE_MAP, "?")
NAMES(tq_group_condition_name, TQ_GROUP_CONDITION_MAP, "?")
NAMES(tq_overlap_name, TQ_OVERLAP_MAP, "?")
NAMES(tq_trace_event_name, TQ_TRACE_MAP, "unknown")

int tq_priority_parse(const char *text, int32_t *ret_priority)
{
	if (!text || !ret_priority)
		return -EINVAL;
	static const struct {
		const char *name;
		int32_t value;
	} names[] = { { "low", TQ_PRIORITY_LOW },
		      { "normal", TQ_PRIORITY_NORMAL },
		      { "high", TQ_PRIORITY_HIGH },
		      { "critical", TQ_PRIORITY_CRITICAL } };
	char *end;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i].name) == 0) {
			*ret_priority = names[i].value;
			return 0;
		}
	if (strspn(text, "+-0123456789") != strlen(text) || *text == '\0')
		return -EINVAL;
	errno = 0;
	long long value = strtoll(text, &end, 10);

	if (*end != '\0' || end == text)
		return -EINVAL;
	if (errno == ERANGE || value < INT32_MIN || value > INT32_MAX)
		return -ERANGE;
	*ret_priority = (int32_t)value;
	return 0;
}

char *tq_cause_format(uint32_t cause, int32_t arg, char *buf)
{
	if (!buf)
		return NULL;
	const size_t room = 32;
	const char *name = cause == TQ_CAUSE_SIGNAL ? sigabbrev_np(arg) : NULL;

	if (name)
		snprintf(buf, room, "signal:%s", name);
	else if (cause == TQ_CAUSE_EXIT || cause == TQ_CAUSE_SIGNAL ||
		 (cause == TQ_CAUSE_ERROR && arg > 0))
		snprintf(buf, room, "%s:%d", tq_cause_name(cause), arg);
	else
		snprintf(buf, room, "%s", tq_cause_name(cause));
	return buf;
}

const char *tq_strerror(int error)
{
	switch (error) {
		TQ_ERROR_MAP(TEXT)
	default:
		break;
	}
	if (error >= 0)
		return "success";
	const char *text = strerrordesc_np(-error);

	return text ? text : "unknown error";
}

const char *tq_error_name(int error)
{
	switch (error) {
#define NAME(name, value, text)                                                                    \
	case name:                                                                                 \
		return #name;
		TQ_ERROR_MAP(NAME)
#undef NAME
	default:
		break;
	}
	const char *name = strerrorname_np(error < 0 ? -error : error);

	return name ? name : "?";
}
