/* SPDX-License-Identifier: MIT */
/*
 * A task's output, copied to standard output.  With ->follow the command is held back until
 * what it has written has been read; what is lost all the same is counted, and said once.
 */
#ifndef TASKQ_TOOL_STREAM_H
#define TASKQ_TOOL_STREAM_H

#include "cli.h"

/* How far the copying has come. */
struct stream {
	uint64_t id;
	uint64_t offset;   /* of the next byte, in the output of ->attempt */
	uint32_t attempt;  /* 0: nothing has been seen */
	uint64_t lost;	   /* bytes that nobody kept, after the first one that was seen */
	uint64_t missed;   /* the same, before it */
	bool inside_line;  /* the last byte that was printed is no line feed */
	bool whole;	   /* ->missed is a loss too, and said with it */
	bool follow;	   /* until the task is final, across attempts */
	bool refusal_told; /* or somebody else tells; see refusal.h */
};

/* To standard output at once.  0, -EPIPE or -EIO. */
int stream_put(struct stream *stream, const char *data, size_t bytes);

/* Copies what there is, or with ->follow all there will be.  0; -EPIPE nobody reads
 * standard output any more; else an error of tq_output_read(). */
int stream_copy(struct cli *cli, struct stream *stream);

/* Copies what an attempt that has ended has written, as far as it is kept.  0; -ESTALE it is
 * not; -EPIPE or -EIO; else an error of tq_output_read_attempt(). */
int stream_copy_attempt(struct cli *cli, struct stream *stream, uint32_t attempt);

/* After the end of a task whose output is to be whole: counts what was written behind all
 * that was read, says what was lost and missed, and whether anything was. */
bool stream_is_cut(struct stream *stream, const struct tq_task_info *info);

/* Says what was not kept; once, for all of it. */
void stream_say_lost(const struct stream *stream);

#endif
