/* SPDX-License-Identifier: MIT */
/* What is answered to a request. */
#ifndef TASKQ_EXPORTER_ANSWER_H
#define TASKQ_EXPORTER_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "errors.h"

#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_JSON "application/json"
#define TYPE_HTML "text/html; charset=utf-8"

enum {
	BODIES_MAX = 64 << 20, /* bytes of answers that have not been read to their ends */
	BODY_SMALL = 64 << 10, /* bytes of an answer that is given nevertheless */
	HEADERS_MAX = 4,
};

/* A text that several answers may share; freed with the last of them. */
struct body;

struct body *body_new(char *text, size_t bytes); /* takes malloc()'s @text over */
struct body *body_share(struct body *body);
void body_drop(void *body);
/* Whether a large one has come to be while others that nobody reads already take much. */
bool body_is_too_much(const struct body *body);
char *body_text(struct body *body, size_t *ret_bytes);

/* A header that only some answers have. */
struct header {
	const char *name; /* NULL there is none */
	char value[24];
};

struct answer {
	unsigned status;
	const char *type;
	struct body *body; /* NULL no memory */
	char policy[256];  /* Content-Security-Policy; "" none */
	struct header headers[HEADERS_MAX];
};

struct answer answer_text(unsigned status, const char *format, ...) PRINTF_LIKE(2, 3);

/* Takes the value over. */
struct answer answer_json(unsigned status, json_t *value);

/* {"error": ..., "hint": ...}; @hint may be NULL. */
struct answer answer_error(unsigned status, const char *hint, const char *format, ...)
	PRINTF_LIKE(3, 4);

#endif
