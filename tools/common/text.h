/* SPDX-License-Identifier: MIT */
/* Text from tasks, which may hold anything, made safe to print. */
#ifndef TASKQ_TOOL_TEXT_H
#define TASKQ_TOOL_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include <taskq/taskq.h>

enum {
	TEXT_SHOWN_MAX = 64 << 10
}; /* bytes of a payload fetched only to print a line of it */

/* Bytes of the UTF-8 character at @text (at most @room bytes); 0 when it is none. */
size_t text_char(const char *text, size_t room);

/* Prints @text with control characters and bad UTF-8 as \n, \x1b and the like. */
void text_put_safe(FILE *out, const char *text);
void text_put_safe_bytes(FILE *out, const char *text, size_t bytes);

/* The same for programs, which can have every byte back: a backslash is \\. */
void text_put_exact(FILE *out, const char *text, size_t bytes);

/* Prints one argument as a shell would take it back, harmless on a terminal. */
void text_put_quoted(FILE *out, const char *arg);

/* Prints what a handler of that kind gets: a command, or text. */
void text_put_payload(FILE *out, const char *kind, const void *payload, uint64_t bytes);

/* A task's command in one line ("cwd" left out), or what can be said of its payload.
 * Freed by free(); NULL when there is nothing to say. */
char *text_of_task(struct tq *tq, const struct tq_task_info *info);

/* Copy of @text, safe and at most @columns characters wide (0: no limit); freed by free(). */
char *text_safe_copy(const char *text, unsigned columns);

/* Copy of @text as text_put_exact() prints it; freed by free(). */
char *text_exact_copy(const char *text, size_t bytes);

/* Shortest form of a kind of dependency: "ok", "any", "fail". */
const char *after_short(uint32_t kind);

/* A limit key as the options have it: KEY, or KEY=WEIGHT. */
#define LIMIT_TEXT_MAX (TQ_KEY_MAX + 12)
const char *text_limit(const char *key, uint32_t weight, char text[LIMIT_TEXT_MAX]);

#endif
