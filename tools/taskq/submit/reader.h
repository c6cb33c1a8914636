/* SPDX-License-Identifier: MIT */
/* Lines from a descriptor; unlike stdio's, a signal in between loses nothing. */
#ifndef TASKQ_TOOL_READER_H
#define TASKQ_TOOL_READER_H

#include <stdbool.h>
#include <stddef.h>

struct reader {
	int fd;
	char delimiter; /* '\n' or '\0' */
	bool at_end;
	char *data;
	size_t begin; /* first byte not handed out */
	size_t end;
	size_t room;
	size_t limit; /* longest line */
	size_t passed; /* of a line that is too long, so far */
	size_t too_long; /* bytes of the one for which reader_next() has returned -E2BIG */
};

void reader_init(struct reader *reader, int fd, char delimiter, size_t limit);
void reader_free(struct reader *reader);

/* The next line without its delimiter and NUL-terminated, valid until the next call.
 * 1; 0 at the end; -errno, -E2BIG for a line over the limit, which is passed over. */
int reader_next(struct reader *reader, char **ret_line, size_t *ret_bytes);

#endif
