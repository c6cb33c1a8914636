/* SPDX-License-Identifier: MIT */
/* From the pipe into the ring. */
#include "client/farm/output.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BURST (64u * TQI_OUTPUT_CHUNK) /* read between two looks at the child */

void tqi_output_begin(struct tqi_output *output, struct tq_worker *worker, uint32_t serial, int fd)
{
	struct tqi_worker *record = tqi_worker_record(worker);

	*output = (struct tqi_output){
		.ops = worker->tq->seg.ops,
		.record = record,
		.room = record->output_bytes,
		.ring = worker->tq->seg.base + ((uint64_t)record->output << TQI_UNIT_SHIFT),
		.fd = fd,
	};
	/* A reader that sees the new serial sees a head that is its. */
	tqi_store_release32(&record->output_serial, 0);
	tqi_store_release64(&record->output_head, 0);
	tqi_store_release32(&record->output_serial, serial);
}

/* O1. */
static void publish(struct tqi_output *output, uint64_t bytes)
{
	output->head += bytes;
	tqi_store_release64(&output->record->output_head, output->head);
	tqi_add_release32(&output->record->output_word, 1);
	output->ops->futex_wake(output->ops->ctx, &output->record->output_word, UINT32_MAX >> 1);
}

/* Straight into the ring, up to its end.  As read(2). */
static ssize_t read_some(struct tqi_output *output)
{
	unsigned char dropped[TQI_OUTPUT_CHUNK];
	uint64_t at = output->room ? output->head & (output->room - 1) : 0;
	uint64_t room = output->room ? output->room - at : sizeof(dropped);

	return read(output->fd, output->room ? output->ring + at : dropped,
		    room < TQI_OUTPUT_CHUNK ? room : TQI_OUTPUT_CHUNK);
}

void tqi_output_pump(struct tqi_output *output, uint64_t limit)
{
	for (uint64_t done = 0; output->fd >= 0 && done < limit;) {
		ssize_t n = read_some(output);

		if (n > 0) {
			publish(output, (uint64_t)n);
			done += (uint64_t)n;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			output->fd = -1;
		} else if (errno == EAGAIN) {
			return;
		}
	}
}

void tqi_output_follow(struct tqi_output *output, int pidfd)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN },
					{ .fd = output->fd, .events = POLLIN } };

		if (poll(fds, 2, -1) < 0)
			continue; /* EINTR: whoever told us to end is heard after the task */
		if (fds[1].revents)
			tqi_output_pump(output, BURST);
		if (fds[0].revents)
			return;
	}
}

void tqi_output_drain(struct tqi_output *output)
{
	int left = 0;

	if (output->fd >= 0 && ioctl(output->fd, FIONREAD, &left) == 0 && left > 0)
		tqi_output_pump(output, (uint64_t)left);
}

void tqi_output_tail(const struct tqi_output *output, void *to, uint64_t bytes)
{
	if (!bytes || !output->room)
		return;
	uint64_t from = (output->head - bytes) & (output->room - 1), first = output->room - from;

	if (first > bytes)
		first = bytes;
	memcpy(to, output->ring + from, first);
	memcpy((unsigned char *)to + first, output->ring, bytes - first);
}
