/* SPDX-License-Identifier: MIT */
/*
 * JSON for programs: ids are strings, wall times RFC 3339 in UTC, durations end in
 * _ns.  What is not known, or has no limit, is left out.
 */
#ifndef TASKQ_TOOL_JSON_H
#define TASKQ_TOOL_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include <taskq/taskq.h>

#include "format.h"

json_t *json_of_task(struct tq *tq, const struct tq_task_info *info, const struct clocks *clocks);
/* The same; a payload of more than @payload_max bytes is left out, and "payload_bytes" says
 * so. */
json_t *json_of_task_within(struct tq *tq, const struct tq_task_info *info,
			    const struct clocks *clocks, uint64_t payload_max);
json_t *json_of_schedule(struct tq *tq, const struct tq_schedule_info *info,
			 const struct clocks *clocks);
/* With its history, its dependencies and its dependants: 0, or the library's error. */
int json_of_task_whole(struct tq *tq, uint64_t id, const struct clocks *clocks,
		       uint64_t payload_max, json_t **ret_object);
json_t *json_of_why(struct tq *tq, const struct tq_task_info *info, const struct tq_why *why,
		    const struct clocks *clocks);
json_t *json_of_group(const struct tq_group_info *info, const struct clocks *clocks);
json_t *json_of_attempt(const struct tq_attempt_info *attempt, const struct clocks *clocks);
json_t *json_of_queue(const struct tq_queue_info *info);
json_t *json_of_worker(const struct tq_worker_info *info, const struct clocks *clocks);
json_t *json_of_limit(const struct tq_limit_info *info);
json_t *json_of_kind(const struct tq_kind_info *info);
json_t *json_of_group(const struct tq_group_info *info, const struct clocks *clocks);
json_t *json_of_trace_entry(const struct tq_trace_entry *entry, const struct clocks *clocks);
json_t *json_of_segment(const struct tq_segment_info *info);

/* Values: a string where bad UTF-8 became U+FFFD, an id, a count; json_u64() of
 * TQ_UNLIMITED is null. */
json_t *json_text(const char *text);
json_t *json_id(uint64_t id);
json_t *json_u64(uint64_t value);
/* An array of limit keys. */
/* Limit keys; one with a weight above 1 is an object of both. */
json_t *json_keys(const char (*keys)[TQ_KEY_MAX + 1], const uint32_t *weights, uint32_t count);

/* Sets @key to the wall time of a CLOCK_MONOTONIC one; 0 leaves it out. */
void json_set_time(json_t *object, const char *key, const struct clocks *clocks, uint64_t at_ns);

/* Sets what `submit --batch` reads of a task, but its payload, its times and what it belongs
 * to. */
void json_set_work(json_t *object, const struct tq_task_info *info);

/* Sets what a handler of that kind gets: "command" and what goes with it, "payload" or
 * "payload_base64". */
void json_set_payload(json_t *object, const char *kind, const char *payload, uint64_t bytes);

/* The text of a value in one line, and frees the value.  Freed by free(); NULL no memory. */
char *json_to_text(json_t *value);

/* What is wrong with a text that is no JSON. */
const char *json_error_reason(const json_error_t *error);

/* Prints one object on one line of standard output and frees it. */
void json_line(json_t *object);

#endif
