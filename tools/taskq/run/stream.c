/* SPDX-License-Identifier: MIT */
/* A task's output, copied to standard output. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "signals.h"
#include "tools/taskq/print/refusal.h"
#include "tools/taskq/run/stream.h"

enum {
	CHUNK_BYTES = 64 << 10
}; /* what the library keeps of an output by default */

int stream_put(struct stream *stream, const char *data, size_t bytes)
{
	int r = 0;

	if (bytes == 0)
		return 0;
	stream->inside_line = data[bytes - 1] != '\n';
	signals_release(); /* whoever reads may be in no hurry */
	if (fwrite(data, 1, bytes, stdout) < bytes || fflush(stdout) < 0)
		r = errno == EPIPE ? -EPIPE : -EIO;
	signals_hold();
	return r;
}

static void say_bytes(const struct stream *stream, uint64_t bytes, const char *where)
{
	char id[TQ_ID_TEXT_MAX];

	if (bytes)
		complain("%s: %llu %s %s not kept", tq_task_id_format(stream->id, id),
			 (unsigned long long)bytes, format_plural(bytes, "byte", "bytes"), where);
}

void stream_say_lost(const struct stream *stream)
{
	say_bytes(stream, stream->lost, "of its output in between");
}

bool stream_is_cut(struct stream *stream, const struct tq_task_info *info)
{
	if (info->attempt == stream->attempt || stream->attempt == 0)
		if (info->output_bytes > stream->offset)
			stream->lost += info->output_bytes - stream->offset;
	stream->lost += stream->missed;
	stream->missed = 0;
	say_bytes(stream, stream->lost, "of its output");
	return stream->lost > 0;
}

/* At the beginning it is said at once, as what follows is to be read with that in mind. */
static void count_gap(struct stream *stream, uint64_t bytes)
{
	if (stream->offset) {
		stream->lost += bytes;
		return;
	}
	stream->missed += bytes;
	if (!stream->whole)
		say_bytes(stream, bytes, "at the beginning");
}

static void begin_attempt(struct stream *stream, uint32_t attempt)
{
	char id[TQ_ID_TEXT_MAX];

	if (stream->attempt)
		complain("%s: attempt %u", tq_task_id_format(stream->id, id), attempt);
	stream->attempt = attempt;
	stream->offset = 0;
}

/* Takes what tq_output_read() has returned: @bytes from @from on, written by @attempt. */
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
		count_gap(stream, from - stream->offset);
	stream->offset = from + bytes;
	return stream_put(stream, data, bytes);
}

/* At the end of the output: whether it is that of an earlier attempt, because the
 * last one has written less than that one did. */
static bool is_behind(struct cli *cli, struct stream *stream)
{
	struct tq_task_info info = { .size = sizeof(info) };

	if (stream->offset == 0 || tq_task_info(cli->tq, stream->id, &info) < 0 ||
	    info.attempt <= stream->attempt)
		return false;
	begin_attempt(stream, info.attempt);
	return true;
}

static void look_for_refusal(struct cli *cli, struct stream *stream)
{
	struct tq_task_info info = { .size = sizeof(info) };

	if (!stream->refusal_told && tq_task_info(cli->tq, stream->id, &info) == 0)
		stream->refusal_told = refusal_say(&info);
}

static uint64_t patience(const struct stream *stream)
{
	if (!stream->follow)
		return 0;
	return stream->refusal_told ? TQ_FOREVER_NS : REFUSAL_LOOK_NS;
}

int stream_copy(struct cli *cli, struct stream *stream)
{
	char data[CHUNK_BYTES];
	int (*const read_more)(struct tq *, uint64_t, uint64_t, void *, uint32_t, uint64_t,
			       uint64_t *, uint32_t *) = stream->follow ? tq_output_follow
									: tq_output_read;

	for (;;) {
		uint64_t from = 0;
		uint32_t attempt = stream->attempt;

		signals_sleep_begin();
		int r = read_more(cli->tq, stream->id, stream->offset, data, sizeof(data),
				  patience(stream), &from, &attempt);
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
		if (r == -ETIMEDOUT)
			look_for_refusal(cli, stream);
	}
}

int stream_copy_attempt(struct cli *cli, struct stream *stream, uint32_t attempt)
{
	char data[CHUNK_BYTES];
	uint64_t from;
	int r;

	stream->attempt = attempt;
	while ((r = tq_output_read_attempt(cli->tq, stream->id, attempt, stream->offset, data,
					   sizeof(data), &from)) > 0) {
		r = take(stream, data, (size_t)r, from, attempt);
		if (r < 0)
			break;
	}
	if (r == -EPIPE)
		cli->is_unread = true;
	return r == -ENODATA ? 0 : r;
}
