/* SPDX-License-Identifier: MIT */
/* The output of a running task, read while others are printed. */
#ifndef TASKQ_TOOL_SPOOL_H
#define TASKQ_TOOL_SPOOL_H

#include <stdio.h>

#include "tools/taskq/run/stream.h"

struct spool {
	struct stream stream; /* how far it has been read */
	char *data;	      /* up to a limit in memory, behind it in a file without a name */
	size_t bytes;
	FILE *file; /* NULL none yet */
};

/* Reads what the task has written and nobody has read yet, and holds it back no longer for
 * that; *@spool is made at the first byte.  1 there was some; 0; an error. */
int spool_read(struct cli *cli, uint64_t id, struct spool **spool);

/* Copies it to standard output, and then what the task has written since; it has ended.
 * *@ret_stream says how far.  As stream_copy(). */
int spool_print(struct cli *cli, uint64_t id, struct spool *spool, struct stream *ret_stream);

void spool_free(struct spool *spool);

#endif
