/* SPDX-License-Identifier: MIT */
/* One look at a segment. */
#include <errno.h>
#include <stdlib.h>

#include "process.h"
#include "sample.h"

enum {
	CHUNK = 64,	    /* rows asked for at a time */
	PROCESSES_MAX = 256 /* workers whose processes are looked at */
};

void source_close(struct source *source)
{
	source->tq = tq_close(source->tq);
}

void sample_free(struct sample *sample)
{
	free(sample->queues);
	free(sample->workers);
	free(sample->limits);
	free(sample->groups);
	*sample = (struct sample){ 0 };
}

static int open_again(const struct source *source, struct tq **ret_tq)
{
	const struct tq_open_opts opts = {
		.size = sizeof(opts),
		.flags = TQ_OPEN_READONLY | (source->foreign ? TQ_OPEN_FOREIGN : 0),
	};

	return tq_open(source->name, &opts, ret_tq);
}

static int read_segment(struct tq *tq, struct sample *sample)
{
	int r;

	sample->segment = (struct tq_segment_info){ .size = sizeof(sample->segment) };
	sample->lock = (struct tq_lock_holder){ .size = sizeof(sample->lock) };
	r = tq_segment_info(tq, &sample->segment);
	return r < 0 ? r : tq_lock_blame(tq, &sample->lock);
}

/*
 * A segment that was removed or cut off stays what we see until another one has its
 * name: what it was like at the end may be just what is wanted.
 */
static int attach(struct source *source, struct sample *sample)
{
	struct tq *other;
	int r = source->tq ? read_segment(source->tq, sample) : -ENOENT;

	if (r == 0 && sample->segment.path[0])
		return 0;
	const int opened = open_again(source, &other);

	if (opened < 0 && !source->tq)
		return opened;
	if (opened == 0) {
		source_close(source);
		source->tq = other;
		r = read_segment(other, sample);
	}
	sample->removed = r == 0 && !sample->segment.path[0];
	return r;
}

static bool grow(void **rows, uint32_t count, size_t bytes)
{
	void *more = reallocarray(*rows, count + CHUNK, bytes);

	if (more)
		*rows = more;
	return more != NULL;
}

static int read_queues(struct tq *tq, struct sample *sample)
{
	struct tq_queue_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	do {
		if (!grow((void **)&sample->queues, sample->queue_count, sizeof(*sample->queues)))
			return -ENOMEM;
		infos[0].size = sizeof(infos[0]);
		n = tq_queue_list(tq, TQ_QUEUE_QUICK, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			sample->queues[sample->queue_count++] =
				(struct queue_row){ .info = infos[i] };
	} while (n == CHUNK && sample->queue_count < QUEUES_MAX);
	return n < 0 ? n : 0;
}

static int read_workers(struct tq *tq, struct sample *sample)
{
	struct tq_worker_info infos[CHUNK];
	struct process process;
	uint64_t cursor = 0;
	int n;

	do {
		if (!grow((void **)&sample->workers, sample->worker_count,
			  sizeof(*sample->workers)))
			return -ENOMEM;
		infos[0].size = sizeof(infos[0]);
		n = tq_worker_list(tq, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++) {
			struct worker_row *row = &sample->workers[sample->worker_count++];

			*row = (struct worker_row){ .info = infos[i] };
			if (sample->worker_count <= PROCESSES_MAX &&
			    process_read(infos[i].pid, &process))
				row->process = process.state;
		}
	} while (n == CHUNK && sample->worker_count < WORKERS_MAX);
	return n < 0 ? n : 0;
}

static int read_limits(struct tq *tq, struct sample *sample)
{
	uint64_t cursor = 0;
	int n;

	do {
		if (!grow((void **)&sample->limits, sample->limit_count, sizeof(*sample->limits)))
			return -ENOMEM;
		sample->limits[sample->limit_count].size = sizeof(*sample->limits);
		n = tq_limit_list(tq, &cursor, sample->limits + sample->limit_count, CHUNK);
		sample->limit_count += n > 0 ? (uint32_t)n : 0;
	} while (n == CHUNK && sample->limit_count < LIMITS_MAX);
	sample->limits_cut = n == CHUNK;
	return n < 0 ? n : 0;
}

static int read_groups(struct tq *tq, struct sample *sample)
{
	uint64_t cursor = 0;
	int n;

	do {
		if (!grow((void **)&sample->groups, sample->group_count, sizeof(*sample->groups)))
			return -ENOMEM;
		sample->groups[sample->group_count].size = sizeof(*sample->groups);
		n = tq_group_list(tq, &cursor, sample->groups + sample->group_count, CHUNK);
		sample->group_count += n > 0 ? (uint32_t)n : 0;
	} while (n == CHUNK);
	return n < 0 ? n : 0;
}

void sample_take(struct source *source, uint32_t parts, struct sample *sample)
{
	int r;

	sample_free(sample);
	sample->clocks = clocks_read();
	r = attach(source, sample);
	if (r == 0)
		r = read_queues(source->tq, sample);
	if (r == 0)
		r = read_workers(source->tq, sample);
	if (r == 0 && (parts & SAMPLE_LIMITS))
		r = read_limits(source->tq, sample);
	if (r == 0 && (parts & SAMPLE_GROUPS))
		r = read_groups(source->tq, sample);
	sample->error = r;
}
