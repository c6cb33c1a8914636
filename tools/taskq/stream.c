/* SPDX-License-Identifier: MIT */
/* A task's output, copied to standard output. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "signals.h"
#include "stream.h"

enum {
	CHUNK_BYTES = 64 << 10
}; /* what the library keeps of an output by default */

static int put(const char *data, size_t bytes)
{
	int r = 0;

	signals_release(); /* whoever reads may be in no hurry */
	if (fwrite(data, 1, bytes, stdout) < bytes || fflush(stdout) < 0)
		r = errno == EPIPE ? -EPIPE : -EIO;
	signals_hold();
	return r;
}

static void say_gap(const struct stream *stream, uint64_t bytes)
{
	char id[TQ_ID_TEXT_MAX];

	complain("%s: %llu %s %s not kept", tq_id_format(stream->id, id), (unsigned long long)bytes,
		 format_plural(bytes, "byte", "bytes"),
		 stream->offset ? "in between" : "at the beginning");
}

static void begin_attempt(struct stream *stream, uint32_t attempt)
{
	char id[TQ_ID_TEXT_MAX];

	if (stream->attempt)
		complain("%s: attempt %u", tq_id_format(stream->id, id), attempt);
	stream->attempt = attempt;
	stream->offset = 0;
}

/* Takes what tq_output() has returned: @bytes from @from on, written by @attempt. */
static int take(struct stream *stream, const char *data, size_t bytes, uint64_t from,
		uint32_t attempt)
{
	if (attempt < stream->attempt)
		return -ENODATA; /* the last one has written nothing so far */
	if (attempt > stream->attempt) {
		const bool from_elsewhere = stream->offset > 0;

		begin_attempt(stream, attempt);
		if (from_elsewhere)
			return 0; /* read again, from the new attempt's beginning */
	}
	if (from > stream->offset)
		say_gap(stream, from - stream->offset);
	stream->offset = from + bytes;
	return put(data, bytes);
}

/* At the end of the output: whether it is that of an earlier attempt, because the
 * last one has written less than that one did. */
static bool is_behind(struct cli *cli, struct stream *stream)
{
	struct tq_task_info info = { .size = sizeof(info) };

	if (stream->offset == 0 || tq_info(cli->tq, stream->id, &info) < 0 ||
	    info.attempt <= stream->attempt)
		return false;
	begin_attempt(stream, info.attempt);
	return true;
}

int stream_copy(struct cli *cli, struct stream *stream)
{
	char data[CHUNK_BYTES];
	const uint64_t timeout_ns = stream->follow ? TQ_FOREVER_NS : 0;

	for (;;) {
		uint64_t from = 0;
		uint32_t attempt = stream->attempt;

		signals_sleep_begin();
		int r = tq_output(cli->tq, stream->id, stream->offset, data, sizeof(data),
				  timeout_ns, &from, &attempt);
		signals_sleep_end();

		if (r > 0)
			r = take(stream, data, (size_t)r, from, attempt);
		else if (r == -ENODATA && is_behind(cli, stream))
			continue;
		if (r == -ENODATA || (!stream->follow && (r == -ETIMEDOUT || r == -EAGAIN)))
			return 0;
		if (r == -EPIPE)
			cli->is_unread = true;
		if (r < 0 && r != -EINTR && r != -ETIMEDOUT)
			return r;
	}
}
