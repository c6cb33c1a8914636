/* SPDX-License-Identifier: MIT */
/*
 * The output of a running command, in the ring of its worker's record.
 *
 * OU-1  Bytes are stored, then `output_head` with release: what is before the head
 *     is there.  Then `output_word` grows and its sleepers are woken.
 * OU-2  At most TQI_OUTPUT_CHUNK bytes beyond the head are being written at any
 *     time: in a full ring these are its oldest bytes.
 * OU-3  While somebody follows the output (struct tqi_reader), so much is left in the pipe
 *     that the ring keeps all that a reader has not read: the command is held back, as by
 *     any pipe.  One that is gone, or was found stopped for some seconds, is followed no
 *     longer; nor is anybody once the attempt has been asked to end.
 */
#ifndef TQI_CLIENT_FARM_OUTPUT_H
#define TQI_CLIENT_FARM_OUTPUT_H

#include <signal.h>
#include <stdbool.h>

#include "client/worker/worker_api.h"

struct tqi_output {
	const struct tqi_ops *ops;
	struct tqi_worker *record;
	unsigned char *ring;
	uint32_t room; /* of the ring, a power of two; 0 none: the output is dropped */
	const struct tqi_attempt *attempt;
	uint64_t head;		       /* bytes ever written */
	uint64_t keep;		       /* bytes that no reader has read are so many at most */
	uint32_t stopped[TQI_READERS]; /* times in a row that it was found stopped */
	int fd; /* what is still open of the pipe; -1 nothing more will come */
};

/* Empty the ring for an attempt, of which the last `tail_bytes` are kept.  `reader` follows
 * it from the beginning; 0 nobody. */
void tqi_output_begin(struct tqi_output *output, struct tq_worker *worker,
		      const struct tqi_attempt *attempt, uint64_t tail_bytes, uint64_t reader);
/* Move what is in the pipe now, up to about `limit` bytes: how many. */
uint64_t tqi_output_pump(struct tqi_output *output, uint64_t limit);
/* Pump until `pidfd` says that the command has ended; false: a signal that `open` lets in came. */
bool tqi_output_follow(struct tqi_output *output, int pidfd, const sigset_t *open);
/* What is in the pipe, without waiting for strangers that keep it open. */
void tqi_output_drain(struct tqi_output *output);
/* Until whoever follows it has read all, as the next attempt empties the ring. */
void tqi_output_settle(struct tqi_output *output);
/* Copy the last `bytes` to `to`. */
void tqi_output_tail(const struct tqi_output *output, void *to, uint64_t bytes);

#endif
