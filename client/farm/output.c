/* SPDX-License-Identifier: MIT */
/* From the pipe into the ring. */
#include "client/farm/output.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BURST (64u * TQI_OUTPUT_CHUNK) /* read between two looks at the child */
#define HELD_LOOK_NS                                                                               \
	50000000ull	  /* 50 ms: a reader that reads wakes us; is it there, and the child? */
#define STOPPED_LOOKS 100 /* 5 s of them: a Ctrl-Z is no reason to lose anything at once */

void tqi_output_begin(struct tqi_output *output, struct tq_worker *worker,
		      const struct tqi_attempt *attempt, uint64_t tail_bytes, uint64_t reader)
{
	struct tqi_worker *record = tqi_worker_record(worker);
	const uint64_t whole = record->output_bytes ? record->output_bytes - TQI_OUTPUT_CHUNK : 0;

	output->ops = worker->tq->seg.ops;
	output->record = record;
	output->room = record->output_bytes;
	output->ring = worker->tq->seg.base + ((uint64_t)record->output << TQI_UNIT_SHIFT);
	output->attempt = attempt;
	output->keep = tail_bytes < whole ? tail_bytes : whole;
	/* A reader that sees the new serial sees a head that is its. */
	tqi_store_release32(&record->output_serial, 0);
	tqi_store_release64(&record->output_head, 0);
	for (int i = 0; i < TQI_READERS; i++) {
		tqi_store_release64(&record->readers[i].name, 0);
		tqi_store_release32(&record->readers[i].read, 0);
	}
	tqi_store_release64(&record->readers[0].name, output->keep ? reader : 0);
	tqi_store_release32(&record->output_serial, attempt->serial);
}

/* Bytes that a reader has not read; 0 also for one that is ahead: it is of another attempt. */
static uint64_t unread(const struct tqi_output *output, int i)
{
	const struct tqi_reader *reader = &output->record->readers[i];
	const uint32_t bytes = (uint32_t)output->head - tqi_load_acquire32(&reader->read);

	return tqi_load_acquire64(&reader->name) && bytes <= INT32_MAX ? bytes : 0;
}

static bool is_ending(const struct tqi_output *output)
{
	return *(const volatile uint8_t *)&output->attempt->phase != TQI_PHASE_NONE;
}

/* OU-3: how many bytes more may go into the ring. */
static uint64_t room_left(const struct tqi_output *output)
{
	uint64_t left = UINT64_MAX;

	if (is_ending(output))
		return left;
	for (int i = 0; i < TQI_READERS; i++) {
		const uint64_t bytes = unread(output, i);

		if (bytes && bytes >= output->keep)
			return 0;
		if (bytes && output->keep - bytes < left)
			left = output->keep - bytes;
		else if (tqi_load_acquire64(&output->record->readers[i].name) &&
			 output->keep < left)
			left = output->keep;
	}
	return left;
}

static bool is_lost(uint64_t name, uint32_t *stopped)
{
	const uint32_t pid = (uint32_t)(name >> 32);
	uint64_t start;
	char state;

	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return true;
	if (tqi_pid_start(pid, &start, &state) < 0) /* hidden from us */
		return false;
	*stopped = state == 'T' || state == 't' ? *stopped + 1 : 0;
	return (uint32_t)start != (uint32_t)name || state == 'Z' || state == 'X' ||
	       *stopped > STOPPED_LOOKS;
}

static void drop_lost(struct tqi_output *output)
{
	for (int i = 0; i < TQI_READERS; i++) {
		const uint64_t name = tqi_load_acquire64(&output->record->readers[i].name);

		if (name && is_lost(name, &output->stopped[i]))
			tqi_cas_acq_rel64(&output->record->readers[i].name, name, 0);
	}
}

/* A while at most, until one has read since `words` were taken. */
static void await_readers(struct tqi_output *output, const struct tqi_futex words[TQI_READERS])
{
	const uint64_t until = output->ops->now(output->ops->ctx) + HELD_LOOK_NS;

	if (output->ops->futex_wait(output->ops->ctx, words, TQI_READERS, until) == -ETIMEDOUT)
		drop_lost(output);
	else
		memset(output->stopped, 0, sizeof(output->stopped));
}

static void watch_readers(const struct tqi_output *output, struct tqi_futex words[TQI_READERS])
{
	for (int i = 0; i < TQI_READERS; i++) {
		const struct tqi_word32 *read = &output->record->readers[i].read;

		words[i] = (struct tqi_futex){ read, tqi_load_acquire32(read) };
	}
}

/* Whether the ring is full of what is unread; if so, after a while in which it was. */
static bool was_held(struct tqi_output *output)
{
	struct tqi_futex words[TQI_READERS];

	watch_readers(output, words);
	if (room_left(output))
		return false;
	await_readers(output, words);
	return true;
}

/* OU-1. */
static void publish(struct tqi_output *output, uint64_t bytes)
{
	output->head += bytes;
	tqi_store_release64(&output->record->output_head, output->head);
	tqi_add_release32(&output->record->output_word, 1);
	output->ops->futex_wake(output->ops->ctx, &output->record->output_word, UINT32_MAX >> 1);
}

/* Straight into the ring, up to its end.  As read(2). */
static ssize_t read_some(struct tqi_output *output, uint64_t most)
{
	unsigned char dropped[TQI_OUTPUT_CHUNK];
	uint64_t at = output->room ? output->head & (output->room - 1) : 0;
	uint64_t room = output->room ? output->room - at : sizeof(dropped);

	if (room > TQI_OUTPUT_CHUNK)
		room = TQI_OUTPUT_CHUNK;
	return read(output->fd, output->room ? output->ring + at : dropped,
		    room < most ? room : most);
}

uint64_t tqi_output_pump(struct tqi_output *output, uint64_t limit)
{
	uint64_t done = 0;

	while (output->fd >= 0 && done < limit) {
		const uint64_t most = room_left(output);
		ssize_t n = most ? read_some(output, most) : 0;

		if (!most)
			break;
		if (n > 0) {
			publish(output, (uint64_t)n);
			done += (uint64_t)n;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			output->fd = -1;
		} else if (errno == EAGAIN) {
			break;
		}
	}
	return done;
}

bool tqi_output_follow(struct tqi_output *output, int pidfd, const sigset_t *open)
{
	static const struct timespec at_once;

	for (;;) {
		const bool held = output->fd >= 0 && was_held(output);
		struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN },
					{ .fd = held ? -1 : output->fd, .events = POLLIN } };

		if (ppoll(fds, 2, held ? &at_once : NULL, open) < 0)
			return false; /* EINTR: whoever told us to end is heard after the task */
		if (fds[1].revents)
			tqi_output_pump(output, BURST);
		if (fds[0].revents)
			return true;
	}
}

void tqi_output_drain(struct tqi_output *output)
{
	int left = 0;

	if (output->fd < 0 || ioctl(output->fd, FIONREAD, &left) < 0)
		return;
	while (left > 0) {
		const uint64_t done = tqi_output_pump(output, (uint64_t)left);

		left -= done < (uint64_t)left ? (int)done : left;
		if (!done && !was_held(output))
			return;
	}
}

void tqi_output_settle(struct tqi_output *output)
{
	for (;;) {
		struct tqi_futex words[TQI_READERS];
		uint64_t most = 0;

		watch_readers(output, words);
		for (int i = 0; i < TQI_READERS; i++)
			most = unread(output, i) > most ? unread(output, i) : most;
		if (!most || is_ending(output))
			return;
		await_readers(output, words);
	}
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
