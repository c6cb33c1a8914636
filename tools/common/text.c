/* SPDX-License-Identifier: MIT */
/* Text from tasks, which may hold anything, made safe to print. */
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "payload.h"
#include "text.h"

/* Bytes that a character beginning with @first has; 0 when none begins so. */
static size_t announced(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2) /* a continuation, or an overlong form */
		return 0;
	if (first < 0xe0)
		return 2;
	if (first < 0xf0)
		return 3;
	return first < 0xf5 ? 4 : 0;
}

size_t text_char(const char *text, size_t room)
{
	const unsigned char *at = (const unsigned char *)text;
	const size_t bytes = room ? announced(at[0]) : 0;

	if (bytes > room)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if (bytes < 3)
		return bytes;
	/* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return bytes;
}

/* Whether a valid character would act on the terminal instead of being shown. */
static int is_control(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	if (at[0] < 0x20 || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0))
		return 1;
	/* U+200B..200F, 2028..202E, 2060..206F, FEFF: they turn or hide what stands beside. */
	if (at[0] == 0xe2 && at[1] == 0x80)
		return (at[2] >= 0x8b && at[2] <= 0x8f && at[2] != 0x8d) ||
		       (at[2] >= 0xa8 && at[2] <= 0xae);
	return (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa0 && at[2] <= 0xaf) ||
	       (at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf);
}

static void put_escaped(FILE *out, unsigned char byte)
{
	static const char names[] = "abtnvfr"; /* from 7 on */

	if (byte >= 7 && byte <= 13)
		fprintf(out, "\\%c", names[byte - 7]);
	else
		fprintf(out, "\\x%02x", byte);
}

void text_put_safe_bytes(FILE *out, const char *text, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		const size_t width = text_char(text + at, bytes - at);

		if (width == 0 || is_control(text + at)) {
			for (size_t i = 0; i < (width ? width : 1); i++)
				put_escaped(out, (unsigned char)text[at + i]);
		} else {
			fwrite(text + at, 1, width, out);
		}
		at += width ? width : 1;
	}
}

void text_put_exact(FILE *out, const char *text, size_t bytes)
{
	for (const char *slash; (slash = memchr(text, '\\', bytes));) {
		const size_t before = (size_t)(slash - text);

		text_put_safe_bytes(out, text, before);
		fputs("\\\\", out);
		text += before + 1;
		bytes -= before + 1;
	}
	text_put_safe_bytes(out, text, bytes);
}

void text_put_safe(FILE *out, const char *text)
{
	text_put_safe_bytes(out, text, strlen(text));
}

static int is_plain(const char *arg)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_./:=@%+,-";

	return *arg && strspn(arg, plain) == strlen(arg);
}

static int needs_escapes(const char *arg)
{
	for (size_t width, left = strlen(arg); left > 0; arg += width, left -= width) {
		width = text_char(arg, left);
		if (width == 0 || is_control(arg))
			return 1;
	}
	return 0;
}

/* $'...': the one quoting in which control characters can be written as letters. */
static void put_dollar_quoted(FILE *out, const char *arg)
{
	fputs("$'", out);
	for (size_t width, left = strlen(arg); left > 0; arg += width, left -= width) {
		width = text_char(arg, left);
		if (*arg == '\'' || *arg == '\\')
			fputc('\\', out);
		width = width ? width : 1;
		text_put_safe_bytes(out, arg, width);
	}
	fputc('\'', out);
}

void text_put_quoted(FILE *out, const char *arg)
{
	if (is_plain(arg)) {
		fputs(arg, out);
		return;
	}
	if (needs_escapes(arg)) {
		put_dollar_quoted(out, arg);
		return;
	}
	fputc('\'', out);
	for (; *arg; arg++) {
		if (*arg == '\'')
			fputs("'\\'", out);
		fputc(*arg, out);
	}
	fputc('\'', out);
}

static void put_command(FILE *out, const struct tq_exec *exec)
{
	for (const char *const *arg = exec->argv; *arg; arg++) {
		if (arg != exec->argv)
			fputc(' ', out);
		text_put_quoted(out, *arg);
	}
}

void text_put_payload(FILE *out, const char *kind, const void *payload, uint64_t bytes)
{
	struct tq_exec *exec = NULL;

	if (strcmp(kind, "exec") != 0) {
		text_put_safe_bytes(out, payload, bytes);
	} else if (tq_exec_decode(payload, bytes, &exec) == 0) {
		put_command(out, exec);
		free(exec);
	} else {
		fputs("(not a command)", out);
	}
}

char *text_of_task(struct tq *tq, const struct tq_task_info *info)
{
	char *text = NULL;
	size_t text_bytes;
	void *payload = NULL;
	uint64_t bytes;
	FILE *out;

	if (info->payload_bytes > 0 && info->payload_bytes <= TEXT_SHOWN_MAX &&
	    payload_read(tq, info->id, &payload, &bytes) < 0)
		return NULL;
	out = open_memstream(&text, &text_bytes);
	if (out) {
		if (payload)
			text_put_payload(out, info->kind, payload, bytes);
		else if (info->payload_bytes > 0)
			fprintf(out, "(%llu %s)", (unsigned long long)info->payload_bytes,
				format_plural(info->payload_bytes, "byte", "bytes"));
		fclose(out);
	}
	free(payload);
	return text;
}

static void put_columns(FILE *out, const char *text, unsigned columns)
{
	const size_t bytes = strlen(text);
	unsigned column = 0;

	for (size_t at = 0; at < bytes; column++) {
		const size_t width = text_char(text + at, bytes - at);

		if (columns && column == columns) {
			fputs("...", out);
			return;
		}
		text_put_safe_bytes(out, text + at, width ? width : 1);
		at += width ? width : 1;
	}
}

char *text_safe_copy(const char *text, unsigned columns)
{
	char *copy = NULL;
	size_t bytes;
	FILE *out = open_memstream(&copy, &bytes);

	if (!out)
		return NULL;
	put_columns(out, text, columns);
	fclose(out);
	return copy;
}

char *text_exact_copy(const char *text, size_t bytes)
{
	char *copy = NULL;
	size_t room;
	FILE *out = open_memstream(&copy, &room);

	if (!out)
		return NULL;
	text_put_exact(out, text, bytes);
	fclose(out);
	return copy;
}

const char *text_limit(const char *key, uint32_t weight, char text[LIMIT_TEXT_MAX])
{
	if (weight <= 1)
		return key;
	snprintf(text, LIMIT_TEXT_MAX, "%s=%u", key, weight);
	return text;
}

const char *after_short(uint32_t kind)
{
	const char *name = tq_after_name(kind);

	return strncmp(name, "after-", 6) == 0 ? name + 6 : name;
}
