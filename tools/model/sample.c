/* SPDX-License-Identifier: MIT */
/* One look at a segment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "sample.h"

#define PROCESSES_NS 250000000ull /* between two looks at /proc */

enum {
	CHUNK = 64,	    /* rows asked for at a time */
	PROCESSES_MAX = 256 /* workers whose processes are looked at */
};

void source_close(struct source *source)
{
	source->tq = tq_close(source->tq);
	free(source->processes);
	source->processes = NULL;
	source->transactions = source->processes_ns = source->process_count = 0;
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

/* Who has the lock is of interest when nothing has been committed since the look before:
 * to ask for its state takes longer than it has the lock. */
static int read_lock(struct source *source, uint32_t parts, struct sample *sample)
{
	const uint64_t before = source->transactions;

	source->transactions = sample->segment.transactions;
	sample->lock = (struct tq_lock_holder){ .size = sizeof(sample->lock) };
	if (!(parts & SAMPLE_HOLDER) && before && before != source->transactions) {
		sample->lock.tid = sample->segment.lock_holder;
		return 0;
	}
	return tq_lock_blame(source->tq, &sample->lock);
}

static int read_segment(struct source *source, uint32_t parts, struct sample *sample)
{
	int r;

	sample->segment = (struct tq_segment_info){ .size = sizeof(sample->segment) };
	r = tq_segment_info(source->tq, &sample->segment);
	return r < 0 ? r : read_lock(source, parts, sample);
}

/*
 * A segment that was removed or cut off stays what we see until another one has its
 * name: what it was like at the end may be just what is wanted.
 */
static int attach(struct source *source, uint32_t parts, struct sample *sample)
{
	struct tq *other;
	int r = source->tq ? read_segment(source, parts, sample) : -ENOENT;

	if (r == 0 && sample->segment.path[0])
		return 0;
	const int opened = open_again(source, &other);

	if (opened < 0 && !source->tq)
		return opened;
	if (opened == 0) {
		source_close(source);
		source->tq = other;
		r = read_segment(source, parts, sample);
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

static void add_unserved(struct unserved *unserved, const struct tq_queue_info *kind)
{
	if (!unserved->kinds++) {
		memcpy(unserved->queue, kind->name, sizeof(unserved->queue));
		memcpy(unserved->kind, kind->kind, sizeof(unserved->kind));
	}
	unserved->ready += kind->counters.depth[TQ_READY];
}

/* Whether a queue has workers, and tasks for them. */
static bool is_worked(const struct sample *sample, const char *name)
{
	for (uint32_t i = 0; i < sample->queue_count; i++) {
		const struct tq_queue_info *info = &sample->queues[i].info;

		if (info->workers && info->counters.depth[TQ_READY] &&
		    !(info->flags & TQ_QUEUE_PAUSED) && (!name || !strcmp(info->name, name)))
			return true;
	}
	return false;
}

static int read_kinds(struct tq *tq, struct sample *sample)
{
	struct tq_queue_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	if (!is_worked(sample, NULL))
		return 0;
	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_queue_list(tq, TQ_QUEUE_QUICK | TQ_QUEUE_BY_KIND, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			if (!infos[i].workers && infos[i].counters.depth[TQ_READY] &&
			    is_worked(sample, infos[i].name))
				add_unserved(&sample->unserved, &infos[i]);
	} while (n == CHUNK);
	return n < 0 ? n : 0;
}

static int read_workers(struct tq *tq, struct sample *sample)
{
	struct tq_worker_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	do {
		if (!grow((void **)&sample->workers, sample->worker_count,
			  sizeof(*sample->workers)))
			return -ENOMEM;
		infos[0].size = sizeof(infos[0]);
		n = tq_worker_list(tq, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			sample->workers[sample->worker_count++] =
				(struct worker_row){ .info = infos[i] };
	} while (n == CHUNK && sample->worker_count < WORKERS_MAX);
	return n < 0 ? n : 0;
}

/* Its state at the last look at /proc; 0 it was not there. */
static char state_before(const struct source *source, uint32_t *at,
			 const struct tq_worker_info *worker)
{
	const struct seen_process *seen;

	while (*at < source->process_count && source->processes[*at].number < worker->number)
		(*at)++;
	if (*at == source->process_count)
		return 0;
	seen = &source->processes[*at];
	return seen->number == worker->number && seen->registered_ns == worker->registered_ns
		       ? seen->state
		       : 0;
}

static void remember_processes(struct source *source, const struct sample *sample, uint32_t count)
{
	struct seen_process *seen = reallocarray(source->processes, count + 1, sizeof(*seen));

	source->process_count = seen ? count : 0;
	if (!seen)
		return;
	source->processes = seen;
	for (uint32_t i = 0; i < count; i++) {
		const struct worker_row *row = &sample->workers[i];

		seen[i] = (struct seen_process){ row->info.registered_ns, row->info.number,
						 row->process };
	}
}

/* A look at one process takes longer than all that is read of a small segment. */
static void look_at_processes(struct source *source, struct sample *sample)
{
	const uint64_t now_ns = sample->clocks.now_ns;
	const bool is_due = now_ns >= source->processes_ns + PROCESSES_NS;
	const uint32_t count = sample->worker_count < PROCESSES_MAX ? sample->worker_count
								    : PROCESSES_MAX;
	struct process process;
	uint32_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct worker_row *row = &sample->workers[i];

		row->process = is_due ? 0 : state_before(source, &at, &row->info);
		if (!row->process && process_read(row->info.pid, &process))
			row->process = process.state;
	}
	remember_processes(source, sample, count);
	if (is_due)
		source->processes_ns = now_ns;
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
	r = attach(source, parts, sample);
	if (r == 0)
		r = read_queues(source->tq, sample);
	if (r == 0)
		r = read_kinds(source->tq, sample);
	if (r == 0)
		r = read_workers(source->tq, sample);
	if (r == 0)
		look_at_processes(source, sample);
	if (r == 0 && (parts & SAMPLE_LIMITS))
		r = read_limits(source->tq, sample);
	if (r == 0 && (parts & SAMPLE_GROUPS))
		r = read_groups(source->tq, sample);
	sample->error = r;
}
