/* SPDX-License-Identifier: MIT */
/* Metrics of a segment: reading what they are made of. */
#include "metrics_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "times.h"
#include "worker_text.h"

#define MOMENT_NS 1000000 /* holds of the lock last microseconds */

enum {
	CHUNK = 64 /* rows asked for at a time */
};

const char *const metric_worker_states[METRIC_WORKER_STATES] = { "idle",     "busy",	"waiting",
								 "stopping", "suspect", "dead",
								 "master" };

/* The next rows of a list that grows; NULL no memory. */
static void *more(void **rows, uint32_t count, size_t bytes)
{
	void *grown = reallocarray(*rows, count + CHUNK, bytes);

	if (!grown)
		return NULL;
	*rows = grown;
	return (char *)grown + count * bytes;
}

static int read_queues(struct metrics_data *data, struct tq *tq)
{
	struct tq_queue_info *infos;
	uint64_t cursor = 0;
	int n;

	do {
		infos = more((void **)&data->queues, data->queue_count, sizeof(*infos));
		if (!infos)
			return -ENOMEM;
		infos->size = sizeof(*infos);
		n = tq_queue_list(tq, TQ_QUEUE_QUICK, &cursor, infos, CHUNK);
		data->queue_count += n > 0 ? (uint32_t)n : 0;
	} while (n > 0);
	return n;
}

static void fill_row(struct metric_row *row, struct tq *tq, const struct tq_queue_info *info)
{
	struct tq_times times;

	times_read(tq, info, &times);
	row->info = *info;
	metric_histogram_fill(&row->wait, &times.wait);
	metric_histogram_fill(&row->run, &times.run);
	metric_histogram_fill(&row->life, &times.life);
}

static int add_rows(struct metrics_data *data, struct tq *tq, const struct tq_queue_info *infos,
		    int count)
{
	struct metric_row *rows = more((void **)&data->rows, data->row_count, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (int i = 0; i < count; i++)
		fill_row(&rows[i], tq, &infos[i]);
	data->row_count += (uint32_t)count;
	return count;
}

/* @info: of a kind.  A queue that is newer than the look at queues is left out. */
static void add_unserved(struct metrics_data *data, const struct tq_queue_info *info)
{
	for (uint32_t i = 0; !info->workers && i < data->queue_count; i++)
		if (!strcmp(data->queues[i].name, info->name))
			data->unserved[i] += info->counters.depth[TQ_READY];
}

/* Of kinds, all are gone through once, whatever is wanted of them. */
static int read_kinds(struct metrics_data *data, struct tq *tq)
{
	struct tq_queue_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	data->unserved = calloc(data->queue_count + 1, sizeof(*data->unserved));
	if (!data->unserved)
		return -ENOMEM;
	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_queue_list(tq, TQ_QUEUE_QUICK | TQ_QUEUE_BY_KIND, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			if (infos[i].counters.depth[TQ_READY])
				add_unserved(data, &infos[i]);
		if (n > 0 && data->by_kind)
			n = add_rows(data, tq, infos, n);
	} while (n > 0);
	return n;
}

static int read_rows(struct metrics_data *data, struct tq *tq)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && !data->by_kind && i < data->queue_count; i += CHUNK) {
		const uint32_t left = data->queue_count - i;

		r = add_rows(data, tq, data->queues + i, left < CHUNK ? (int)left : CHUNK);
	}
	return r < 0 ? r : 0;
}

static int read_workers(struct metrics_data *data, struct tq *tq)
{
	struct tq_worker_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_worker_list(tq, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			for (unsigned s = 0; s < METRIC_WORKER_STATES; s++)
				data->workers[s] += !strcmp(metric_worker_states[s],
							    worker_state_name(&infos[i]));
	} while (n > 0);
	return n;
}

static int read_groups(struct metrics_data *data, struct tq *tq)
{
	struct tq_group_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_group_list(tq, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			if (infos[i].state - TQ_GROUP_OPEN < METRIC_GROUP_STATES)
				data->groups[infos[i].state - TQ_GROUP_OPEN]++;
	} while (n > 0);
	return n;
}

static void add_limit(struct metrics_data *data, const struct tq_limit_info *info)
{
	const bool has_slots = info->slots != TQ_OFF;
	struct metric_limit_sum *sum = &data->limits[has_slots && info->rate ? METRIC_LIMITS_BOTH
						     : has_slots	     ? METRIC_LIMITS_SLOTS
						     : info->rate	     ? METRIC_LIMITS_RATE
									     : METRIC_LIMITS_NONE];

	sum->keys++;
	sum->full += (has_slots && info->used >= info->slots) || (info->rate && !info->tokens);
	sum->slots += has_slots ? info->slots : 0;
	sum->used += info->used;
	sum->waiting += info->waiting;
}

static int read_limits(struct metrics_data *data, struct tq *tq)
{
	struct tq_limit_info infos[CHUNK];
	uint64_t cursor = 0;
	int n, count = 0;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_limit_list(tq, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			add_limit(data, &infos[i]);
		count += n;
	} while (n > 0 && count < METRIC_LIMITS_MAX);
	return n < 0 ? n : 0;
}

/*
 * How long the lock is held is told from when it was taken last, so one that has just
 * been taken after a rest seems to be held for long.  Who really has it for long has it
 * still after a moment in which others take it hundreds of times.
 */
static int read_lock(struct metrics_data *data, struct tq *tq)
{
	const struct timespec moment = { 0, MOMENT_NS };
	const uint32_t *tid = &data->lock.tid;
	uint32_t before;
	int r;

	data->lock.size = sizeof(data->lock);
	r = tq_lock_blame(tq, &data->lock);
	if (r < 0 || !*tid || data->lock.held_ns < MOMENT_NS)
		return r;
	before = *tid;
	nanosleep(&moment, NULL);
	data->lock.size = sizeof(data->lock);
	r = tq_lock_blame(tq, &data->lock);
	if (*tid != before)
		data->lock = (struct tq_lock_holder){ 0 };
	return r;
}

static int read_segment(struct metrics_data *data, struct tq *tq)
{
	data->segment.size = sizeof(data->segment);
	return tq_segment_info(tq, &data->segment);
}

int metrics_read(struct metrics_data *data, struct tq *tq, bool by_kind)
{
	int (*const parts[])(struct metrics_data * data, struct tq * tq) = {
		read_segment, read_lock,    read_queues, read_kinds,
		read_rows,    read_workers, read_groups, read_limits,
	};
	int r = 0;

	*data = (struct metrics_data){ .by_kind = by_kind };
	for (unsigned i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		r = parts[i](data, tq);
	return r;
}

void metrics_free(struct metrics_data *data)
{
	free(data->queues);
	free(data->unserved);
	free(data->rows);
}

void metrics_write(FILE *out, struct tq *tq, enum metrics_form form, bool by_kind)
{
	const struct metrics_to to = { out, form };
	struct metrics_data data = { 0 };
	const bool is_up = tq && metrics_read(&data, tq, by_kind) == 0;

	metrics_put_up(&to, is_up);
	if (is_up)
		metrics_put(&to, &data);
	metrics_end(&to);
	metrics_free(&data);
}
