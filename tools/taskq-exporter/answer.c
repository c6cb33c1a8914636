/* SPDX-License-Identifier: MIT */
/* What is answered to a request. */
#include "answer.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

struct body {
	atomic_uint users;
	size_t bytes;
	char *text;
};

static atomic_size_t all_bytes; /* of all bodies */

struct body *body_new(char *text, size_t bytes)
{
	struct body *body = text ? malloc(sizeof(*body)) : NULL;

	if (!body) {
		free(text);
		return NULL;
	}
	atomic_init(&body->users, 1);
	body->bytes = bytes;
	body->text = text;
	atomic_fetch_add(&all_bytes, bytes);
	return body;
}

struct body *body_share(struct body *body)
{
	if (body)
		atomic_fetch_add(&body->users, 1);
	return body;
}

void body_drop(void *arg)
{
	struct body *body = arg;

	if (!body || atomic_fetch_sub(&body->users, 1) > 1)
		return;
	atomic_fetch_sub(&all_bytes, body->bytes);
	free(body->text);
	free(body);
}

char *body_text(struct body *body, size_t *ret_bytes)
{
	*ret_bytes = body->bytes;
	return body->text;
}

bool body_is_too_much(const struct body *body)
{
	return body && body->bytes > BODY_SMALL && atomic_load(&all_bytes) > BODIES_MAX;
}

/* The text and a line feed. */
static struct body *line_of(char *text)
{
	const size_t bytes = text ? strlen(text) : 0;
	char *line = text ? realloc(text, bytes + 2) : NULL;

	if (!line) {
		free(text);
		return NULL;
	}
	memcpy(line + bytes, "\n", 2);
	return body_new(line, bytes + 1);
}

static char *format_list(const char *format, va_list args) PRINTF_LIKE(1, 0);
static char *format_list(const char *format, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

struct answer answer_text(unsigned status, const char *format, ...)
{
	struct answer answer = { .status = status, .type = TYPE_TEXT };
	va_list args;

	va_start(args, format);
	answer.body = line_of(format_list(format, args));
	va_end(args);
	return answer;
}

struct answer answer_json(unsigned status, json_t *value)
{
	return (struct answer){ .status = status,
				.type = TYPE_JSON,
				.body = line_of(json_to_text(value)) };
}

struct answer answer_error(unsigned status, const char *hint, const char *format, ...)
{
	json_t *object = json_object();
	va_list args;
	char *text;

	va_start(args, format);
	text = format_list(format, args);
	va_end(args);
	json_object_set_new(object, "error", json_text(text ? text : "out of memory"));
	if (hint)
		json_object_set_new(object, "hint", json_text(hint));
	free(text);
	return answer_json(status, object);
}
