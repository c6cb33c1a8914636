/* SPDX-License-Identifier: MIT */
/* Lines from a descriptor; unlike stdio's, a signal in between loses nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"
#include "tools/taskq/submit/reader.h"

enum {
	ROOM_FIRST = 64 << 10
};

void reader_init(struct reader *reader, int fd, char delimiter, size_t limit)
{
	*reader = (struct reader){ .fd = fd, .delimiter = delimiter, .limit = limit };
}

void reader_free(struct reader *reader)
{
	free(reader->data);
	reader->data = NULL;
}

/* Makes room behind what is there; one byte more than used, for the final NUL. */
static int make_room(struct reader *reader)
{
	const size_t used = reader->end - reader->begin;
	char *data;

	if (reader->begin > 0) {
		memmove(reader->data, reader->data + reader->begin, used);
		reader->begin = 0;
		reader->end = used;
	}
	if (reader->end + 1 < reader->room)
		return 0;
	reader->room = reader->room ? 2 * reader->room : ROOM_FIRST;
	data = realloc(reader->data, reader->room);
	if (!data)
		return -ENOMEM;
	reader->data = data;
	return 0;
}

static int fill(struct reader *reader)
{
	const int r = make_room(reader);
	ssize_t n;

	if (r < 0)
		return r;
	signals_release(); /* the next line may take for ever */
	do
		n = read(reader->fd, reader->data + reader->end, reader->room - reader->end - 1);
	while (n < 0 && errno == EINTR);
	const int error = errno;

	signals_hold();
	if (n < 0)
		return -error;
	reader->end += (size_t)n;
	reader->at_end = n == 0;
	return 0;
}

static int hand_out(struct reader *reader, size_t bytes, size_t skip, char **ret_line,
		    size_t *ret_bytes)
{
	char *line = reader->data + reader->begin;

	reader->begin += bytes + skip;
	if (reader->passed || bytes > reader->limit) {
		reader->too_long = reader->passed + bytes;
		reader->passed = 0;
		return -E2BIG;
	}
	line[bytes] = '\0';
	*ret_line = line;
	*ret_bytes = bytes;
	return 1;
}

int reader_next(struct reader *reader, char **ret_line, size_t *ret_bytes)
{
	size_t looked = 0;

	for (;;) {
		const size_t used = reader->end - reader->begin;
		const char *from = used ? reader->data + reader->begin : NULL;
		const char *stop = used ? memchr(from + looked, reader->delimiter, used - looked)
					: NULL;

		if (stop)
			return hand_out(reader, (size_t)(stop - from), 1, ret_line, ret_bytes);
		if (reader->at_end)
			return used || reader->passed
				       ? hand_out(reader, used, 0, ret_line, ret_bytes)
				       : 0;
		looked = used;
		if (used > reader->limit) {
			reader->passed += used;
			reader->begin = reader->end;
			looked = 0;
		}

		const int r = fill(reader);

		if (r < 0)
			return r;
	}
}
