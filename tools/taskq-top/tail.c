/* SPDX-License-Identifier: MIT */
/* The end of a task's output. */
#include <stdlib.h>
#include <string.h>

#include "detail.h"

void tail_free(struct tail *tail)
{
	free(tail->text);
	*tail = (struct tail){ 0 };
}

/* Keeps the last TAIL_MAX bytes. */
static void append(struct tail *tail, const char *data, uint32_t bytes)
{
	const uint32_t over = tail->bytes + bytes > TAIL_MAX ? tail->bytes + bytes - TAIL_MAX : 0;

	if (over) {
		memmove(tail->text, tail->text + over, tail->bytes - over);
		tail->bytes -= over;
	}
	memcpy(tail->text + tail->bytes, data, bytes);
	tail->bytes += bytes;
}

void tail_read(struct tail *tail, struct tq *tq, uint64_t id)
{
	char data[16 << 10];
	uint32_t attempt = tail->attempt;
	uint64_t from;
	int n;

	if (!tail->text)
		tail->text = malloc(TAIL_MAX);
	/* As much as is kept at most: one that writes without end must not hold us up. */
	for (int i = 0; tail->text && i < 2 * TAIL_MAX / (int)sizeof(data); i++) {
		n = tq_output_read(tq, id, tail->offset, data, sizeof(data), 0, &from, &attempt);
		if (n <= 0)
			return;
		if (attempt != tail->attempt) {
			tail->bytes = 0;
			tail->attempt = attempt;
		}
		append(tail, data, (uint32_t)n);
		tail->offset = from + (uint64_t)n;
	}
}

/* A line as a terminal would have left it: what stands behind its last carriage return. */
static const char *last_written(const char *line, size_t *bytes)
{
	const char *end = line + *bytes, *at;

	while (end > line && end[-1] == '\r')
		end--;
	for (at = end; at > line && at[-1] != '\r';)
		at--;
	*bytes = (size_t)(end - at);
	return at;
}

void tail_lines(const struct tail *tail, struct lines *lines)
{
	const char *at = tail->text, *end = tail->text ? tail->text + tail->bytes : NULL;

	while (at < end) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		size_t bytes = (size_t)((feed ? feed : end) - at);
		const char *text = last_written(at, &bytes);

		lines_add(lines, ROLE_TEXT, "", "%.*s", (int)bytes, text);
		at = feed ? feed + 1 : end;
	}
}
