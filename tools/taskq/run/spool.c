/* SPDX-License-Identifier: MIT */
/* The output of a running task, read while others are printed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/taskq/run/spool.h"

enum {
	CHUNK_BYTES = 64 << 10, /* read at a time: what the library keeps by default */
	MEMORY_BYTES = 1 << 20, /* of a task; what is more goes to a file */
};

static int keep_in_file(struct spool *spool, const char *data, size_t bytes)
{
	if (!spool->file)
		spool->file = tmpfile();
	if (!spool->file || fwrite(data, 1, bytes, spool->file) < bytes)
		return errno ? -errno : -EIO;
	return 0;
}

static int keep(struct spool *spool, const char *data, size_t bytes)
{
	char *more;

	if (spool->file || spool->bytes + bytes > MEMORY_BYTES)
		return keep_in_file(spool, data, bytes);
	more = realloc(spool->data, spool->bytes + bytes);
	if (!more)
		return -ENOMEM;
	memcpy(more + spool->bytes, data, bytes);
	spool->data = more;
	spool->bytes += bytes;
	return 0;
}

static void empty(struct spool *spool)
{
	if (spool->file)
		fclose(spool->file);
	free(spool->data);
	spool->file = NULL;
	spool->data = NULL;
	spool->bytes = 0;
}

static int begin(uint64_t id, struct spool **spool)
{
	if (!*spool)
		*spool = calloc(1, sizeof(**spool));
	if (!*spool)
		return -ENOMEM;
	(*spool)->stream.id = id;
	return 0;
}

/* A later attempt's output takes the place of an earlier one's. */
static int take(struct spool *spool, const char *data, size_t bytes, uint64_t from,
		uint32_t attempt)
{
	struct stream *stream = &spool->stream;

	if (attempt != stream->attempt) {
		empty(spool);
		stream->attempt = attempt;
		stream->offset = stream->lost = 0;
	}
	if (from > stream->offset)
		stream->lost += from - stream->offset;
	stream->offset = from + bytes;
	return keep(spool, data, bytes);
}

int spool_read(struct cli *cli, uint64_t id, struct spool **spool)
{
	char data[CHUNK_BYTES];
	uint64_t from = 0, offset = *spool ? (*spool)->stream.offset : 0;
	uint32_t attempt = *spool ? (*spool)->stream.attempt : 0;
	int n = tq_output_follow(cli->tq, id, offset, data, sizeof(data), 0, &from, &attempt);
	int r;

	if (n <= 0)
		return n == -ENODATA || n == -ETIMEDOUT || n == -EAGAIN ? 0 : n;
	r = begin(id, spool);
	if (r == 0)
		r = take(*spool, data, (size_t)n, from, attempt);
	return r < 0 ? r : 1;
}

static int print_file(struct spool *spool, struct stream *stream)
{
	char data[CHUNK_BYTES];
	size_t bytes;

	if (fflush(spool->file) != 0 || fseek(spool->file, 0, SEEK_SET) != 0)
		return -errno;
	while ((bytes = fread(data, 1, sizeof(data), spool->file)) > 0) {
		const int r = stream_put(stream, data, bytes);

		if (r < 0)
			return r;
	}
	return ferror(spool->file) ? -EIO : 0;
}

int spool_print(struct cli *cli, uint64_t id, struct spool *spool, struct stream *ret_stream)
{
	int r = 0;

	*ret_stream = spool ? spool->stream : (struct stream){ .id = id };
	ret_stream->whole = true;
	if (spool)
		r = stream_put(ret_stream, spool->data, spool->bytes);
	if (r == 0 && spool && spool->file)
		r = print_file(spool, ret_stream);
	if (r == -EPIPE)
		cli->is_unread = true;
	return r < 0 ? r : stream_copy(cli, ret_stream);
}

void spool_free(struct spool *spool)
{
	if (spool)
		empty(spool);
	free(spool);
}
