/* SPDX-License-Identifier: MIT */
/* Streams are believed, each queue and kind once; histograms where they can be: nothing else knows. */
#include "scheduler/record/stream.h"

#include <errno.h>
#include <string.h>

#include "scheduler/rebuild/rebuild_state.h"

/* In the chain as far as it has been made. */
static bool is_there(struct tqi_check *c, const struct tqi_queue *queue, uint32_t kind)
{
	uint32_t s = queue->streams;

	while (s && tqi_stream_at(c->tx, s)->kind != kind)
		s = tqi_stream_at(c->tx, s)->next;
	return s;
}

/* Histograms of this queue and kind that nobody has. */
static bool is_of(struct tqi_check *c, uint32_t t, const struct tqi_stream *stream)
{
	const struct tqi_times *times = tqi_check_record(c, TQI_TIMES, t);

	return times && times->queue == stream->queue && times->kind == stream->kind &&
	       !c->marks[TQI_TIMES][t];
}

/* The stream's own, else any that are of its queue and kind, without what cannot be. */
static void mend_times(struct tqi_check *c, struct tqi_stream *stream)
{
	uint32_t t = 1;

	while (t < c->count[TQI_TIMES] && !is_of(c, t, stream))
		t++;
	if (!is_of(c, stream->times, stream))
		stream->times = t < c->count[TQI_TIMES] ? t : 0;
	if (!stream->times)
		return;
	struct tqi_times *times = tqi_times_at(c->tx, stream->times);

	c->marks[TQI_TIMES][stream->times] |= TQI_SEEN_LINKED;
	for (uint32_t i = 0; i < TQI_TIMED_COUNT; i++)
		if (tqi_check_times_fault(stream, times, i))
			memset(&times->of[i], 0, sizeof(times->of[i]));
}

/* One that makes no sense, or is of a queue and kind that have one, is free. */
static void mend_stream(struct tqi_check *c, uint32_t s)
{
	struct tqi_stream *stream = tqi_check_record(c, TQI_STREAMS, s);
	struct tqi_queue *queue = stream ? tqi_check_record(c, TQI_QUEUES, stream->queue) : NULL;

	if (!queue || !tqi_check_record(c, TQI_KINDS, stream->kind) ||
	    is_there(c, queue, stream->kind))
		return;
	stream->next = queue->streams;
	queue->streams = s;
	c->marks[TQI_STREAMS][s] |= TQI_SEEN_LINKED;
	tqi_rebuild_of(c, stream->queue, stream->kind);
	mend_times(c, stream);
}

void tqi_rebuild_streams_begin(struct tqi_check *c)
{
	for (uint32_t s = 1; s < c->count[TQI_STREAMS]; s++)
		mend_stream(c, s);
}

/* Into the chain and the index; with histograms, unless there is no memory for them. */
static int link_stream(struct tqi_check *c, uint32_t s)
{
	struct tqi_stream *stream = tqi_stream_at(c->tx, s);
	bool lacks;

	if (!stream->times)
		stream->times = tqi_times_make(c->tx, stream->queue, stream->kind, &lacks);
	return tqi_stream_link(c->tx, s);
}

/* Those of tasks whose stream was lost begin at 0. */
static int make_streams(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		const struct tqi_task *t = tqi_task_at(c->tx, i);

		if (t->state != TQ_FREE && !tqi_stream_make(c->tx, t->queue, t->kind))
			return -ENOMEM;
	}
	return 0;
}

int tqi_rebuild_streams(struct tqi_check *c)
{
	int r = 0;

	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++)
		tqi_queue_at(c->tx, q)->streams = 0;
	for (uint32_t s = 1; s < c->count[TQI_STREAMS] && r == 0; s++)
		if (c->marks[TQI_STREAMS][s] & TQI_SEEN_LINKED)
			r = link_stream(c, s);
	return r < 0 ? r : make_streams(c);
}

void tqi_rebuild_depths(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		const struct tqi_task *t = tqi_task_at(c->tx, i);

		if (t->state == TQ_FREE)
			continue;
		struct tqi_stream *stream = tqi_stream_of(c->tx, t);

		stream->depth[tqi_check_gauge(c, t)]++;
		if (!tqi_state_is_final(t->state))
			tqi_stream_begin(c->tx, stream);
	}
}
