/* SPDX-License-Identifier: MIT */
/* A task's output, copied to standard output. */
#ifndef TASKQ_TOOL_STREAM_H
#define TASKQ_TOOL_STREAM_H

#include "cli.h"

/* How far the copying has come. */
struct stream {
	uint64_t id;
	uint64_t offset;  /* of the next byte, in the output of ->attempt */
	uint32_t attempt; /* 0: nothing has been seen */
	bool follow;	  /* until the task is final, across attempts */
};

/* Copies what there is, or with ->follow all there will be.  0; -EPIPE nobody reads
 * standard output any more; else an error of tq_output(). */
int stream_copy(struct cli *cli, struct stream *stream);

#endif
