/* SPDX-License-Identifier: MIT */
/*
 * One look at a segment, and the handle that looks.  The handle is read-only: a look
 * takes no lock, and works whatever the processes of the segment are doing.
 */
#ifndef TASKQ_MODEL_SAMPLE_H
#define TASKQ_MODEL_SAMPLE_H

#include <stdbool.h>

#include <taskq/taskq.h>

#include "format.h"
#include "latency.h"

enum {
	WORKERS_MAX = 4096, /* as many as a segment has */
	QUEUES_MAX = 1024,
	LIMITS_MAX = 4096, /* keys that are read; a segment may have more */
};

struct worker_row {
	struct tq_worker_info info;
	char process;  /* letter of its process's state, 'T' stopped; 0 unknown */
	double starts; /* attempts begun a second, since the look before */
};

struct queue_row {
	struct tq_queue_info info;
	double submitted, started, done, failed; /* a second, since the look before */
	struct latency latency;
};

/* Ready tasks of kinds that no worker of their queue runs. */
struct unserved {
	uint32_t kinds, ready;
	char queue[TQ_NAME_MAX + 1]; /* of the first one */
	char kind[TQ_NAME_MAX + 1];
};

struct sample {
	int error;    /* of this look: 0, or why all below is empty */
	bool removed; /* the segment has no name any more */
	struct clocks clocks;
	struct tq_segment_info segment;
	struct tq_lock_holder lock;
	struct unserved unserved;
	struct queue_row *queues;
	struct worker_row *workers;
	struct tq_limit_info *limits;
	struct tq_group_info *groups;
	uint32_t queue_count, worker_count, limit_count, group_count;
	bool limits_cut; /* there are more than LIMITS_MAX */
};

/* A worker's process, as it was seen last. */
struct seen_process {
	uint64_t registered_ns;
	uint32_t number; /* of the worker */
	char state;
};

struct source {
	const char *name;
	bool foreign;
	struct tq *tq; /* NULL not attached */
	uint64_t transactions;	       /* at the look before; 0 there was none */
	uint64_t processes_ns;	       /* when /proc was looked at */
	struct seen_process *processes; /* what it said, in the order of the workers' numbers */
	uint32_t process_count;
};

void source_close(struct source *source);

/* What there may be very many of, and is read only when it is wanted. */
enum sample_part {
	SAMPLE_LIMITS = 1 << 0,
	SAMPLE_GROUPS = 1 << 1,
	SAMPLE_HOLDER = 1 << 2 /* all about the lock's holder, although work goes on */
};

/*
 * Looks: attaches when that has not been done, or when another segment has taken the
 * name of one that was removed.  Rates and latencies are left zero.
 */
void sample_take(struct source *source, uint32_t parts, struct sample *sample);
void sample_free(struct sample *sample);

#endif
